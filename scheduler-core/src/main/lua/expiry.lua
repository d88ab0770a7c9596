-- Sets whether a bucket drops its jobs that could not start in time.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     drop: 0 or 1; 0 makes them dead letters
-- RETURNS  {now ms}
-- COST     1 read and 2 writes
-- WHY      the bucket itself has it, where the scripts that end such jobs see it
--- @include lib/job

remove(CONTROL, 'expired')
if ARGV[1] == '1' then
  add(CONTROL, 'expired', 'drop')
end
write()
return { now_text }
