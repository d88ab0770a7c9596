-- Ends attempts, one after the other: RESERVED -> finished, DELAYED or DEAD.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     retention: integer, ms, of tombstones
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- EACH     op: 'ack', 'fail', 'unknown', 'undeliverable', 'release', 'return' or 'reject'
-- EACH     id: text
-- EACH     incarnation: text, no spaces
-- EACH     token: text, no spaces
-- EACH     delay: integer, ms
-- EACH     alone: 0 or 1
-- EACH     note: bytes
-- RETURNS  {now ms, {kind, due ms of 'retry' or now ms of 'done'}...}
-- COST     for all jobs at most 9 reads and 18 writes; per ack that finds no job 2 reads, per
--          failure 1
-- WHY      an ack counts from any attempt of the incarnation, since the work is done; everything
--          else needs the lease, so that an earlier holder cannot disturb its successor. A job that
--          returns is announced: the engine that ends it may have no capacity for it. A released
--          job waits behind those that are due, so that its holder gets the others first
--- @include lib/now
--- @include lib/job
--- @include lib/tomb
--- @include lib/outcome
--- @include lib/wake

local COUNTERS = {
  fail = 'failed', unknown = 'unknown', undeliverable = 'undeliverable', reject = 'rejected'
}

local broken = check_types()
if broken then return broken end
local now = now_ms()
local retention = tonumber(ARGV[1])

-- Where the arguments of each settlement begin; what an ack does not need is not read for it.
local starts, ids, all_acks, n = {}, {}, true, 0
for i = 4, #ARGV, 7 do
  n = n + 1
  starts[n], ids[n] = i, ARGV[i + 1]
  all_acks = all_acks and ARGV[i] == 'ack'
end

local function load_jobs(of)
  local records = redis.call('HMGET', JOBS, unpack(of))
  local leases = redis.call('HMGET', LEASES, unpack(of))
  local tries = redis.call('HMGET', TRIES, unpack(of))
  local deadlines = redis.call('ZMSCORE', RESERVED, unpack(of))
  local jobs = {}
  for i = 1, #of do
    jobs[i] = {
      id = of[i],
      record = read_record(records[i]),
      lease = deadlines[i] and read_lease(leases[i]),
      tries = tries[i],
    }
  end
  return jobs
end

local now_text, tombs_expire = int(now), int(now + retention)
local DONE_NOW = { 'done', now_text }
local finished, failed_before = 0, redis.call('HLEN', TRIES) > 0

local function ack(id, text, incarnation)
  local found, content, _, tags = parse_record(text or '')
  if found ~= incarnation then
    local tomb = tomb_of(id, now)
    local before = tomb and tomb.finished and tomb.incarnation == incarnation
    return { before and 'already' or 'gone', '0' }
  end
  remove(RESERVED, id)
  remove(LEASES, id)
  -- It may be a late one: somebody had given the job back, or up.
  remove(DELAYED, id)
  if failed_before then
    remove(DEAD, id)
    remove(TRIES, id)
    remove(ERRORS, id)
  end
  remove(JOBS, id)
  remove_tags(id, tags)
  add_tomb(id, incarnation, 'D', hash_of(string.sub(text, content)), now_text, tombs_expire)
  finished = finished + 1
  return DONE_NOW
end

local function settle(job, i)
  local op = ARGV[i]
  local held = job.record and job.record.incarnation == ARGV[i + 2]
    and job.lease and job.lease.token == ARGV[i + 3]
  if not held then
    return { 'lost', '0' }
  elseif op == 'return' then
    count('released')
    return { 'retry', int(give_back(job, job.lease.due)) }
  elseif op == 'release' then
    count('released')
    return { 'retry', int(give_back(job, now + tonumber(ARGV[i + 4]))) }
  end
  local kind, due = end_attempt(
    job, op, tonumber(ARGV[i + 4]), tonumber(ARGV[i + 5]), ARGV[i + 6], now)
  count(COUNTERS[op])
  return { kind, int(due) }
end

local result = { now_text }
if #ids > 0 then
  local records = all_acks and redis.call('HMGET', JOBS, unpack(ids))
  local head = not all_acks and head_of(DELAYED)
  local jobs, seen = all_acks and {} or load_jobs(ids), {}
  for k, id in ipairs(ids) do
    local i, job, text = starts[k], jobs[k], records and records[k]
    if seen[id] then
      write()
      failed_before = true
      job = load_jobs({ id })[1]
      text = false
    end
    seen[id] = true
    if ARGV[i] == 'ack' then
      result[k + 1] = ack(id, text or job and job.record and job.record.text, ARGV[i + 2])
    else
      result[k + 1] = settle(job, i)
    end
  end
  if finished > 0 then
    count('done', finished)
  end
  write()
  if not all_acks then
    announce_head(head, ARGV[2], ARGV[3])
  end
  if finished > 0 then
    tend_tombs(now, #ids, true)
  end
end
return result
