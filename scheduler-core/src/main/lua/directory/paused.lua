-- The pauses of applications. Read only.
--
-- KEYS     the pauses of applications, a hash
-- RETURNS  {the time, then for each that goes on its application and the pause}
-- COST     1 read
-- WHY      one that is over by the store's clock is none, whether it was removed or not

--- @include lib/now
--- @include lib/pause

local now = now_ms()
local kept = redis.call('HGETALL', KEYS[1])
local answer = { string.format('%.0f', now) }
for i = 1, #kept, 2 do
  if pause_of(kept[i + 1], now) then
    answer[#answer + 1] = kept[i]
    answer[#answer + 1] = kept[i + 1]
  end
end
return answer
