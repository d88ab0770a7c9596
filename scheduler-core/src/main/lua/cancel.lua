-- Cancels a waiting job: DELAYED -> gone, with a tombstone that tells a repeated call so.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     retention: integer, ms, of tombstones
-- ARGV     id: text
-- ARGV     version: text, '<incarnation> <version>' that the caller has seen; '' for any
-- RETURNS  {now ms, kind, attempt, version or 0}
-- COST     at most 9 reads and 12 writes
-- WHY      a job that is being worked on is left alone: nobody could promise that it does not run
--- @include lib/now
--- @include lib/job
--- @include lib/tomb

local broken = check_types()
if broken then return broken end
local now = now_ms()
local retention, id = tonumber(ARGV[1]), ARGV[2]

local place = places_of({ id })[1].state
if not place then
  local tomb = tomb_of(id, now)
  local kind = tomb and (tomb.finished and 'finished' or 'cancelled') or 'unknown'
  -- The same cancel again finds what it did.
  local other = tomb and string.match(ARGV[3], '^%S+') ~= tomb.incarnation
  if ARGV[3] ~= '' and (kind == 'finished' or other) then
    kind = 'changed'
  end
  return { int(now), kind, '0', '0' }
end
local record, version = read_record(redis.call('HGET', JOBS, id)), version_of(id, place)
if ARGV[3] ~= '' and ARGV[3] ~= (record and record.incarnation or '') .. ' ' .. int(version) then
  return { int(now), 'changed', '0', int(version) }
elseif place == 'reserved' then
  return { int(now), 'in-delivery', lease_of(id).attempt, int(version) }
elseif place == 'dead' then
  return { int(now), 'dead', '0', int(version) }
end
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
  tend_tombs(now, 1, true)
end
return { int(now), 'cancelled', '0', int(version + 1) }
