-- Changes schedules that are as the caller has seen them.
--
-- KEYS     definitions, states, looks, names, counts, declarations of the schedules
-- ARGV     max: integer, schedules of an application
-- EACH     name: text
-- EACH     application: text, the field that counts its schedules
-- EACH     expected: text, the state that was seen; '' for a schedule that is not there
-- EACH     definition: bytes, the new one; '' to keep it
-- EACH     state: text, the new one; '' to remove the schedule
-- EACH     look: text, ms of the next look; '' for none
-- RETURNS  {'done', 'changed' or 'full' for each}
-- COST     per schedule 2 reads and at most 6 writes
-- WHY      the state has a new version for each definition, so that it stands for both

-- A key of a foreign type must be met before something is written.
redis.call('HLEN', KEYS[1])
redis.call('HLEN', KEYS[2])
redis.call('ZCARD', KEYS[3])
redis.call('ZCARD', KEYS[4])
redis.call('HLEN', KEYS[5])
redis.call('HLEN', KEYS[6])

local function count(application)
  return tonumber(redis.call('HGET', KEYS[5], application) or '0')
end

local function remove(name, application)
  redis.call('ZREM', KEYS[3], name)
  redis.call('ZREM', KEYS[4], name)
  redis.call('HDEL', KEYS[1], name)
  redis.call('HDEL', KEYS[2], name)
  redis.call('HDEL', KEYS[6], name)
  if count(application) <= 1 then
    redis.call('HDEL', KEYS[5], application)
    redis.call('HDEL', KEYS[6], application)
  else
    redis.call('HINCRBY', KEYS[5], application, -1)
  end
end

local function put(name, application, new, definition, state, look)
  if new then redis.call('HINCRBY', KEYS[5], application, 1) end
  if definition ~= '' then
    redis.call('HSET', KEYS[1], name, definition)
    -- Instances that have this definition in their code say so again.
    redis.call('HDEL', KEYS[6], name)
  end
  redis.call('HSET', KEYS[2], name, state)
  if new then redis.call('ZADD', KEYS[4], 0, name) end
  if look ~= '' then
    redis.call('ZADD', KEYS[3], look, name)
  else
    redis.call('ZREM', KEYS[3], name)
  end
end

local answers = {}
for i = 2, #ARGV, 6 do
  local name, application, expected = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local found = redis.call('HGET', KEYS[2], name) or ''
  local answer = 'done'
  if found ~= expected then
    answer = 'changed'
  elseif ARGV[i + 4] == '' then
    if found ~= '' then remove(name, application) end
  elseif found == '' and count(application) >= tonumber(ARGV[1]) then
    answer = 'full'
  else
    put(name, application, found == '', ARGV[i + 3], ARGV[i + 4], ARGV[i + 5])
  end
  answers[#answers + 1] = answer
end
return answers
