--- @include lib/keys
--- @include lib/text

-- '<incarnation> <maxAttempts> <acceptedMs>\n<content>'
local function read_header(record)
  local incarnation, max_attempts = string.match(record, '^(%S+) (%d+) %d+\n')
  return incarnation, tonumber(max_attempts)
end

local function content_of(record)
  return string.sub(record, string.find(record, '\n', 1, true) + 1)
end

-- '<undeliverable> <unknown> <failed> <counted> <delivered> <suspect> <firstDue>'
local function read_tries(text)
  if not text then
    return { undeliverable = 0, unknown = 0, failed = 0, counted = 0, delivered = 0, suspect = 0, first_due = 0 }
  end
  local undeliverable, unknown, failed, counted, delivered, suspect, first_due =
    string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d) (%d+)$')
  return {
    undeliverable = tonumber(undeliverable),
    unknown = tonumber(unknown),
    failed = tonumber(failed),
    counted = tonumber(counted),
    delivered = tonumber(delivered),
    suspect = tonumber(suspect),
    first_due = tonumber(first_due),
  }
end

local function write_tries(t)
  return string.format('%d %d %d %d %d %d %.0f',
    t.undeliverable, t.unknown, t.failed, t.counted, t.delivered, t.suspect, t.first_due)
end

-- '<token> <attempt> <alone> <claimedMs> <due> <owner>'
local function read_lease(text)
  local token, attempt, alone, claimed, due, owner = string.match(text, '^(%S+) (%d+) (%d) (%d+) (%d+) (%S+)$')
  return {
    token = token,
    attempt = attempt,
    alone = tonumber(alone),
    claimed = claimed,
    due = tonumber(due),
    owner = owner,
  }
end

-- Which of the three sets a job is in, and its score there.
local function place_of(id)
  local score = redis.call('ZSCORE', DELAYED, id)
  if score then
    return 'delayed', tonumber(score)
  end
  score = redis.call('ZSCORE', RESERVED, id)
  if score then
    return 'reserved', tonumber(score)
  end
  score = redis.call('ZSCORE', DEAD, id)
  if score then
    return 'dead', tonumber(score)
  end
  return nil, nil
end

local function attempt_of(id)
  return read_lease(redis.call('HGET', LEASES, id)).attempt
end

-- Score of the first member, or nil for an empty set.
local function head_of(key)
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return first[2] and tonumber(first[2]) or nil
end

local function int_or_empty(n)
  return n and int(n) or ''
end

-- A job without its record can neither run nor be dropped: it is kept where people look.
local function bury_corrupt(id, now)
  redis.call('ZREM', RESERVED, id)
  redis.call('HDEL', LEASES, id)
  redis.call('ZADD', DEAD, int(now), id)
  redis.call('HSET', ERRORS, id, int(now) .. ' corrupt dead-corrupt\n')
  redis.call('HINCRBY', STATS, 'dead', 1)
  return 'dead'
end
