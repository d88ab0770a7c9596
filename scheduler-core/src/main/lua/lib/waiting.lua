--- @include lib/job
--- @include lib/tomb

-- A job that a caller wants to change, and the version that the caller has seen, '' for any:
-- {refused, attempt, version, incarnation, record, place, tomb}; refused says why it cannot be
-- changed, and is nil if it waits.
local function waiting(id, seen)
  local place = places_of({ id })[1]
  if not place.state then
    local tomb = tomb_of(id)
    local ended = tomb and (tomb.finished and 'finished' or 'cancelled') or 'unknown'
    return { refused = ended, attempt = '0', version = 0, incarnation = '', tomb = tomb }
  end
  local record = read_record(redis.call('HGET', JOBS, id))
  local job = {
    attempt = '0',
    version = version_of(id, place.state),
    incarnation = record and record.incarnation or '',
    record = record,
    place = place,
  }
  if is_other(seen, job.incarnation, job.version) then
    job.refused = 'changed'
  elseif place.state == 'reserved' then
    job.refused, job.attempt = 'in-delivery', lease_of(id).attempt
  elseif place.state == 'dead' then
    job.refused = 'dead'
  end
  return job
end
