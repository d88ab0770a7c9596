-- Ends attempts, one after the other: RESERVED -> finished, DELAYED or DEAD.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     retention: integer, ms, of tombstones
-- EACH     op: 'ack', 'fail', 'unknown', 'undeliverable', 'release' or 'reject'
-- EACH     id: text
-- EACH     incarnation: text, no spaces
-- EACH     token: text, no spaces
-- EACH     delay: integer, ms
-- EACH     alone: 0 or 1
-- EACH     note: bytes
-- RETURNS  {now ms, {kind, due ms}...}
-- COST     for all jobs 5 reads and at most 18 writes; per ack that finds no job 2 reads, per
--          failure 1
-- WHY      an ack counts from any attempt of the incarnation, since the work is done; everything
--          else needs the lease, so that who was given up on cannot disturb the successor
--- @include lib/now
--- @include lib/job
--- @include lib/tomb
--- @include lib/outcome

local COUNTERS = {
  fail = 'failed', unknown = 'unknown', undeliverable = 'undeliverable', reject = 'rejected'
}

local broken = check_types()
if broken then return broken end
local now = now_ms()
local retention = tonumber(ARGV[1])

local settlements, ids = {}, {}
for i = 2, #ARGV, 7 do
  ids[#ids + 1] = ARGV[i + 1]
  settlements[#settlements + 1] = {
    op = ARGV[i],
    id = ARGV[i + 1],
    incarnation = ARGV[i + 2],
    token = ARGV[i + 3],
    delay = tonumber(ARGV[i + 4]),
    alone = tonumber(ARGV[i + 5]),
    note = ARGV[i + 6],
  }
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

local finished = 0

local function ack(s, job)
  if not job.record or job.record.incarnation ~= s.incarnation then
    local tomb = tomb_of(s.id, now)
    local before = tomb and tomb.finished and tomb.incarnation == s.incarnation
    return { before and 'already' or 'gone', '0' }
  end
  for _, key in ipairs({ DELAYED, RESERVED, DEAD, LEASES, TRIES, ERRORS, JOBS }) do
    remove(key, s.id)
  end
  remove_tags(s.id, job.record.tags)
  add_tomb(s.id, s.incarnation, 'D', content_of(job.record), now, retention)
  count('done')
  finished = finished + 1
  return { 'done', '0' }
end

local function settle(s, job)
  if s.op == 'ack' then
    return ack(s, job)
  end
  local held = job.record and job.record.incarnation == s.incarnation
    and job.lease and job.lease.token == s.token
  if not held then
    return { 'lost', '0' }
  elseif s.op == 'release' then
    remove(RESERVED, s.id)
    remove(LEASES, s.id)
    add(DELAYED, int(job.lease.due), s.id)
    count('released')
    return { 'retry', int(job.lease.due) }
  end
  local kind, due = end_attempt(job, s.op, s.delay, s.alone, s.note, now)
  count(COUNTERS[s.op])
  return { kind, int(due) }
end

local result = { int(now) }
if #ids > 0 then
  local jobs, seen = load_jobs(ids), {}
  for i, s in ipairs(settlements) do
    local job = jobs[i]
    if seen[s.id] then
      write()
      job = load_jobs({ s.id })[1]
    end
    seen[s.id] = true
    result[#result + 1] = settle(s, job)
  end
  write()
  if finished > 0 then
    tend_tombs(now, #ids, retention)
  end
end
return result
