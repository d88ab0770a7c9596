-- Registered workers: a hash with '<end ms> <text>' for each, at the field '<worker>' or '<worker>
-- <session>', or '<end ms>' once that session was removed; and at the empty field '<version>
-- <earliest end ms> <last look ms> <characters of all texts>'. The version moves with each change
-- but a renewal. A hash without workers is no key.

-- Longest life without a renewal.
local LONGEST = 300000
-- A look is noted once a second: schedulers look twice a second.
local NOTED = 1000
-- A renewal may be as late as that and be executed all the same.
local REMEMBERED = 30000
-- Without a look for longer, Redis was away or its clock was set: no worker could renew itself.
local SILENCE = 2000

-- What a worker says of itself; nil if it was removed.
local function said(value)
  return string.match(value or '', '^%d+ (.*)$')
end

-- Writes what is at the empty field. What removes comes first: a full Redis takes what follows.
local function note(key, at)
  redis.call('HDEL', key, '')
  if redis.call('HLEN', key) > 0 then
    redis.call('HSET', key, '', int(at.version) .. ' ' .. int(at.earliest) .. ' ' .. int(at.seen)
      .. ' ' .. int(at.size))
  end
end

-- Drops the workers whose time is over, and answers what is at the empty field. Time without a look
-- does not count, and a clock that was set takes the ends with it.
local function tended(key, now)
  local version, earliest, seen, size =
    string.match(redis.call('HGET', key, '') or '', '^(%d+) (%d+) (%d+) (%d+)$')
  local at = {
    version = tonumber(version) or 0,
    earliest = tonumber(earliest) or 0,
    seen = tonumber(seen) or now,
    size = tonumber(size) or 0,
  }
  local passed = now - at.seen
  local counts = passed >= 0 and passed <= SILENCE
  if counts and now < at.earliest then
    if passed > NOTED then
      at.seen = now
      note(key, at)
    end
    return at
  end
  local entries = redis.call('HGETALL', key)
  if #entries == 0 then
    return at
  end
  at.earliest, at.seen, at.size = now + LONGEST, now, 0
  for i = 1, #entries, 2 do
    local ends, rest = string.match(entries[i + 1], '^(%d+)(.*)$')
    local moved = math.min((tonumber(ends) or 0) + (counts and 0 or passed), now + LONGEST)
    if entries[i] ~= '' and moved <= now then
      redis.call('HDEL', key, entries[i])
      at.version = math.max(at.version + 1, now)
    elseif entries[i] ~= '' then
      if int(moved) ~= ends then
        redis.call('HDEL', key, entries[i])
        redis.call('HSET', key, entries[i], int(moved) .. rest)
      end
      at.earliest = math.min(at.earliest, moved)
      at.size = at.size + math.max(#rest - 1, 0)
    end
  end
  note(key, at)
  return at
end
