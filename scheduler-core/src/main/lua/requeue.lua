-- Gives dead letters a new life: DEAD -> DELAYED, with a fresh budget of attempts.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- ARGV[1]  wake-up channel
-- ARGV[2]  name of the bucket on that channel
-- ARGV[3]  delay, ms
-- ARGV[4]  0 for the ids that follow, else the number of oldest ones, 1 to 200
-- then ids
-- RETURNS  {now, new head due or '', id...}
-- COST     per job: 1 ZREM, 1 ZADD, at most 1 HSET
-- WHY      totals and the last error stay: what happened is part of the job's story.
--- @include lib/now
--- @include lib/job
--- @include lib/wake

local broken = check_types()
if broken then return broken end
local now = now_ms()
local due = now + tonumber(ARGV[3])
local ids = {}
if ARGV[4] ~= '0' then
  ids = redis.call('ZRANGE', DEAD, 0, tonumber(ARGV[4]) - 1)
else
  for i = 5, #ARGV do
    ids[#ids + 1] = ARGV[i]
  end
end
local head = head_of(DELAYED)
local result = { int(now), '' }
for _, id in ipairs(ids) do
  if redis.call('HEXISTS', JOBS, id) == 1 and redis.call('ZREM', DEAD, id) == 1 then
    local tries = read_tries(redis.call('HGET', TRIES, id))
    tries.counted, tries.delivered, tries.suspect, tries.first_due = 0, 0, 0, due
    redis.call('ZADD', DELAYED, int(due), id)
    redis.call('HSET', TRIES, id, write_tries(tries))
    redis.call('HINCRBY', STATS, 'requeued', 1)
    result[#result + 1] = id
  end
end
if #result > 2 and (not head or due < head) then
  result[2] = int(due)
  publish_head(ARGV[1], ARGV[2], due)
end
return result
