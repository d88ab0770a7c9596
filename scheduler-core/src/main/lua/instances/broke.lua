-- Notes that a scheduler's connection to a worker instance broke.
--
-- KEYS     the schedulers whose connections to the instance broke, a sorted set by time in ms
-- ARGV     scheduler: text
-- ARGV     remembered: integer, ms after which the key goes unless another connection breaks
-- RETURNS  {the time}
-- COST     2 writes
-- WHY      each note has its own time, so that a newer one does not keep it alive

--- @include lib/now

local now = string.format('%.0f', now_ms())
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { now }
