-- Ends attempts, one after the other: RESERVED -> finished, DELAYED or DEAD.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- ARGV[1]  retention of tombstones, ms
-- then per job: op, id, incarnation, token, delay ms, alone 0 or 1, note
-- RETURNS  {now, {kind, due}...}
-- COST     per ack: 1 ZREM, 1 HDEL, 1 ZADD, 1 HSET and 4 reads; per other op: 1 ZREM, 1 HDEL, 1 ZADD, 2 HSET
-- WHY      an ack counts from any attempt of the incarnation, since the work is done; everything else needs the lease.
--- @include lib/now
--- @include lib/job
--- @include lib/tomb
--- @include lib/outcome

local COUNTER = { fail = 'failed', unknown = 'unknown', undeliverable = 'undeliverable', reject = 'rejected' }

local broken = check_types()
if broken then return broken end
local now = now_ms()
local retention = tonumber(ARGV[1])
local result = { int(now) }

local function ack(id, incarnation)
  local record = redis.call('HGET', JOBS, id)
  if not record or read_header(record) ~= incarnation then
    local tomb = live_tomb(id, now)
    if tomb and tomb.outcome == 'D' and tomb.incarnation == incarnation then
      return 'already'
    end
    return 'gone'
  end
  redis.call('ZREM', RESERVED, id)
  redis.call('ZREM', DELAYED, id)
  redis.call('ZREM', DEAD, id)
  redis.call('HDEL', LEASES, id)
  redis.call('HDEL', TRIES, id)
  redis.call('HDEL', ERRORS, id)
  redis.call('HDEL', JOBS, id)
  put_tomb(id, incarnation, 'D', content_of(record), now, retention)
  redis.call('HINCRBY', STATS, 'done', 1)
  return 'done'
end

local function held(id, incarnation, token)
  local record = redis.call('HGET', JOBS, id)
  if not record or read_header(record) ~= incarnation then
    return nil, nil
  end
  local lease = redis.call('HGET', LEASES, id)
  lease = lease and read_lease(lease)
  if not lease or lease.token ~= token then
    return nil, nil
  end
  return lease, record
end

local jobs = 0
for i = 2, #ARGV, 7 do
  jobs = jobs + 1
  local op, id, incarnation, token = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local delay, alone, note = tonumber(ARGV[i + 4]), tonumber(ARGV[i + 5]), ARGV[i + 6]
  if op == 'ack' then
    result[#result + 1] = { ack(id, incarnation), '0' }
  else
    local lease, record = held(id, incarnation, token)
    if not lease then
      result[#result + 1] = { 'lost', '0' }
    elseif op == 'release' then
      redis.call('ZREM', RESERVED, id)
      redis.call('HDEL', LEASES, id)
      redis.call('ZADD', DELAYED, int(lease.due), id)
      redis.call('HINCRBY', STATS, 'released', 1)
      result[#result + 1] = { 'retry', int(lease.due) }
    else
      local kind, due = end_attempt(id, lease, op, delay, alone, note, now, record)
      redis.call('HINCRBY', STATS, COUNTER[op], 1)
      result[#result + 1] = { kind, int(due) }
    end
  end
end
trim_tombs(now, jobs)
return result
