-- Remembers an event, so that a job which names it and comes later finds it.
--
-- KEYS     the events of an application, a sorted set by the ms at which each is forgotten
-- ARGV     event: text
-- ARGV     memory: integer, ms
-- RETURNS  {the time}
-- COST     2 reads and at most 3 writes
-- WHY      a repeated event is remembered from then on. The key expires with the last event

--- @include lib/now

local now = now_ms()
local forgotten = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now),
  'LIMIT', 0, 100)
if #forgotten > 0 then
  redis.call('ZREM', KEYS[1], unpack(forgotten))
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + tonumber(ARGV[2])), ARGV[1])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', last - now))
return { string.format('%.0f', now) }
