-- Changes a waiting job: its due time, its content, or both; DELAYED stays DELAYED.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     id: text
-- ARGV     version: text, '<incarnation> <due ms>' that the caller has seen; '' for any
-- ARGV     mode: 'at', 'in' or 'keep'
-- ARGV     millis: integer, epoch ms or ms from now
-- ARGV     incarnation: text, no spaces, of the new content; '' keeps the content
-- ARGV     attempts: integer, most attempts, 1 to 1000
-- ARGV     ttr: integer, ms, the job's own time to run; 0 if it has none
-- ARGV     tags: text, each behind a space; '' for none
-- ARGV     content: bytes
-- RETURNS  {now ms, kind, due ms, attempt, new head due ms or ''}
-- COST     at most 8 reads and 6 writes
-- WHY      new content is a new incarnation: a late ack of the old one must not finish it. The id
--          is removed and added again: a full Redis refuses a script whose first write may add
--- @include lib/now
--- @include lib/job
--- @include lib/tomb
--- @include lib/wake

local broken = check_types()
if broken then return broken end
local now = now_ms()
local id, version, mode, incarnation = ARGV[3], ARGV[4], ARGV[5], ARGV[7]

local place = places_of({ id })[1]
if place.state == 'reserved' then
  return { int(now), 'in-delivery', '0', attempt_of(id), '' }
elseif place.state == 'dead' then
  return { int(now), 'dead', '0', '0', '' }
elseif not place.state then
  local tomb = tomb_of(id, now)
  return { int(now), tomb and tomb.finished and 'finished' or 'unknown', '0', '0', '' }
end

local record = read_record(redis.call('HGET', JOBS, id))
local found = record and record.incarnation .. ' ' .. int(place.score)
if version ~= '' and version ~= found or incarnation ~= '' and not record then
  return { int(now), 'changed', '0', '0', '' }
end
local head, due = head_of(DELAYED), place.score
remove(DELAYED, id)
if mode ~= 'keep' then
  due = tonumber(ARGV[6]) + (mode == 'in' and now or 0)
  local tries, tried = read_tries(redis.call('HGET', TRIES, id))
  if tried then
    tries.first_due = due
    add(TRIES, id, write_tries(tries))
  end
end
if incarnation ~= '' then
  local tags = ARGV[10]
  remove_tags(id, record.tags, tags)
  add_tags(id, tags)
  add(JOBS, id, write_record(
    incarnation, ARGV[8], record.accepted, ARGV[9], tags, ARGV[11]))
end
add(DELAYED, int(due), id)
write()
return { int(now), 'revised', int(due), '0', announce_head(head, ARGV[1], ARGV[2]) }
