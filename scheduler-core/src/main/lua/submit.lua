-- Stores jobs, one after the other: nothing -> DELAYED.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- EACH     id: text
-- EACH     incarnation: text, no spaces
-- EACH     mode: 'at' or 'in'
-- EACH     millis: integer, epoch ms or ms from now
-- EACH     attempts: integer, most attempts, from 1
-- EACH     ttr: integer, ms, the job's own time to run; 0 if it has none
-- EACH     tags: text, each behind a space; '' for none
-- EACH     content: bytes
-- EACH     replace: 0 or 1
-- RETURNS  {now ms, new head due ms or '', {kind, at ms, attempt, record or ''}...}
-- COST     for all jobs 5 reads and 2 to 4 writes; per tombstone or conflict found 1 read
-- WHY      the first write adds, so that a full Redis refuses the call as a whole
--- @include lib/now
--- @include lib/job
--- @include lib/tomb
--- @include lib/wake

local broken = check_types()
if broken then return broken end
local now = now_ms()

local jobs, ids = {}, {}
for i = 3, #ARGV, 9 do
  local millis = tonumber(ARGV[i + 3])
  ids[#ids + 1] = ARGV[i]
  jobs[#jobs + 1] = {
    id = ARGV[i],
    incarnation = ARGV[i + 1],
    due = ARGV[i + 2] == 'in' and now + millis or millis,
    max_attempts = tonumber(ARGV[i + 4]),
    ttr = tonumber(ARGV[i + 5]),
    tags = ARGV[i + 6],
    content = ARGV[i + 7],
    replace = ARGV[i + 8] == '1',
  }
end

local function load_states(of)
  local records, places = redis.call('HMGET', JOBS, unpack(of)), places_of(of)
  local expiries = redis.call('ZMSCORE', DONE, unpack(of))
  local states = {}
  for i = 1, #of do
    states[i] = {
      record = read_record(records[i]),
      place = places[i].state,
      at = places[i].score,
      tomb_expires = expiries[i],
    }
  end
  return states
end

local function store(job)
  add(JOBS, job.id,
    write_record(job.incarnation, job.max_attempts, int(now), job.ttr, job.tags, job.content))
  add(DELAYED, int(job.due), job.id)
  add_tags(job.id, job.tags)
  count('submitted')
end

local function create(job, state)
  local tomb = live_tomb(job.id, state.tomb_expires, now)
  if tomb and tomb.finished then
    if tomb.hash == hash_of(job.content) then
      return { 'done', tomb.at, '0', '' }
    elseif not job.replace then
      return { 'conflict-done', tomb.at, '0', '' }
    end
  end
  store(job)
  if state.tomb_expires then
    remove(DONE, job.id)
    remove(TOMBS, job.id)
  end
  return { 'created', int(job.due), '0', '' }
end

local function meet(job, state)
  local at = int(state.at)
  if state.place == 'reserved' then
    local lease = read_lease(redis.call('HGET', LEASES, job.id))
    at = lease and int(lease.due) or at
  end
  if state.record and content_of(state.record) == job.content then
    return { 'there', at, '0', '' }
  elseif not job.replace then
    return { 'conflict', at, '0', state.record and state.record.text or '' }
  elseif state.place == 'reserved' then
    return { 'in-delivery', '0', attempt_of(job.id), '' }
  end
  store(job)
  remove(DEAD, job.id)
  remove(TRIES, job.id)
  remove(ERRORS, job.id)
  if state.record then
    remove_tags(job.id, state.record.tags, job.tags)
  end
  return { 'replaced', int(job.due), '0', '' }
end

local function write_adding_first()
  write_additions()
  write_removals()
end

local result = { int(now), '' }
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
    result[#result + 1] = state.place and meet(job, state) or create(job, state)
  end
  write_adding_first()
  result[2] = announce_head(head, ARGV[1], ARGV[2])
end
return result
