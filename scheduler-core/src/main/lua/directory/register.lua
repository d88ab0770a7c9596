-- Registers a queue, unless its application has as many as it may.
--
-- KEYS     the directory of queues, a hash
-- ARGV     queue: text, its field
-- ARGV     application: text, what the fields of its queues begin with
-- ARGV     buckets: integer, as many a new one gets
-- ARGV     max: integer, queues of the application
-- RETURNS  {buckets of the queue, or ''}
-- COST     2 reads and 1 write; where there are max queues of all applications, the whole hash
-- WHY      a queue that is over the bound must never be seen: other schedulers would keep it

local found = redis.call('HGET', KEYS[1], ARGV[1])
if found then return { found } end
local max = tonumber(ARGV[4])
if redis.call('HLEN', KEYS[1]) >= max then
  local mine = 0
  local entries = redis.call('HGETALL', KEYS[1])
  for i = 1, #entries, 2 do
    if entries[i]:sub(1, #ARGV[2]) == ARGV[2] then mine = mine + 1 end
  end
  if mine >= max then return { '' } end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return { ARGV[3] }
