-- Registered workers: a hash with '<end ms> <text>' for each, and at the empty field '<version>
-- <earliest end ms>'. The version moves with each change but a renewal.

-- No worker is kept for longer without a renewal: the clock was set back, by more than the longest
-- life. Twice that, so that a small step drops no worker that lives.
local LONGEST = 600000

-- Drops the workers whose time is over; answers the version, and since when it may be that another
-- one's is. A write that removes comes first: a full Redis takes what follows.
local function tended(key, now)
  local version, earliest = string.match(redis.call('HGET', key, '') or '', '^(%d+) (%d+)$')
  version, earliest = tonumber(version) or 0, tonumber(earliest) or 0
  if now < earliest and earliest <= now + LONGEST then
    return version, earliest
  end
  local entries = redis.call('HGETALL', key)
  earliest = now + LONGEST
  for i = 1, #entries, 2 do
    local ends = tonumber(string.match(entries[i + 1], '^(%d+) ') or '0')
    if entries[i] == '' then
      redis.call('HDEL', key, '')
    elseif ends <= now or ends > now + LONGEST then
      redis.call('HDEL', key, entries[i])
      version = math.max(version + 1, now)
    else
      earliest = math.min(earliest, ends)
    end
  end
  if #entries > 0 then
    redis.call('HSET', key, '', int(version) .. ' ' .. int(earliest))
  end
  return version, earliest
end
