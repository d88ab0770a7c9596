-- Tells in which of many buckets something changed, without counting what they hold.
--
-- KEYS     for each bucket five keys: delayed, reserved, dead, stats and control
-- RETURNS  {now ms, stamp...}: a stamp is 16 digits that differ whenever what stats.lua returns does
--          for another reason than time, or '' where a key has a foreign type
-- COST     6 reads a bucket
-- WHY      every change counts, reserves, moves the earliest job or writes the control key. The time
--          of a rate's next job changes with each claim, which reserves, too
--- @include lib/text
--- @include lib/now

local function stamp(delayed, reserved, dead, stats, control)
  local values = redis.call('HGETALL', stats)
  local n = #values
  values[n + 1] = redis.call('ZCARD', reserved)
  values[n + 2] = redis.call('ZCARD', delayed)
  values[n + 3] = redis.call('ZCARD', dead)
  values[n + 4] = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')[2] or ''
  for i, text in ipairs(redis.call('HMGET', control, 'paused', 'concurrency', 'rate', 'expired',
    'hours', 'opening', 'application')) do
    values[n + 4 + i] = text or ''
  end
  return string.sub(redis.sha1hex(table.concat(values, '\n')), 1, 16)
end

local result = { int(now_ms()) }
for i = 1, #KEYS - 4, 5 do
  local sound, text = pcall(stamp, KEYS[i], KEYS[i + 1], KEYS[i + 2], KEYS[i + 3],
    KEYS[i + 4])
  result[#result + 1] = sound and text or ''
end
return result
