-- Holds a bucket's jobs back, or lets them go: nothing is claimed while it is paused.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     scope: 'paused' or 'application', the field: its own pause, or that of its application
-- ARGV     length: integer, ms; 0 for no end
-- ARGV     words: text, '<who>\n<why>'; '' resumes
-- RETURNS  {now ms, paused since ms or '', head due ms to be woken for or ''}
-- COST     at most 3 reads and 2 writes
-- WHY      it stands in the bucket itself, where claim sees it: no scheduler can miss it, and no
--          restart forgets it. Both have to be over for a job to go out. A scanner that sleeps
--          through a pause is woken where its end may be another one now
--- @include lib/wake
--- @include lib/pause

local scope, length = ARGV[3], tonumber(ARGV[4])
local before = redis.call('HGET', CONTROL, scope)
local since = pause_of(before, now)

remove(CONTROL, scope)
if ARGV[5] ~= '' then
  add(CONTROL, scope, (since or now_text) .. ' ' .. (length > 0 and int(now + length) or '0') .. ' '
    .. ARGV[5])
end
redis.call('ZCARD', DELAYED)
write()
return {
  now_text,
  ARGV[5] ~= '' and (since or now_text) or '',
  before and announce_head(nil, ARGV[1], ARGV[2]) or '',
}
