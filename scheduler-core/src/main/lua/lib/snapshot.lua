--- @include lib/job

-- {id, state, at, record or '', tries or '', lease or '', error or ''}
local function snapshot(id, state, at)
  return {
    id, state, int(at),
    redis.call('HGET', JOBS, id) or '',
    redis.call('HGET', TRIES, id) or '',
    redis.call('HGET', LEASES, id) or '',
    redis.call('HGET', ERRORS, id) or '',
  }
end
