--- @include lib/job

-- Ends a failed attempt of a reserved job: counts it, and makes it wait again or dead. Shared by settle and expire,
-- so that the rule of the limits stands in one place. Returns 'retry' and the due time, or 'dead' and 0.
local function end_attempt(id, lease, kind, delay, alone, note, now, stored)
  local _, max_attempts = read_header(stored)
  local tries = read_tries(redis.call('HGET', TRIES, id))
  if tries.first_due == 0 then
    tries.first_due = lease.due
  end
  if kind == 'undeliverable' then
    tries.undeliverable = tries.undeliverable + 1
  else
    tries.delivered = tries.delivered + 1
    if kind == 'unknown' or kind == 'lease' then
      tries.unknown = tries.unknown + 1
      tries.counted = tries.counted + alone
      tries.suspect = 1
    else
      tries.failed = tries.failed + 1
      tries.counted = tries.counted + 1
      tries.suspect = 0
    end
  end
  local disposition = 'retry'
  if kind == 'reject' then
    disposition = 'dead-rejected'
  elseif kind ~= 'undeliverable' then
    if tries.counted >= max_attempts then
      disposition = 'dead-attempts'
    elseif tries.delivered >= 3 * max_attempts then
      disposition = 'dead-deliveries'
    end
  end

  redis.call('ZREM', RESERVED, id)
  redis.call('HDEL', LEASES, id)
  local due = now + delay
  if disposition == 'retry' then
    redis.call('ZADD', DELAYED, int(due), id)
  else
    redis.call('ZADD', DEAD, int(now), id)
    redis.call('HINCRBY', STATS, 'dead', 1)
  end
  redis.call('HSET', TRIES, id, write_tries(tries))
  redis.call('HSET', ERRORS, id, int(now) .. ' ' .. kind .. ' ' .. disposition .. '\n' .. note)
  if disposition == 'retry' then
    return 'retry', due
  end
  return 'dead', 0
end
