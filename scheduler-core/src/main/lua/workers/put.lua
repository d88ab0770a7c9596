-- Registers a worker, renews it, or removes it.
--
-- KEYS     the registered workers, a hash, see lib/workers
-- ARGV     worker: text, its field
-- ARGV     application: text, what the fields of its workers begin with
-- ARGV     says: text, what it says of itself
-- ARGV     life: integer, ms after which it is gone unless it is renewed; 0 if it leaves
-- ARGV     own: integer, workers of the application
-- ARGV     ownSize: integer, characters of their texts
-- ARGV     all: integer, workers of all applications
-- ARGV     allSize: integer, characters of their texts
-- RETURNS  {'created', 'changed', 'renewed', 'removed', 'none', 'full' or 'all-full'}
-- COST     3 reads and 2 writes; the whole hash where a worker's time is over, and for a change
--          where all together have as many as an application may
-- WHY      schedulers read all of them twice a second: the version says that nothing has changed
--- @include lib/text
--- @include lib/now
--- @include lib/workers

local key, now, life = KEYS[1], now_ms(), tonumber(ARGV[4])
if life > 0 and not redis.call('HGET', key, ARGV[1]) then
  -- A full Redis refuses this, and takes all that follows a first write.
  redis.call('HSET', key, '', redis.call('HGET', key, '') or '')
end
local at = tended(key, now)
local found = string.match(redis.call('HGET', key, ARGV[1]) or '', '^%d+ (.*)$')
if life == 0 then
  if not found then
    return { 'none' }
  end
  redis.call('HDEL', key, ARGV[1])
  at.version = math.max(at.version + 1, now)
  at.size = at.size - #found
  note(key, at)
  return { 'removed' }
end
if found ~= ARGV[3] then
  local workers = math.max(redis.call('HLEN', key) - 1, 0) + (found and 0 or 1)
  local size = at.size + #ARGV[3] - #(found or '')
  local grows = not found or #ARGV[3] > #found
  if grows and (workers > tonumber(ARGV[7]) or size > tonumber(ARGV[8])) then
    return { 'all-full' }
  elseif grows and (workers > tonumber(ARGV[5]) or size > tonumber(ARGV[6])) then
    local own, ownSize = 1, #ARGV[3]
    local entries = redis.call('HGETALL', key)
    for i = 1, #entries, 2 do
      if string.sub(entries[i], 1, #ARGV[2]) == ARGV[2] and entries[i] ~= ARGV[1] then
        own = own + 1
        ownSize = ownSize + #(string.match(entries[i + 1], '^%d+ (.*)$') or '')
      end
    end
    if own > tonumber(ARGV[5]) or ownSize > tonumber(ARGV[6]) then
      return { 'full' }
    end
  end
  at.version = math.max(at.version + 1, now)
  at.size = size
end
at.earliest = math.min(at.earliest, now + life)
-- What removes comes first: a full Redis keeps its workers.
redis.call('HDEL', key, ARGV[1])
redis.call('HSET', key, ARGV[1], int(now + life) .. ' ' .. ARGV[3])
note(key, at)
return { not found and 'created' or found == ARGV[3] and 'renewed' or 'changed' }
