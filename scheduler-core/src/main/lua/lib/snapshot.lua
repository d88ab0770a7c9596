--- @include lib/job

-- A job as people look at it: {id, state, at, record or '', tries or '', lease or '', errors or ''}.
local function row(id, place, record, tries, lease, errors)
  return {
    id, place.state, int(place.score), record or '', tries or '', lease or '', errors or '',
  }
end

-- The whole of one job that is in a state.
local function snapshot(id, place)
  local record = redis.call('HGET', JOBS, id)
  local tries = redis.call('HGET', TRIES, id)
  local lease = redis.call('HGET', LEASES, id)
  local errors = redis.call('HGET', ERRORS, id)
  return row(id, place, record, tries, lease, errors)
end

-- Redis does nothing else meanwhile.
local MOST_READ = 4 * 1024 * 1024

-- For each id a row, whose record ends where the content begins; the ids must be in a state. Fewer
-- than there are ids once so many bytes were read, one at least.
local function outlines(ids, places)
  local tries = redis.call('HMGET', TRIES, unpack(ids))
  local leases = redis.call('HMGET', LEASES, unpack(ids))
  local errors = redis.call('HMGET', ERRORS, unpack(ids))
  local result, bytes = {}, 0
  for i, id in ipairs(ids) do
    local record = redis.call('HGET', JOBS, id) or ''
    local _, content_at = parse_record(record)
    local outline = content_at and string.sub(record, 1, content_at - 1)
    result[i] = row(id, places[i], outline, tries[i], leases[i], errors[i])
    bytes = bytes + #record
    if bytes >= MOST_READ then
      break
    end
  end
  return result
end
