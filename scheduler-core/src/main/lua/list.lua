-- Lists jobs of one state in the order of their scores, or in the opposite one. Read only.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     state: 'delayed', 'reserved' or 'dead'
-- ARGV     max: integer, 1 to 200
-- ARGV     score: integer, epoch ms, of the last job seen; '' to begin
-- ARGV     last: text, its id; '' to begin
-- ARGV     newest: 0 or 1; 1 begins with the highest score
-- RETURNS  {now ms, '1' if there is more else '0',
--          {id, state, at ms, record without content, tries, lease, errors}...}; fewer than max
--          where records are large
-- COST     O(log n) reads to find the place, 4 for all jobs; at most some 4 MB of records
-- WHY      the place is looked for by (score, id), so that a list goes on where it was even when
--          that job is gone
--- @include lib/snapshot
--- @include lib/rank

local set = ({ delayed = DELAYED, reserved = RESERVED, dead = DEAD })[ARGV[1]]
local max = tonumber(ARGV[2])

local newest = ARGV[5] == '1'
local from = ARGV[3] == '' and 0 or rank_behind(set, ARGV[3], ARGV[4])
if newest and ARGV[3] ~= '' then
  -- From the other end, and without the last job seen, which may be gone.
  local score = redis.call('ZSCORE', set, ARGV[4])
  local there = score and tonumber(score) == tonumber(ARGV[3])
  from = redis.call('ZCARD', set) - from + (there and 1 or 0)
end
local found = newest and redis.call('ZRANGE', set, from, from + max, 'REV', 'WITHSCORES')
  or redis.call('ZRANGE', set, from, from + max, 'WITHSCORES')
local ids, places = {}, {}
for i = 1, math.min(#found, 2 * max), 2 do
  ids[#ids + 1] = found[i]
  places[#places + 1] = { state = ARGV[1], score = tonumber(found[i + 1]) }
end
local jobs = #ids > 0 and outlines(ids, places) or {}
local more = #found > 2 * max or #jobs < #ids
return { now_text, more and '1' or '0', unpack(jobs) }
