-- Cancels a waiting job: DELAYED -> gone, with a tombstone that tells a repeated call so.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     retention: integer, ms, of tombstones
-- ARGV     id: text
-- RETURNS  {now ms, kind, attempt}
-- COST     at most 6 reads and 12 writes
-- WHY      a job that is being worked on is left alone: nobody could promise that it does not run
--- @include lib/now
--- @include lib/job
--- @include lib/tomb

local broken = check_types()
if broken then return broken end
local now = now_ms()
local retention, id = tonumber(ARGV[1]), ARGV[2]

local place = places_of({ id })[1].state
if place == 'reserved' then
  return { int(now), 'in-delivery', attempt_of(id) }
elseif place == 'dead' then
  return { int(now), 'dead', '0' }
elseif place == 'delayed' then
  local record = read_record(redis.call('HGET', JOBS, id))
  for _, key in ipairs({ DELAYED, TRIES, ERRORS, JOBS }) do
    remove(key, id)
  end
  count('cancelled')
  if record then
    remove_tags(id, record.tags)
    add_tomb(
      id, record.incarnation, 'C', hash_of(content_of(record)), int(now), int(now + retention))
  end
  write()
  if record then
    tend_tombs(now, 1, retention)
  end
  return { int(now), 'cancelled', '0' }
end
local tomb = tomb_of(id, now)
if not tomb then
  return { int(now), 'unknown', '0' }
end
return { int(now), tomb.finished and 'finished' or 'cancelled', '0' }
