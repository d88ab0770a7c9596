-- Counts the waiting jobs by due time. Read only.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     width: integer, ms, of one interval
-- ARGV     intervals: integer, 1 to 200, from now on
-- RETURNS  {now ms, ready, count...}
-- COST     one read of O(log n) per interval
-- WHY      an interval holds what is due after its beginning and up to its end, so that nothing is
--          counted twice, and what is due now is ready
--- @include lib/job

local width = tonumber(ARGV[1])

local result = { now_text, int(redis.call('ZCOUNT', DELAYED, '-inf', now_text)) }
for i = 1, tonumber(ARGV[2]) do
  local from, to = '(' .. int(now + (i - 1) * width), int(now + i * width)
  result[#result + 1] = int(redis.call('ZCOUNT', DELAYED, from, to))
end
return result
