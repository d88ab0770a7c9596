--- @include lib/job

-- For each id {id, state, at, record or '', tries or '', lease or '', errors or ''}; the
-- ids must be in a state.
local function snapshots(ids, places)
  local records = redis.call('HMGET', JOBS, unpack(ids))
  local tries = redis.call('HMGET', TRIES, unpack(ids))
  local leases = redis.call('HMGET', LEASES, unpack(ids))
  local errors = redis.call('HMGET', ERRORS, unpack(ids))
  local result = {}
  for i = 1, #ids do
    result[i] = {
      ids[i], places[i].state, int(places[i].score),
      records[i] or '', tries[i] or '', leases[i] or '', errors[i] or '',
    }
  end
  return result
end
