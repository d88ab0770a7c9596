-- Changes a waiting job: its due time, its content, or both; DELAYED stays DELAYED.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     id: text
-- ARGV     version: text, '<incarnation> <version>' that the caller has seen; '' for any
-- ARGV     mode: 'at', 'in' or 'keep'
-- ARGV     millis: integer, epoch ms or ms from now
-- ARGV     incarnation: text, no spaces, of the new content; '' keeps the content
-- ARGV     attempts: integer, most attempts, 1 to 1000
-- ARGV     ttr: integer, ms, the job's own time to run; 0 if it has none
-- ARGV     tags: text, each behind a space; '' for none
-- ARGV     content: bytes
-- RETURNS  {now ms, kind, due ms, attempt, new head due ms or '', version or 0, incarnation or ''}
-- COST     at most 9 reads and 6 writes
-- WHY      new content is a new incarnation: a late ack of the old one must not finish it. The id
--          is removed and added again: a full Redis refuses a script whose first write may add
--- @include lib/now
--- @include lib/job
--- @include lib/tomb
--- @include lib/wake

local broken = check_types()
if broken then return broken end
local now = now_ms()
local id, seen, mode, incarnation = ARGV[3], ARGV[4], ARGV[5], ARGV[7]

local function refused(kind, attempt, version, found)
  return { int(now), kind, '0', attempt, '', int(version), found }
end

local place = places_of({ id })[1]
if not place.state then
  local tomb = tomb_of(id, now)
  local kind = tomb and tomb.finished and 'finished' or 'unknown'
  return refused(seen ~= '' and tomb and 'changed' or kind, '0', 0, '')
end
local record = read_record(redis.call('HGET', JOBS, id))
local found, version = record and record.incarnation or '', version_of(id, place.state)
if seen ~= '' and seen ~= found .. ' ' .. int(version) then
  return refused('changed', '0', version, found)
elseif place.state == 'reserved' then
  return refused('in-delivery', lease_of(id).attempt, version, found)
elseif place.state == 'dead' then
  return refused('dead', '0', version, found)
elseif incarnation ~= '' and not record then
  return refused('changed', '0', version, found)
end

local head, due = head_of(DELAYED), place.score
local tries = read_tries(redis.call('HGET', TRIES, id))
remove(DELAYED, id)
if mode ~= 'keep' then
  due = tonumber(ARGV[6]) + (mode == 'in' and now or 0)
end
if mode ~= 'keep' or tries.version == 1 then
  tries.first_due = due
end
tries.version = version + 1
add(TRIES, id, write_tries(tries))
if incarnation ~= '' then
  local tags = ARGV[10]
  remove_tags(id, record.tags, tags)
  add_tags(id, tags)
  add(JOBS, id, write_record(
    incarnation, ARGV[8], record.accepted, ARGV[9], tags, ARGV[11]))
end
add(DELAYED, int(due), id)
write()
return {
  int(now), 'revised', int(due), '0', announce_head(head, ARGV[1], ARGV[2]), int(version + 1),
  incarnation ~= '' and incarnation or found,
}
