-- Takes jobs back whose lease ran out: RESERVED -> DELAYED or DEAD.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- ARGV[1]  most jobs, 1 to 200
-- RETURNS  {now, retried, dead, next lease deadline or ''}
-- COST     per job: 1 ZREM, 1 HDEL, 1 ZADD, 2 HSET
-- WHY      whoever held the lease is gone or paused: nobody knows how the attempt ended.
--- @include lib/now
--- @include lib/job
--- @include lib/tomb
--- @include lib/outcome

local broken = check_types()
if broken then return broken end
local now = now_ms()
local ids = redis.call('ZRANGEBYSCORE', RESERVED, '-inf', int(now), 'LIMIT', 0, ARGV[1])
local retried, dead = 0, 0
for _, id in ipairs(ids) do
  local record, lease = redis.call('HGET', JOBS, id), redis.call('HGET', LEASES, id)
  local kind
  if record and lease then
    lease = read_lease(lease)
    kind = end_attempt(id, lease, 'lease', 0, lease.alone, '', now, record)
    redis.call('HINCRBY', STATS, 'expired', 1)
  else
    kind = bury_corrupt(id, now)
  end
  if kind == 'retry' then
    retried = retried + 1
  else
    dead = dead + 1
  end
end
trim_tombs(now, #ids)
return { int(now), int(retried), int(dead), int_or_empty(head_of(RESERVED)) }
