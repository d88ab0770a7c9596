-- Counts of one bucket. Read only.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- RETURNS  {now, delayed, ready, reserved, dead, oldest ready due or '', next due or '', {name, count...}}
-- COST     O(log n), and one read of the counters
--- @include lib/now
--- @include lib/job

local broken = check_types()
if broken then return broken end
local now = now_ms()
local ready = redis.call('ZCOUNT', DELAYED, '-inf', int(now))
local delayed = redis.call('ZCARD', DELAYED)
local next_due = redis.call('ZRANGE', DELAYED, ready, ready, 'WITHSCORES')[2]
return {
  int(now), int(delayed), int(ready),
  int(redis.call('ZCARD', RESERVED)), int(redis.call('ZCARD', DEAD)),
  ready > 0 and int(head_of(DELAYED)) or '',
  next_due and int(tonumber(next_due)) or '',
  redis.call('HGETALL', STATS),
}
