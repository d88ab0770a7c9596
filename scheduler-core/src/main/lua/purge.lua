-- Removes waiting or dead jobs for good, without tombstone.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- ARGV[1]  'delayed' or 'dead'
-- ARGV[2]  0 for the ids that follow, else the number of earliest ones, 1 to 200
-- ARGV[3]  only those up to this score, ms
-- then ids
-- RETURNS  {now, removed}
-- COST     per job: 1 ZREM, 3 HDEL
--- @include lib/now
--- @include lib/job

local broken = check_types()
if broken then return broken end
local now = now_ms()
local set = ARGV[1] == 'dead' and DEAD or DELAYED
local ids = {}
if ARGV[2] ~= '0' then
  ids = redis.call('ZRANGEBYSCORE', set, '-inf', ARGV[3], 'LIMIT', 0, ARGV[2])
else
  for i = 4, #ARGV do
    ids[#ids + 1] = ARGV[i]
  end
end
local removed = 0
for _, id in ipairs(ids) do
  if redis.call('ZREM', set, id) == 1 then
    redis.call('HDEL', TRIES, id)
    redis.call('HDEL', ERRORS, id)
    redis.call('HDEL', JOBS, id)
    removed = removed + 1
  end
end
if removed > 0 then
  redis.call('HINCRBY', STATS, 'purged', removed)
end
return { int(now), int(removed) }
