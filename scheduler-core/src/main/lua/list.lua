-- Lists jobs of one state in the order of their scores. Read only.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- ARGV[1]  'delayed', 'reserved' or 'dead'
-- ARGV[2]  most jobs, 1 to 200
-- ARGV[3]  score of the last job seen, or '' to begin
-- ARGV[4]  id of the last job seen, or ''
-- RETURNS  {now, '1' if there is more, {id, state, at, record, tries, lease, error}...}
-- COST     O(log n) to find the place, 4 reads a job
-- WHY      the place is looked for by (score, id), so that a list goes on where it was even when that job is gone.
--- @include lib/now
--- @include lib/snapshot

local broken = check_types()
if broken then return broken end
local now = now_ms()
local sets = { delayed = DELAYED, reserved = RESERVED, dead = DEAD }
local set, most = sets[ARGV[1]], tonumber(ARGV[2])

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

-- Members of equal score are sorted by id: the rank is found by halving.
local function rank_behind(score, id)
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

local from = 0
if ARGV[3] ~= '' then
  from = rank_behind(ARGV[3], ARGV[4])
end
local found = redis.call('ZRANGE', set, from, from + most, 'WITHSCORES')
local result = { int(now), #found > 2 * most and '1' or '0' }
for i = 1, math.min(#found, 2 * most), 2 do
  result[#result + 1] = snapshot(found[i], ARGV[1], tonumber(found[i + 1]))
end
return result
