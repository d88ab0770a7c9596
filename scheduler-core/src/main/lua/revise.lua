-- Changes a waiting job: its due time, its content, or both; DELAYED stays DELAYED.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     id: text
-- ARGV     version: text, '<incarnation> <version>' that the caller has seen; '' for any
-- ARGV     mode: 'at', 'in' or 'keep'
-- ARGV     millis: integer, epoch ms or ms from now
-- ARGV     tags: text, of the new content, each behind a space; '' for none
-- ARGV     record: bytes, as it is stored, but for when it was accepted; '' keeps the content
-- RETURNS  {now ms, kind, due ms, attempt, new head due ms or '', version or 0, incarnation or ''}
-- COST     at most 9 reads and 6 writes
-- WHY      new content is a new incarnation: a late ack of the old one must not finish it. The id
--          is removed and added again: a full Redis refuses a script whose first write may add
--- @include lib/waiting
--- @include lib/wake

local id, seen, mode, new = ARGV[3], ARGV[4], ARGV[5], ARGV[8]

local job = waiting(id, seen)
local record, version, refused = job.record, job.version, job.refused
if job.tomb and seen ~= '' or not refused and new ~= '' and not record then
  refused = 'changed'
elseif refused == 'cancelled' then
  refused = 'unknown'
end
if refused then
  return { now_text, refused, '0', job.attempt, '', int(version), job.incarnation }
end

local head, due = head_of(DELAYED), int(job.place.score)
local tries = read_tries(redis.call('HGET', TRIES, id))
if mode ~= 'keep' then
  due = int(tonumber(ARGV[6]) + (mode == 'in' and now or 0))
end
if mode ~= 'keep' or tries.version == 1 then
  tries.first_due, tries.attempt_due = tonumber(due), nil
end
tries.version = version + 1
add(TRIES, id, write_tries(tries))
local incarnation = job.incarnation
if new == '' then
  move(id, DELAYED, DELAYED, due)
else
  local text, tags = record.accepted .. new, ARGV[7]
  remove(DELAYED, id)
  remove_tags(id, record.tags, tags)
  put(id, due, text, tags)
  incarnation = parse_record(text)
end
write()
return {
  now_text, 'revised', due, '0', announce_head(head, ARGV[1], ARGV[2]), int(version + 1),
  incarnation,
}
