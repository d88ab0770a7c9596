--- @include lib/batch

-- Readers never raise: a value that is not of its form counts as absent, so that nothing can fail
-- between two writes.

-- Six bytes of the ms when it was accepted and two of most attempts, the highest first; the first is
-- at most 3 until 2109. Then '<incarnation>[ <ttrMs> <trace> <submitter>{ <tag>}]\n<content>', where '-' is no
-- trace or submitter. The brackets are left out if they would hold nothing.
-- Incarnation, where the content begins, time to run, and tags, each behind a space; nothing if
-- the text is not of that form.
local function parse_record(text)
  local incarnation, content = string.match(text, '^[%z\1-\3].......([%w._:-]+)\n()')
  if incarnation then
    return incarnation, content, 0, ''
  end
  local rest
  incarnation, rest, content =
    string.match(text, '^[%z\1-\3].......([%w._:-]+)( [^\n]*)\n()')
  if not incarnation then
    return nil
  end
  local ttr, tags = string.match(rest, '^ (%d+) %S+ %S+(.*)$')
  if not ttr or #ttr > 18 or tags ~= '' and string.byte(tags) ~= 32 then
    return nil
  end
  return incarnation, content, tonumber(ttr), tags
end

local function read_record(text)
  local incarnation, content_at, ttr, tags = parse_record(text or '')
  return incarnation and {
    text = text,
    incarnation = incarnation,
    max_attempts = struct.unpack('>I2', text, 7),
    accepted = string.sub(text, 1, 6),
    ttr = ttr,
    tags = tags,
    content_at = content_at,
  } or nil
end

local function content_of(record)
  return string.sub(record.text, record.content_at)
end

-- The members '<tag> <id>' of the index: no tag holds a space, and a space sorts before them all.
local function remove_tags(id, tags, kept)
  local remaining = {}
  for tag in string.gmatch(kept or '', '%S+') do
    remaining[tag] = true
  end
  for tag in string.gmatch(tags, '%S+') do
    if not remaining[tag] then
      remove(TAGS, tag .. ' ' .. id)
    end
  end
end

local function add_tags(id, tags)
  for tag in string.gmatch(tags, '%S+') do
    add(TAGS, '0', tag .. ' ' .. id)
  end
end

-- Makes a job wait, with a new record; the due time is text.
local function put(id, due, record, tags)
  add(JOBS, id, record)
  add(DELAYED, due, id)
  add_tags(id, tags)
end

local EVERYWHERE = { DELAYED, RESERVED, DEAD, LEASES, TRIES, ERRORS }

-- Removes a job and its record; from all keys unless it is known to be in those alone.
local function forget(id, tags, keys)
  for _, key in ipairs(keys or EVERYWHERE) do
    remove(key, id)
  end
  remove(JOBS, id)
  remove_tags(id, tags)
end

-- From one state to another one, or to another place in the same; the score is text.
local function move(id, from, to, score)
  remove(from, id)
  add(to, score, id)
end

local function replace_lease(id, text)
  remove(LEASES, id)
  add(LEASES, id, text)
end

-- '<undeliverable> <unknown> <failed> <counted> <delivered> <suspect 0/1> <firstDue> <version>[
-- <attemptDue>]'; a job that was not changed since it was created has none, and is version 1: its
-- first due time is the present one. The last is when the next attempt first fell due, if it then
-- reached no worker or was given back; without it, its due time has not changed since.
local function read_tries(text)
  local undeliverable, unknown, failed, counted, delivered, suspect, first_due, version,
    attempt_due =
    string.match(text or '', '^(%d+) (%d+) (%d+) (%d+) (%d+) ([01]) (%d+) (%d+) ?(%d*)$')
  return {
    undeliverable = tonumber(undeliverable or 0),
    unknown = tonumber(unknown or 0),
    failed = tonumber(failed or 0),
    counted = tonumber(counted or 0),
    delivered = tonumber(delivered or 0),
    suspect = tonumber(suspect or 0),
    first_due = tonumber(first_due or 0),
    version = tonumber(version or 1),
    attempt_due = tonumber(attempt_due or ''),
  }
end

local function write_tries(t)
  local text = string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f',
    t.undeliverable, t.unknown, t.failed, t.counted, t.delivered, t.suspect, t.first_due, t.version)
  return t.attempt_due and text .. ' ' .. int(t.attempt_due) or text
end

-- '<incarnation> <token> <attempt> <alone> <claimedMs> <due> <version> <owner>[<DEL><by>][ cancelling]';
-- alone is 0, 1, or - for a pull until it is received; by is who wants it cancelled, if that is known.
local function read_lease(text)
  if not text then
    return nil
  end
  local incarnation, token, attempt, alone, claimed, due, version, owner, by, rest = string.match(
    text, '^(%S+) (%S+) (%d+) ([01-]) (%d+) (%d+) (%d+) ([^%s\127]+)\127?(%S*)(.*)$')
  if not token or rest ~= '' and rest ~= ' cancelling' then
    return nil
  end
  return {
    text = text,
    incarnation = incarnation,
    token = token,
    attempt = attempt,
    alone = tonumber(alone),
    received = alone ~= '-',
    claimed = claimed,
    due = tonumber(due),
    version = tonumber(version),
    owner = owner,
    by = by,
    cancelling = rest ~= '',
  }
end

-- The job is cancelled unless its holder does it all the same.
local function cancel_lease(id, lease, by)
  replace_lease(id, lease.text .. (by == '' and '' or '\127' .. by) .. ' cancelling')
end

-- The attempt is no longer told to stop.
local function proceed_lease(id, lease)
  local text = string.gsub(lease.text, ' cancelling$', '', 1)
  add(LEASES, id, (string.gsub(text, '\127%S*$', '', 1)))
end

-- Once the puller has the job, an attempt that runs out counts.
local function receive_lease(id, lease)
  replace_lease(id, (string.gsub(lease.text, '^(%S+ %S+ %d+) %-', '%1 1', 1)))
end

-- As if the job had been claimed now.
local function renew_lease(id, lease)
  replace_lease(id, (string.gsub(lease.text, '^(%S+ %S+ %d+ [01-]) %d+', '%1 ' .. now_text, 1)))
end

-- For each id {state, score}, or an empty table for what is in no state.
local function places_of(ids)
  local delayed = redis.call('ZMSCORE', DELAYED, unpack(ids))
  local reserved = redis.call('ZMSCORE', RESERVED, unpack(ids))
  local dead = redis.call('ZMSCORE', DEAD, unpack(ids))
  local places = {}
  for i in ipairs(ids) do
    if delayed[i] then
      places[i] = { state = 'delayed', score = tonumber(delayed[i]) }
    elseif reserved[i] then
      places[i] = { state = 'reserved', score = tonumber(reserved[i]) }
    elseif dead[i] then
      places[i] = { state = 'dead', score = tonumber(dead[i]) }
    else
      places[i] = {}
    end
  end
  return places
end

-- The lease of a reserved job; an empty one if it is not readable.
local function lease_of(id)
  return read_lease(redis.call('HGET', LEASES, id)) or { attempt = '0', version = 0 }
end

-- The number of the last change of a job in that state.
local function version_of(id, state)
  return state == 'reserved' and lease_of(id).version
    or read_tries(redis.call('HGET', TRIES, id)).version
end

-- Whether a caller has seen another version than that, as '<incarnation> <version>'; '' is any.
local function is_other(seen, incarnation, version)
  return seen ~= '' and seen ~= incarnation .. ' ' .. int(version)
end

-- Score of the first member, or nil for an empty set.
local function head_of(key)
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return first[2] and tonumber(first[2]) or nil
end
