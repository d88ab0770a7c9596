-- Lets a bucket hand out jobs in certain hours only, or at any time.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     hours: text, which engines read; '' for any time
-- RETURNS  {now ms, head due ms to be woken for or ''}
-- COST     1 read and 2 writes
-- WHY      it stands in the bucket itself, where claim sees it: it holds for all schedulers together
--- @include lib/wake

remove(CONTROL, 'hours')
remove(CONTROL, 'opening')
if ARGV[3] ~= '' then
  add(CONTROL, 'hours', ARGV[3])
  add(CONTROL, 'opening', '0 0 0 0')
end
redis.call('ZCARD', DELAYED)
write()
return { now_text, announce_head(nil, ARGV[1], ARGV[2]) }
