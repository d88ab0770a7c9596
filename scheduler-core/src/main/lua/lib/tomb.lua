--- @include lib/batch

-- The tombstone of an id, or nil; an expired one counts as none, trimmed or not.
-- '<incarnation>[,<note>] <D or C> <hash> <atMs>'; the note says how the job ended, and is '' if that
-- is not known. Of D '<attempt>,<claimedMs>,<late ms>,<where or ->', of C who cancelled the job.
local function live_tomb(id, expires)
  if not expires or tonumber(expires) <= now then
    return nil
  end
  local incarnation, note, outcome, hash, at = string.match(
    redis.call('HGET', TOMBS, id) or '', '^([^%s,]+),?(%S*) ([DC]) (%x+) (%d+)$')
  if not incarnation then
    return nil
  end
  return {
    incarnation = incarnation, note = note, finished = outcome == 'D', hash = hash, at = at,
    expires = tonumber(expires),
  }
end

local function tomb_of(id)
  return live_tomb(id, redis.call('ZSCORE', DONE, id))
end

local function hash_of(content)
  return string.sub(redis.sha1hex(content), 1, 20)
end

-- The outcome is D or C; the time at which it expires is text. A note stands where a scheduler of an
-- earlier release reads on: it takes the note for a part of the incarnation.
local function add_tomb(id, incarnation, outcome, hash, expires, note)
  local named = note == '' and incarnation or incarnation .. ',' .. note
  add(DONE, expires, id)
  add(TOMBS, id, named .. ' ' .. outcome .. ' ' .. hash .. ' ' .. now_text)
end

-- Removes expired tombstones, at most so many that the cost stays that of the call itself. After
-- tombstones were added, both keys expire with the last tombstone, so that a quiet queue loses them,
-- too. The last one decides, not the caller's retention: another engine may keep them longer.
local function tend_tombs(jobs, added)
  local expired = redis.call('ZRANGEBYSCORE', DONE, '-inf', now_text, 'LIMIT', 0, 32 + 2 * jobs)
  if #expired > 0 then
    redis.call('HLEN', TOMBS)
    redis.call('ZREM', DONE, unpack(expired))
    redis.call('HDEL', TOMBS, unpack(expired))
  end
  if added then
    local last = redis.call('ZRANGE', DONE, -1, -1, 'WITHSCORES')[2]
    redis.call('PEXPIRE', DONE, int(last - now))
    redis.call('PEXPIRE', TOMBS, int(last - now))
  end
end
