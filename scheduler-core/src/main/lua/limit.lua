-- Bounds how many jobs of a bucket are out at once, and how many go out in a time.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     concurrency: integer, jobs at once; '' for any number
-- ARGV     rate: text, '<jobs> <ms>'; '' for any
-- RETURNS  {now ms, head due ms to be woken for or ''}
-- COST     1 read and 3 writes
-- WHY      it stands in the bucket itself, where claim sees it: it holds for all schedulers together
--- @include lib/wake

for _, field in ipairs({ 'concurrency', 'rate', 'tat' }) do
  remove(CONTROL, field)
end
if ARGV[3] ~= '' then
  add(CONTROL, 'concurrency', ARGV[3])
end
if ARGV[4] ~= '' then
  add(CONTROL, 'rate', ARGV[4])
end
redis.call('ZCARD', DELAYED)
write()
return { now_text, announce_head(nil, ARGV[1], ARGV[2]) }
