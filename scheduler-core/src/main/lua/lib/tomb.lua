--- @include lib/keys
--- @include lib/text
--- @include lib/batch

-- The tombstone of an id, or nil; an expired one counts as none, trimmed or not.
-- '<incarnation> <D or C> <hash> <atMs>'
local function live_tomb(id, expires, now)
  if not expires or tonumber(expires) <= now then
    return nil
  end
  local incarnation, outcome, hash, at =
    string.match(redis.call('HGET', TOMBS, id) or '', '^(%S+) ([DC]) (%x+) (%d+)$')
  if not incarnation then
    return nil
  end
  return { incarnation = incarnation, finished = outcome == 'D', hash = hash, at = at }
end

local function tomb_of(id, now)
  return live_tomb(id, redis.call('ZSCORE', DONE, id), now)
end

local function hash_of(content)
  return string.sub(redis.sha1hex(content), 1, 20)
end

-- Both times as text.
local function add_tomb(id, incarnation, outcome, hash, at, expires)
  add(DONE, expires, id)
  add(TOMBS, id, incarnation .. ' ' .. outcome .. ' ' .. hash .. ' ' .. at)
end

-- To be called after tombstones were written. Removes expired ones, at most so many that the cost
-- stays that of the call itself; and lets those of a queue that falls quiet go by themselves.
local function tend_tombs(now, jobs, retention)
  local expired = redis.call('ZRANGEBYSCORE', DONE, '-inf', int(now), 'LIMIT', 0, 32 + 2 * jobs)
  if #expired > 0 then
    redis.call('ZREM', DONE, unpack(expired))
    redis.call('HDEL', TOMBS, unpack(expired))
  end
  if retention then
    redis.call('PEXPIRE', DONE, int(retention))
    redis.call('PEXPIRE', TOMBS, int(retention))
  end
end
