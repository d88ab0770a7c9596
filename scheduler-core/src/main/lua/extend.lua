-- Keeps leases alive: RESERVED stays RESERVED, for longer.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- ARGV[1]  lease, ms from now
-- then per job: id, token
-- RETURNS  {now, '1' or '0' per job}
-- COST     per job: 1 HGET, 1 ZSCORE, 1 ZREM, 1 ZADD
-- WHY      ZREM before ZADD: a full Redis refuses a script whose first write may add.
--- @include lib/now
--- @include lib/job

local broken = check_types()
if broken then return broken end
local now = now_ms()
local deadline = now + tonumber(ARGV[1])
local result = { int(now) }
for i = 2, #ARGV, 2 do
  local id, token = ARGV[i], ARGV[i + 1]
  local lease = redis.call('HGET', LEASES, id)
  if lease and read_lease(lease).token == token then
    local score = tonumber(redis.call('ZSCORE', RESERVED, id))
    redis.call('ZREM', RESERVED, id)
    redis.call('ZADD', RESERVED, int(math.max(score, deadline)), id)
    result[#result + 1] = '1'
  else
    result[#result + 1] = '0'
  end
end
return result
