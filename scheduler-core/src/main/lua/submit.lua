-- Stores jobs, one after the other: nothing -> DELAYED.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- EACH     id: text
-- EACH     due: text, epoch ms, or '+' and ms from now
-- EACH     options: text, 1 if it may replace another job or else 0, then tags, each behind a space
-- EACH     record: bytes, as it is stored, but for when it was accepted
-- RETURNS  {now ms, new head due ms or '', {job, kind, at ms, attempt, record or '', version or 0,
--          incarnation or ''}...}; only for jobs, counted from 0, that are not stored as asked
-- COST     for all jobs 8 to 11 reads and 2 to 4 writes; per tombstone or job found 1 read
-- WHY      the first write adds, so that a full Redis refuses the call as a whole
--- @include lib/tomb
--- @include lib/wake

-- As a record has it.
local accepted = struct.pack('>I6', now)

local ids, starts, n = {}, {}, 0
for i = 3, #ARGV, 4 do
  n = n + 1
  ids[n], starts[n] = ARGV[i], i
end

-- Every job has its record and is in one state, unless somebody else wrote here: where the counts
-- agree, an id without record is in none, and nobody needs to look.
local function is_whole()
  local records = redis.call('HLEN', JOBS)
  local delayed = redis.call('ZCARD', DELAYED)
  local reserved = redis.call('ZCARD', RESERVED)
  local dead = redis.call('ZCARD', DEAD)
  return records == delayed + reserved + dead
end

-- What is known of each id; nothing of most.
local function load_states(of)
  local records = redis.call('HMGET', JOBS, unpack(of))
  local expiries = redis.call('ZMSCORE', DONE, unpack(of))
  local whole = is_whole()
  local looked, states = {}, {}
  for i, id in ipairs(of) do
    if records[i] or not whole then
      looked[#looked + 1] = i
    elseif expiries[i] then
      states[i] = { tomb_expires = expiries[i] }
    end
  end
  if #looked > 0 then
    local asked = {}
    for k, i in ipairs(looked) do
      asked[k] = of[i]
    end
    local places = places_of(asked)
    for k, i in ipairs(looked) do
      states[i] = {
        record = records[i] and read_record(records[i]),
        place = places[k].state,
        at = places[k].score,
        tomb_expires = expiries[i],
      }
    end
  end
  return states
end

local function due_at(i)
  local due = ARGV[i + 1]
  return string.byte(due) == 43 and int(now + tonumber(due)) or due
end

local stored = 0
local function store(id, i, due)
  local options = ARGV[i + 2]
  put(id, due, accepted .. ARGV[i + 3], #options > 1 and string.sub(options, 2) or '')
  stored = stored + 1
end

local function job_at(i)
  local job, options = read_record(accepted .. ARGV[i + 3]), ARGV[i + 2]
  job.due, job.tags = due_at(i), string.sub(options, 2)
  job.replace = string.byte(options) == 49
  return job
end

local function create(id, i, state)
  if state.tomb_expires then
    local job = job_at(i)
    local tomb = live_tomb(id, state.tomb_expires)
    -- A cancelled occurrence of a schedule stays cancelled, though its schedule may submit it again.
    if tomb and (tomb.finished or string.find(id, '@', 1, true)) then
      if tomb.hash == hash_of(content_of(job)) then
        return { 'already-done', tomb.at, '0', '', '0', '' }
      elseif not job.replace then
        return { 'conflict-done', tomb.at, '0', '', '0', '' }
      end
    end
    remove(DONE, id)
    remove(TOMBS, id)
  end
  store(id, i, due_at(i))
end

local function meet(id, i, state)
  local job = job_at(i)
  local at, version, attempt = int(state.at), 0, '0'
  local found = state.record and state.record.incarnation or ''
  if state.place == 'reserved' then
    local lease = lease_of(id)
    at, version, attempt = lease.due and int(lease.due) or at, lease.version, lease.attempt
  else
    version = version_of(id, state.place)
  end
  if state.record and content_of(state.record) == content_of(job) then
    return { 'already-there', at, '0', '', int(version), found }
  elseif not job.replace then
    return { 'conflict', at, '0', state.record and state.record.text or '', int(version), found }
  elseif state.place == 'reserved' then
    return { 'in-delivery', '0', attempt, '', int(version), found }
  end
  store(id, i, job.due)
  local tries = read_tries('')
  tries.version, tries.first_due = version + 1, tonumber(job.due)
  add(TRIES, id, write_tries(tries))
  remove(DEAD, id)
  remove(ERRORS, id)
  if state.record then
    remove_tags(id, state.record.tags, job.tags)
  end
  return { 'replaced', job.due, '0', '', int(version + 1), job.incarnation }
end

local function write_adding_first()
  write_additions()
  write_removals()
end

local result = { now_text, '' }
if n > 0 then
  local head = head_of(DELAYED)
  sound = { [JOBS] = true, [DELAYED] = true, [RESERVED] = true, [DEAD] = true }
  local states, seen = load_states(ids), {}
  for k = 1, n do
    local id, i, state = ids[k], starts[k], states[k]
    if seen[id] then
      write_adding_first()
      state = load_states({ id })[1]
    end
    seen[id] = true
    local answer
    if not state then
      store(id, i, due_at(i))
    elseif state.place then
      answer = meet(id, i, state)
    else
      answer = create(id, i, state)
    end
    if answer then
      result[#result + 1] = { int(k - 1), unpack(answer) }
    end
  end
  if stored > 0 then
    count('submitted', stored)
  end
  write_adding_first()
  result[2] = announce_head(head, ARGV[1], ARGV[2])
end
return result
