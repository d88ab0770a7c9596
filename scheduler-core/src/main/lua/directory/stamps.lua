-- Tells in which of many buckets something changed, without counting what they hold.
--
-- KEYS     for each bucket five keys: delayed, reserved, dead, stats and control
-- RETURNS  {now ms, stamp...}: a stamp is 16 digits that differ whenever what stats.lua returns does
--          for another reason than time, or '' where a key has a foreign type
-- COST     6 reads a bucket, and 2 more where a job is due
-- WHY      every change counts, reserves, moves a waiting job or writes the control key. Of the jobs
--          that wait, the earliest one matters; while it is due, so do the number of those that are,
--          and the first that is not. A stamp then changes with time, too. The time of a rate's next
--          job changes with each claim, which reserves, too
--- @include lib/text
--- @include lib/now

local now = now_ms()
local now_text = int(now)

local function stamp(delayed, reserved, dead, stats, control)
  local values = redis.call('HGETALL', stats)
  local n = #values
  values[n + 1] = redis.call('ZCARD', reserved)
  values[n + 2] = redis.call('ZCARD', delayed)
  values[n + 3] = redis.call('ZCARD', dead)
  local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')[2]
  values[n + 4] = first or ''
  for i, text in ipairs(redis.call('HMGET', control, 'paused', 'concurrency', 'rate', 'expired',
    'hours', 'opening', 'application')) do
    values[n + 4 + i] = text or ''
  end
  if first and tonumber(first) <= now then
    local ready = redis.call('ZCOUNT', delayed, '-inf', now_text)
    values[#values + 1] = ready
    values[#values + 1] = redis.call('ZRANGE', delayed, ready, ready, 'WITHSCORES')[2] or ''
  end
  return string.sub(redis.sha1hex(table.concat(values, '\n')), 1, 16)
end

local result = { now_text }
for i = 1, #KEYS - 4, 5 do
  local sound, text = pcall(stamp, KEYS[i], KEYS[i + 1], KEYS[i + 2], KEYS[i + 3],
    KEYS[i + 4])
  result[#result + 1] = sound and text or ''
end
return result
