-- Keeps which opening of a bucket's hours is the present or next one.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     hours: text, of which it is an opening
-- ARGV     opening: text, see lib/hours
-- RETURNS  {now ms}
-- COST     1 read and 2 writes
-- WHY      calendars and time zones are known to engines alone. Where the hours were changed
--          meanwhile nothing is kept, and the next claim asks again
--- @include lib/batch

if redis.call('HGET', CONTROL, 'hours') == ARGV[1] then
  remove(CONTROL, 'opening')
  add(CONTROL, 'opening', ARGV[2])
  write()
end
return { now_text }
