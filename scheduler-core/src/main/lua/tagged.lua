-- Lists the jobs with a tag, whatever their state, by id. Read only.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     tag: text
-- ARGV     max: integer, 1 to 200
-- ARGV     last: text, the last id seen; '' to begin
-- RETURNS  {now ms, last id looked at if there is more else '',
--          {id, state, at ms, record without content, tries, lease, errors}...}; fewer than max
--          where records are large
-- COST     8 reads for all jobs; at most some 4 MB of records
-- WHY      an id that is in no state is left out: a job whose record was lost leaves its tags behind
--- @include lib/snapshot

local prefix, max = ARGV[1] .. ' ', tonumber(ARGV[2])

-- '!' is the first character behind the space that ends a tag.
local found = redis.call(
  'ZRANGEBYLEX', TAGS, '(' .. prefix .. ARGV[3], '(' .. ARGV[1] .. '!', 'LIMIT', 0, max + 1)
local ids = {}
for i = 1, math.min(#found, max) do
  ids[i] = string.sub(found[i], #prefix + 1)
end
local result = { now_text, #found > max and ids[max] or '' }
if #ids > 0 then
  local places, present, places_present = places_of(ids), {}, {}
  for i, id in ipairs(ids) do
    if places[i].state then
      present[#present + 1] = id
      places_present[#present] = places[i]
    end
  end
  if #present > 0 then
    local jobs = outlines(present, places_present)
    for _, job in ipairs(jobs) do
      result[#result + 1] = job
    end
    if #jobs < #present then
      result[2] = present[#jobs]
    end
  end
end
return result
