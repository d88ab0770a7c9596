-- Notes which schedules an instance of an application has in its code.
--
-- KEYS     definitions, states, looks, names, counts, declarations of the schedules
-- ARGV     application: text, the field of its declarations
-- EACH     name: text, of a schedule
-- RETURNS  {how many of them there are}
-- COST     1 read and 1 write, and 1 of each per schedule
-- WHY      an application without schedules leaves nothing behind

--- @include lib/now

local there = 0
if redis.call('HGET', KEYS[5], ARGV[1]) then
  local now = string.format('%.0f', now_ms())
  redis.call('HSET', KEYS[6], ARGV[1], now)
  for i = 2, #ARGV do
    if redis.call('HGET', KEYS[2], ARGV[i]) then
      redis.call('HSET', KEYS[6], ARGV[i], now)
      there = there + 1
    end
  end
end
return { string.format('%.0f', there) }
