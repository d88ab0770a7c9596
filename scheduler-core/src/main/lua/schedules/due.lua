-- Takes schedules whose time has come, so that for some time no other scheduler takes them.
--
-- KEYS     definitions, states, looks, names, counts, declarations of the schedules
-- ARGV     max: integer, schedules
-- ARGV     bytes: integer, of definitions, after which no further one is taken
-- ARGV     claim: integer, ms until they are taken again if nothing is written
-- RETURNS  {the time, when the next look is due or '', {name, definition, state} each}
-- COST     2 reads, and per schedule 2 reads and 1 write
-- WHY      what is taken twice is submitted twice, which changes nothing: an occurrence has one id

--- @include lib/now

local now = now_ms()
local answer = { string.format('%.0f', now), '' }
local names = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', string.format('%.0f', now),
  'LIMIT', 0, ARGV[1])
local left = tonumber(ARGV[2])
local again = string.format('%.0f', now + tonumber(ARGV[3]))
for _, name in ipairs(names) do
  if left > 0 then
    local definition = redis.call('HGET', KEYS[1], name) or ''
    local state = redis.call('HGET', KEYS[2], name) or ''
    redis.call('ZADD', KEYS[3], again, name)
    answer[#answer + 1] = { name, definition, state }
    left = left - #definition
  end
end
local next = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
if next[2] then answer[2] = string.format('%.0f', tonumber(next[2])) end
return answer
