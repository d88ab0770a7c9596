--- @include lib/keys
--- @include lib/text

-- The tombstone of an id, or nil; an expired one counts as none, trimmed or not.
-- '<incarnation> <D or C> <hash> <atMs>'
local function live_tomb(id, now)
  local expires = redis.call('ZSCORE', DONE, id)
  if not expires or tonumber(expires) <= now then
    return nil
  end
  local incarnation, outcome, hash, at = string.match(redis.call('HGET', TOMBS, id), '^(%S+) (%a) (%x+) (%d+)$')
  return { incarnation = incarnation, outcome = outcome, hash = hash, at = at }
end

local function hash_of(content)
  return string.sub(redis.sha1hex(content), 1, 20)
end

local function drop_tomb(id)
  redis.call('ZREM', DONE, id)
  redis.call('HDEL', TOMBS, id)
end

local function put_tomb(id, incarnation, outcome, content, now, retention)
  redis.call('ZADD', DONE, int(now + retention), id)
  redis.call('HSET', TOMBS, id, incarnation .. ' ' .. outcome .. ' ' .. hash_of(content) .. ' ' .. int(now))
  -- The tombstones of a queue that falls quiet go by themselves.
  redis.call('PEXPIRE', DONE, int(retention))
  redis.call('PEXPIRE', TOMBS, int(retention))
end

-- Removes expired tombstones, at most so many that the cost stays that of the call itself.
local function trim_tombs(now, jobs)
  local expired = redis.call('ZRANGEBYSCORE', DONE, '-inf', int(now), 'LIMIT', 0, 32 + 2 * jobs)
  if #expired > 0 then
    redis.call('ZREM', DONE, unpack(expired))
    redis.call('HDEL', TOMBS, unpack(expired))
  end
end
