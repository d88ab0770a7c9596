--- @include lib/keys
--- @include lib/text
--- @include lib/batch

-- Readers never raise: a value that is not of its form counts as absent, so that nothing can fail
-- between two writes.

-- Two bytes of most attempts, below 1024, and six of the ms when it was accepted, the highest
-- first; then '<incarnation>[ <ttrMs>{ <tag>}]\n<content>', without what is 0 and none.
-- Incarnation, where the content begins, time to run, and tags, each behind a space; nothing if
-- the text is not of that form.
local function parse_record(text)
  local incarnation, rest, content =
    string.match(text, '^[%z\1-\3].......([%w._:-]+)([^\n]*)\n()')
  if rest == '' then
    return incarnation, content, 0, ''
  elseif not incarnation then
    return nil
  end
  local ttr, tags = string.match(rest, '^ (%d+)(.*)$')
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
    max_attempts = struct.unpack('>I2', text),
    accepted = string.sub(text, 3, 8),
    ttr = ttr,
    tags = tags,
    content_at = content_at,
  } or nil
end

local function content_of(record)
  return string.sub(record.text, record.content_at)
end

-- As a record has it.
local function accepted_at(now)
  return struct.pack('>I6', now)
end

-- Attempts and time to run as text.
local function write_record(incarnation, max_attempts, accepted, ttr, tags, content)
  local rest = (ttr ~= '0' or tags ~= '') and ' ' .. ttr .. tags or ''
  return struct.pack('>I2', max_attempts) .. accepted .. incarnation .. rest .. '\n' .. content
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

-- '<undeliverable> <unknown> <failed> <counted> <delivered> <suspect 0/1> <firstDue> <version>';
-- a job that was not changed since it was created has none, and is version 1: its first due time is
-- the present one.
local function read_tries(text)
  local undeliverable, unknown, failed, counted, delivered, suspect, first_due, version =
    string.match(text or '', '^(%d+) (%d+) (%d+) (%d+) (%d+) ([01]) (%d+) (%d+)$')
  return {
    undeliverable = tonumber(undeliverable or 0),
    unknown = tonumber(unknown or 0),
    failed = tonumber(failed or 0),
    counted = tonumber(counted or 0),
    delivered = tonumber(delivered or 0),
    suspect = tonumber(suspect or 0),
    first_due = tonumber(first_due or 0),
    version = tonumber(version or 1),
  }
end

local function write_tries(t)
  return string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f',
    t.undeliverable, t.unknown, t.failed, t.counted, t.delivered, t.suspect, t.first_due, t.version)
end

-- '<token> <attempt> <alone> <claimedMs> <due> <version> <owner>'; alone is 0, 1, or - for a pull
-- until it is received.
local function read_lease(text)
  if not text then
    return nil
  end
  local token, attempt, alone, claimed, due, version =
    string.match(text, '^(%S+) (%d+) ([01-]) (%d+) (%d+) (%d+) %S+$')
  if not token then
    return nil
  end
  return {
    token = token,
    attempt = attempt,
    alone = tonumber(alone),
    received = alone ~= '-',
    claimed = claimed,
    due = tonumber(due),
    version = tonumber(version),
  }
end

-- The text of a lease once the puller has the job: an attempt that runs out counts from then on.
local function received_lease(text)
  return (string.gsub(text, '^(%S+ %d+) %-', '%1 1', 1))
end

-- The text of a lease as if its job had been claimed at another time.
local function lease_claimed_at(text, now)
  return (string.gsub(text, '^(%S+ %d+ [01-]) %d+', '%1 ' .. int(now), 1))
end

-- For each id {state, score}, or an empty table for what is in no state.
local function places_of(ids)
  local delayed = redis.call('ZMSCORE', DELAYED, unpack(ids))
  local reserved = redis.call('ZMSCORE', RESERVED, unpack(ids))
  local dead = redis.call('ZMSCORE', DEAD, unpack(ids))
  local places = {}
  for i = 1, #ids do
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

-- Score of the first member, or nil for an empty set.
local function head_of(key)
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return first[2] and tonumber(first[2]) or nil
end

-- What went wrong, newest first: '<atMs> <kind> <disposition> <attempt> <claimedMs> <bytes>\n<note>'
-- behind one another, ten at most, and the older ones only while all take less than 4 kB.
local function with_history(id, entry, note)
  local before = redis.call('HGET', ERRORS, id) or ''
  local newest = table.concat(entry, ' ') .. ' ' .. int(#note) .. '\n' .. note
  local kept = 0
  for _ = 2, 10 do
    local bytes, note_at =
      string.match(before, '^%d+ %S+ %S+ %d+ %d+ (%d+)\n()', kept + 1)
    local stop = bytes and #bytes < 9 and note_at + tonumber(bytes) - 1
    if not stop or stop > #before or #newest + stop > 4096 then
      break
    end
    kept = stop
  end
  return newest .. string.sub(before, 1, kept)
end

-- A job that can neither run nor be dropped is kept where people look.
local function bury_corrupt(id, now)
  remove(DELAYED, id)
  remove(RESERVED, id)
  remove(LEASES, id)
  add(DEAD, int(now), id)
  add(ERRORS, id, with_history(id, { int(now), 'corrupt', 'dead-corrupt', '0', '0' }, ''))
  count('dead')
end
