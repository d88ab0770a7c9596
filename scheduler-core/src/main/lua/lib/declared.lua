-- How many ms the last declaration of a schedule is older than the last one of its application; ''
-- for a schedule that no instance has declared.
local function undeclared(key, name, application)
  local times = redis.call('HMGET', key, name, application)
  return times[1] and times[2] and string.format('%.0f', times[2] - times[1]) or ''
end
