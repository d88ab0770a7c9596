-- Keeps the pause of an application, or ends it.
--
-- KEYS     the pauses of applications, a hash
-- ARGV     application: text, its field
-- ARGV     length: integer, ms; 0 for no end
-- ARGV     words: text, '<who>\n<why>'; '' ends it
-- RETURNS  {the time, the pause or ''}
-- COST     1 read and at most 2 writes
-- WHY      claims obey the pause in the bucket itself; this one is for queues that begin later.
--          What is over is removed, so that it does not pile up

--- @include lib/now
--- @include lib/pause

local now = now_ms()
local kept = redis.call('HGETALL', KEYS[1])
local over, since = {}, nil
for i = 1, #kept, 2 do
  local goes_on = pause_of(kept[i + 1], now)
  if not goes_on or kept[i] == ARGV[1] then
    over[#over + 1] = kept[i]
    since = kept[i] == ARGV[1] and goes_on or since
  end
end
for i = 1, #over do
  redis.call('HDEL', KEYS[1], over[i])
end
local pause = ''
if ARGV[3] ~= '' then
  local ends = tonumber(ARGV[2]) > 0 and now + tonumber(ARGV[2]) or 0
  pause = string.format('%s %.0f %s', since or string.format('%.0f', now), ends, ARGV[3])
  redis.call('HSET', KEYS[1], ARGV[1], pause)
end
return { string.format('%.0f', now), pause }
