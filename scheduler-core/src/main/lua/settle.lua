-- Ends attempts, one after the other: RESERVED -> finished, DELAYED or DEAD.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     retention: integer, ms, of tombstones
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- EACH     op: 'done', 'failed', 'unknown', 'undeliverable', 'released', 'returned' or 'rejected'
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
--- @include lib/tomb
--- @include lib/outcome
--- @include lib/wake

local retention = tonumber(ARGV[1])

-- Where the arguments of each settlement begin; what an ack does not need is not read for it.
local starts, ids, all_acks, n = {}, {}, true, 0
for i = 4, #ARGV, 7 do
  n = n + 1
  starts[n], ids[n] = i, ARGV[i + 1]
  all_acks = all_acks and ARGV[i] == 'done'
end

-- Where an acked job may be: usually nothing has failed, and no job has been dead or tried before.
-- It may be a late ack, of a job that was given back: that waits again.
local UNFAILED = { RESERVED, LEASES, DELAYED }
local places = redis.call('HLEN', TRIES) > 0 and EVERYWHERE or UNFAILED

local tombs_expire = int(now + retention)
local DONE_NOW = { 'done', now_text }
local finished = 0

local function ack(id, text, incarnation)
  local found, content, _, tags = parse_record(text or '')
  if found ~= incarnation then
    local tomb = tomb_of(id)
    local before = tomb and tomb.finished and tomb.incarnation == incarnation
    return { before and 'already-done' or 'unknown', '0' }
  end
  forget(id, tags, places)
  add_tomb(id, incarnation, 'D', string.sub(text, content), tombs_expire)
  finished = finished + 1
  return DONE_NOW
end

local function settle(job, i)
  local op = ARGV[i]
  local held = job.record and job.record.incarnation == ARGV[i + 2]
    and job.lease and job.lease.token == ARGV[i + 3]
  if not held then
    return { 'lease-lost', '0' }
  elseif op == 'returned' or op == 'released' then
    count('released')
    local due = op == 'returned' and job.lease.due or now + tonumber(ARGV[i + 4])
    return { 'retry', int(give_back(job, due)) }
  end
  local kind, due = end_attempt(
    job, op, tonumber(ARGV[i + 4]), tonumber(ARGV[i + 5]), ARGV[i + 6])
  count(op)
  return { kind, int(due) }
end

local result = { now_text }
if #ids > 0 then
  local records = all_acks and redis.call('HMGET', JOBS, unpack(ids))
  local head = not all_acks and head_of(DELAYED)
  local jobs, seen = all_acks and {} or jobs_of(ids), {}
  for k, id in ipairs(ids) do
    local i, job, text = starts[k], jobs[k], records and records[k]
    if seen[id] then
      write()
      places = EVERYWHERE
      job = jobs_of({ id })[1]
      text = false
    end
    seen[id] = true
    if ARGV[i] == 'done' then
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
    tend_tombs(#ids, true)
  end
end
return result
