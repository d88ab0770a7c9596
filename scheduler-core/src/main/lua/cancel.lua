-- Cancels a waiting job: DELAYED -> gone, with a tombstone that tells a repeated call so.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- ARGV[1]  id
-- ARGV[2]  retention of tombstones, ms
-- RETURNS  {now, kind, attempt}
-- COST     1 ZREM, 3 HDEL, 1 ZADD, 1 HSET
--- @include lib/now
--- @include lib/job
--- @include lib/tomb

local broken = check_types()
if broken then return broken end
local now = now_ms()
local id = ARGV[1]
local place = place_of(id)
if place == 'reserved' then
  return { int(now), 'in-delivery', attempt_of(id) }
elseif place == 'dead' then
  return { int(now), 'dead', '0' }
elseif place == 'delayed' then
  local record = redis.call('HGET', JOBS, id)
  redis.call('ZREM', DELAYED, id)
  redis.call('HDEL', TRIES, id)
  redis.call('HDEL', ERRORS, id)
  redis.call('HDEL', JOBS, id)
  if record then
    local incarnation = read_header(record)
    put_tomb(id, incarnation, 'C', content_of(record), now, tonumber(ARGV[2]))
  end
  trim_tombs(now, 1)
  redis.call('HINCRBY', STATS, 'cancelled', 1)
  return { int(now), 'cancelled', '0' }
end
local tomb = live_tomb(id, now)
if not tomb then
  return { int(now), 'unknown', '0' }
end
return { int(now), tomb.outcome == 'D' and 'finished' or 'cancelled', '0' }
