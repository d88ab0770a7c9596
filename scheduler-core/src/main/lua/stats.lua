-- Counts of one bucket. Read only.
--
-- KEYS     the keys of the bucket, see lib/keys
-- RETURNS  {now ms, delayed, ready, reserved, dead, oldest ready due ms or '', next due ms or '',
--          its pause as it is kept or '', concurrency or '', rate or '', 'drop' or '', hours or '',
--          closed until ms, 0 if that has to be found out, or '', {name, count...},
--          time of the last death ms or '', deaths within an hour, the pause of its application
--          or ''}
-- COST     10 reads, O(log n)
-- WHY      ready is counted by score: a job that is due is still DELAYED until somebody claims it
--- @include lib/job
--- @include lib/hours
--- @include lib/pause

local ready = redis.call('ZCOUNT', DELAYED, '-inf', now_text)
local next_due = redis.call('ZRANGE', DELAYED, ready, ready, 'WITHSCORES')[2]
local dead = redis.call('ZCARD', DEAD)
local last_death = dead > 0 and redis.call('ZRANGE', DEAD, -1, -1, 'WITHSCORES')[2] or nil
local control = redis.call('HMGET', CONTROL, 'paused', 'concurrency', 'rate', 'expired', 'hours',
  'opening', 'application')
return {
  now_text,
  int(redis.call('ZCARD', DELAYED)),
  int(ready),
  int(redis.call('ZCARD', RESERVED)),
  int(dead),
  int_or_empty(ready > 0 and head_of(DELAYED) or nil),
  int_or_empty(next_due),
  pause_of(control[1], now) and control[1] or '', control[2] or '', control[3] or '', control[4] or '', control[5] or '',
  int_or_empty(control[5] and control[6] and closed_until(control[6], now) or nil),
  redis.call('HGETALL', STATS),
  int_or_empty(last_death),
  dead > 0 and int(redis.call('ZCOUNT', DEAD, int(now - 3600000), '+inf')) or '0',
  pause_of(control[7], now) and control[7] or '',
}
