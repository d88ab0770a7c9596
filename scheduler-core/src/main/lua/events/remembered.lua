-- Which events are remembered. Read only.
--
-- KEYS     the events of an application, a sorted set by the ms at which each is forgotten
-- EACH     event: text
-- RETURNS  {'1' or '0' per event}
-- COST     1 read
-- WHY      one call for all jobs that were submitted together

--- @include lib/now

local now = now_ms()
local ends = redis.call('ZMSCORE', KEYS[1], unpack(ARGV))
local answer = {}
for i in ipairs(ARGV) do
  answer[i] = ends[i] and tonumber(ends[i]) > now and '1' or '0'
end
return answer
