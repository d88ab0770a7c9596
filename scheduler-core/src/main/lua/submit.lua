-- Stores jobs, one after the other: nothing -> DELAYED.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- EACH     id: text
-- EACH     incarnation: text, no spaces
-- EACH     mode: 'at' or 'in'
-- EACH     millis: integer, epoch ms or ms from now
-- EACH     attempts: integer, most attempts, 1 to 1000
-- EACH     ttr: integer, ms, the job's own time to run; 0 if it has none
-- EACH     trace: text, no spaces; '-' for none
-- EACH     submitter: text, no spaces; '-' for none
-- EACH     tags: text, each behind a space; '' for none
-- EACH     content: bytes
-- EACH     replace: 0 or 1
-- RETURNS  {now ms, new head due ms or '', {kind, at ms, attempt, record or '', version or 0,
--          incarnation or ''}...}; {'created'} alone for a job that is stored as asked
-- COST     for all jobs 8 to 11 reads and 2 to 4 writes; per tombstone or job found 1 read
-- WHY      the first write adds, so that a full Redis refuses the call as a whole
--- @include lib/tomb
--- @include lib/wake

-- What most are found as, and answered: one table for all.
local NOTHING, CREATED = {}, { 'created' }

-- As a record has it.
local accepted = struct.pack('>I6', now)

local jobs, ids, stored = {}, {}, 0
local n = 0
for i = 3, #ARGV, 11 do
  n = n + 1
  ids[n] = ARGV[i]
  jobs[n] = {
    id = ARGV[i],
    incarnation = ARGV[i + 1],
    due = int(due_of(ARGV[i + 2], ARGV[i + 3])),
    max_attempts = ARGV[i + 4],
    accepted = accepted,
    ttr = ARGV[i + 5],
    trace = ARGV[i + 6],
    submitter = ARGV[i + 7],
    tags = ARGV[i + 8],
    content = ARGV[i + 9],
    replace = ARGV[i + 10] == '1',
  }
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

local function load_states(of)
  local records = redis.call('HMGET', JOBS, unpack(of))
  local expiries = redis.call('ZMSCORE', DONE, unpack(of))
  local looked, whole = {}, is_whole()
  for i, id in ipairs(of) do
    if records[i] or not whole then
      looked[#looked + 1] = id
    end
  end
  local found = #looked > 0 and places_of(looked) or {}
  local places = {}
  for i, id in ipairs(looked) do
    places[id] = found[i]
  end
  local states = {}
  for i, id in ipairs(of) do
    local place = places[id]
    if records[i] or place or expiries[i] then
      states[i] = {
        record = records[i] and read_record(records[i]),
        place = place and place.state,
        at = place and place.score,
        tomb_expires = expiries[i],
      }
    else
      states[i] = NOTHING
    end
  end
  return states
end

local function store(job)
  put(job)
  stored = stored + 1
end

local function create(job, state)
  local tomb = live_tomb(job.id, state.tomb_expires)
  if tomb and tomb.finished then
    if tomb.hash == hash_of(job.content) then
      return { 'already-done', tomb.at, '0', '', '0', '' }
    elseif not job.replace then
      return { 'conflict-done', tomb.at, '0', '', '0', '' }
    end
  end
  store(job)
  if state.tomb_expires then
    remove(DONE, job.id)
    remove(TOMBS, job.id)
  end
  return CREATED
end

local function meet(job, state)
  local at, version, attempt = int(state.at), 0, '0'
  local found = state.record and state.record.incarnation or ''
  if state.place == 'reserved' then
    local lease = lease_of(job.id)
    at, version, attempt = lease.due and int(lease.due) or at, lease.version, lease.attempt
  else
    version = version_of(job.id, state.place)
  end
  if state.record and content_of(state.record) == job.content then
    return { 'already-there', at, '0', '', int(version), found }
  elseif not job.replace then
    return { 'conflict', at, '0', state.record and state.record.text or '', int(version), found }
  elseif state.place == 'reserved' then
    return { 'in-delivery', '0', attempt, '', int(version), found }
  end
  store(job)
  local tries = read_tries('')
  tries.version, tries.first_due = version + 1, tonumber(job.due)
  add(TRIES, job.id, write_tries(tries))
  remove(DEAD, job.id)
  remove(ERRORS, job.id)
  if state.record then
    remove_tags(job.id, state.record.tags, job.tags)
  end
  return { 'replaced', job.due, '0', '', int(version + 1), job.incarnation }
end

local function write_adding_first()
  write_additions()
  write_removals()
end

local result = { now_text, '' }
if #jobs > 0 then
  local head = head_of(DELAYED)
  local states, seen = load_states(ids), {}
  for i, job in ipairs(jobs) do
    local state = states[i]
    if seen[job.id] then
      write_adding_first()
      state = load_states({ job.id })[1]
    end
    seen[job.id] = true
    result[i + 2] = state.place and meet(job, state) or create(job, state)
  end
  if stored > 0 then
    count('submitted', stored)
  end
  write_adding_first()
  result[2] = announce_head(head, ARGV[1], ARGV[2])
end
return result
