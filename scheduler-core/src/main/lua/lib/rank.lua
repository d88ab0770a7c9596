--- @include lib/begin

-- Byte order, as sorted sets have it; Lua's own comparison follows the server's locale.
local function not_after(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then
      return x < y
    end
  end
  return #a <= #b
end

-- How many members of a sorted set stand up to this one. Members of equal score are sorted by id:
-- the rank is found by halving.
local function rank_behind(set, score, id)
  local low = redis.call('ZCOUNT', set, '-inf', '(' .. score)
  local high = redis.call('ZCOUNT', set, '-inf', score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if not_after(redis.call('ZRANGE', set, middle, middle)[1], id) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end
