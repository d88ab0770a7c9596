-- Stores jobs, one after the other: nothing -> DELAYED.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- EACH     id: text
-- EACH     due: text, epoch ms, or '+' and ms from now
-- EACH     options: text, what to do if a job of that id is there: 0 refuses, 1 replaces one that
--          waits, q lets one wait behind one that runs, r does and replaces one that waits, x drops
--          this one, d<ms> and f<ms> debounce, for so long at most, with the last or the first
--          content; then tags, each behind a space
-- EACH     record: bytes, as it is stored, but for when it was accepted
-- RETURNS  {now ms, new head due ms or '', {job, kind, at ms, attempt, record or '', version or 0,
--          incarnation or ''}...}; only for jobs, counted from 0, that are not stored as asked
-- COST     for all jobs 8 to 11 reads and 2 to 4 writes; per tombstone or job found 1 read
-- WHY      the first write adds, so that a full Redis refuses the call as a whole. A job that waits
--          for a retry counts as running, but for a debounce, which takes its place: what is newer
--          need not wait for what failed
--- @include lib/tomb
--- @include lib/next
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
  put(id, due, accepted .. ARGV[i + 3], #options > 1 and string.match(options, '^.%d*(.*)$') or '')
  stored = stored + 1
end

local function job_at(i)
  local job, options = read_record(accepted .. ARGV[i + 3]), ARGV[i + 2]
  local at_most
  job.rule, at_most, job.tags = string.match(options, '^(.)(%d*)(.*)$')
  job.due, job.at_most = due_at(i), tonumber(at_most)
  job.replace, job.merges = job.rule == '1', job.rule ~= '0' and job.rule ~= '1'
  return job
end

local function create(id, i, state)
  if state.tomb_expires then
    local job = job_at(i)
    local tomb = not job.merges and live_tomb(id, state.tomb_expires)
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

-- Stores a job in the place of another one, with all its attempts before it.
local function take_place(id, i, state, job, version, kind)
  store(id, i, job.due)
  local tries = read_tries('')
  tries.version, tries.first_due = version + 1, tonumber(job.due)
  add(TRIES, id, write_tries(tries))
  remove(DEAD, id)
  remove(ERRORS, id)
  local behind = successors()
  if behind then
    behind.drop(id)
  end
  if state.record then
    remove_tags(id, state.record.tags, job.tags)
  end
  return { kind, job.due, '0', '', int(version + 1), job.incarnation }
end

-- Of a rule that keeps one job that runs, or waits for a retry, and one that waits. The functions are
-- made when a job asks for them.
local function merge(id, i, state, job, at, tries, version)
  local behind, found = successors(true), state.record

  -- Lets the job wait for the end of the one that is there, unless one that waits for it stays.
  local function wait_behind()
    local successor = behind.of(id)
    if not successor or job.rule == 'd' or job.rule == 'r' then
      successor = (job.at_most and ARGV[i + 1] or job.due) .. '\n' .. ARGV[i + 3]
      add(NEXT, id, successor)
    end
    return int(behind.due(successor))
  end

  -- Makes one job of two that wait. A new incarnation in either case: the ack of an attempt that
  -- began before, which may come late, must not finish what is asked for now.
  local function join(due)
    local text
    if job.rule == 'q' or job.rule == 'f' then
      text = string.sub(found.text, 1, 8) .. job.incarnation
        .. string.sub(found.text, 9 + #found.incarnation)
    else
      text = found.accepted .. ARGV[i + 3]
      remove_tags(id, found.tags, job.tags)
      add_tags(id, job.tags)
    end
    if job.rule ~= 'q' then
      behind.drop(id)
    end
    if job.rule ~= 'q' or tries.version == 1 then
      tries.first_due, tries.attempt_due = due, nil
    end
    tries.version = tries.version + 1
    add(JOBS, id, text)
    add(DELAYED, int(due), id)
    add(TRIES, id, write_tries(tries))
    return { 'merged', int(due), '0', '', int(tries.version), job.incarnation }
  end

  local running = state.place == 'reserved' or tries.unknown + tries.failed > 0
  if state.place == 'dead' then
    return take_place(id, i, state, job, version, 'replaced')
  elseif job.rule == 'x' then
    return { 'merged', at, '0', '', int(version), found and found.incarnation or '' }
  elseif state.place == 'reserved' or running and not job.at_most then
    return { 'merged', wait_behind(), '0', '', int(version), found and found.incarnation or '' }
  elseif running or not found then
    return take_place(id, i, state, job, version, 'merged')
  end
  local due = job.rule == 'q' and state.at or tonumber(job.due)
  if job.at_most then
    due = math.min(due, struct.unpack('>I6', found.accepted) + job.at_most)
    if tries.undeliverable > 0 then
      due = math.max(due, state.at)
    end
  end
  return join(due)
end

local function meet(id, i, state)
  local job = job_at(i)
  local at, version, attempt, tries = int(state.at), 0, '0', nil
  local found = state.record and state.record.incarnation or ''
  if state.place == 'reserved' then
    local lease = lease_of(id)
    at, version, attempt = lease.due and int(lease.due) or at, lease.version, lease.attempt
  else
    tries = read_tries(redis.call('HGET', TRIES, id))
    version = tries.version
  end
  if job.merges then
    return merge(id, i, state, job, at, tries, version)
  elseif state.record and content_of(state.record) == content_of(job) then
    return { 'already-there', at, '0', '', int(version), found }
  elseif not job.replace then
    return { 'conflict', at, '0', state.record and state.record.text or '', int(version), found }
  elseif state.place == 'reserved' then
    return { 'in-delivery', '0', attempt, '', int(version), found }
  end
  return take_place(id, i, state, job, version, 'replaced')
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
