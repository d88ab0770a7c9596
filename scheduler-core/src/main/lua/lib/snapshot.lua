--- @include lib/keys
--- @include lib/text

-- For each id {id, state, at, record or '', tries or '', lease or '', error or ''}.
local function snapshots(state, ids, scores)
  local records = redis.call('HMGET', JOBS, unpack(ids))
  local tries = redis.call('HMGET', TRIES, unpack(ids))
  local leases = redis.call('HMGET', LEASES, unpack(ids))
  local errors = redis.call('HMGET', ERRORS, unpack(ids))
  local result = {}
  for i = 1, #ids do
    result[i] = {
      ids[i], state, int(scores[i]),
      records[i] or '', tries[i] or '', leases[i] or '', errors[i] or '',
    }
  end
  return result
end
