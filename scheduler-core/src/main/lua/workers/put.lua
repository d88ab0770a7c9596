-- Registers a worker, renews it, or removes it.
--
-- KEYS     the registered workers, a hash, see lib/workers
-- ARGV     worker: text, its field
-- ARGV     application: text, what the fields of its workers begin with
-- ARGV     says: text, what it says of itself
-- ARGV     life: integer, ms after which it is gone unless it is renewed; 0 if it leaves
-- ARGV     max: integer, workers of the application
-- RETURNS  {'created', 'renewed', 'removed', 'none' or 'full'}
-- COST     2 reads and 2 writes; the whole hash where a worker's time is over, and for a new worker
--          where there are max of all applications
-- WHY      schedulers read all of them twice a second: the version says that nothing has changed
--- @include lib/text
--- @include lib/now
--- @include lib/workers

local key, now, life = KEYS[1], now_ms(), tonumber(ARGV[4])
local version, earliest = tended(key, now)
local found = redis.call('HGET', key, ARGV[1])
if life == 0 then
  if not found then
    return { 'none' }
  end
  redis.call('HDEL', key, ARGV[1])
  redis.call('HSET', key, '', int(math.max(version + 1, now)) .. ' ' .. int(earliest))
  return { 'removed' }
end
local max = tonumber(ARGV[5])
if not found and redis.call('HLEN', key) > max then
  local own = 0
  local entries = redis.call('HGETALL', key)
  for i = 1, #entries, 2 do
    if string.sub(entries[i], 1, #ARGV[2]) == ARGV[2] then
      own = own + 1
    end
  end
  if own >= max then
    return { 'full' }
  end
end
if not found or string.match(found, '^%d+ (.*)$') ~= ARGV[3] then
  version = math.max(version + 1, now)
end
-- A write that removes comes first: a full Redis keeps its workers.
redis.call('HDEL', key, '')
redis.call('HSET', key, ARGV[1], int(now + life) .. ' ' .. ARGV[3],
  '', int(version) .. ' ' .. int(math.min(earliest, now + life)))
return { found and 'renewed' or 'created' }
