-- Holds a bucket's jobs back, or lets them go: nothing is claimed while it is paused.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     paused: 0 or 1
-- RETURNS  {now ms, paused since ms or '', head due ms to be woken for or ''}
-- COST     at most 3 reads and 2 writes
-- WHY      it stands in the bucket itself, where claim sees it: no scheduler can miss it, and no
--          restart forgets it
--- @include lib/wake

local since = redis.call('HGET', CONTROL, 'paused')

if ARGV[3] == '1' then
  since = since or now_text
  remove(CONTROL, 'paused')
  add(CONTROL, 'paused', since)
  write()
  return { now_text, since, '' }
end
redis.call('ZCARD', DELAYED)
remove(CONTROL, 'paused')
write()
return { now_text, '', since and announce_head(nil, ARGV[1], ARGV[2]) or '' }
