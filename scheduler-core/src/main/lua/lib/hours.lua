-- Until when, in ms, a bucket hands out nothing by its hours, and 0 if that has to be found out. Nil
-- while it does, and since when. Of the opening that an engine computed: '<from ms> <to ms> <good
-- from ms> <good until ms>'.
local function closed_until(opening, at)
  local since, to, computed, good = string.match(opening, '^(%d+) (%d+) (%d+) (%d+)$')
  local from = tonumber(since)
  to, computed, good = tonumber(to), tonumber(computed), tonumber(good)
  if not good or at < computed or at >= good then
    return 0
  elseif at < from then
    return math.min(from, good)
  elseif at >= to then
    return good
  end
  return nil, since
end
