-- Until when, in ms, a bucket hands out nothing by its hours; nil while it does, and 0 if that has
-- to be found out. Of the opening that an engine computed: '<from ms> <to ms> <good until ms>'.
local function closed_until(opening, at)
  local from, to, good = string.match(opening, '^(%d+) (%d+) (%d+)$')
  from, to, good = tonumber(from), tonumber(to), tonumber(good)
  if not good or at >= good then
    return 0
  elseif at < from then
    return math.min(from, good)
  end
  return at >= to and good or nil
end
