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
-- ARGV     trace: text, no spaces; '-' for none
-- ARGV     submitter: text, no spaces; '-' for none
-- ARGV     tags: text, each behind a space; '' for none
-- ARGV     content: bytes
-- RETURNS  {now ms, kind, due ms, attempt, new head due ms or '', version or 0, incarnation or ''}
-- COST     at most 9 reads and 6 writes
-- WHY      new content is a new incarnation: a late ack of the old one must not finish it. The id
--          is removed and added again: a full Redis refuses a script whose first write may add
--- @include lib/waiting
--- @include lib/wake

local id, seen, mode, incarnation = ARGV[3], ARGV[4], ARGV[5], ARGV[7]

local job = waiting(id, seen)
local record, version, refused = job.record, job.version, job.refused
if job.tomb and seen ~= '' or not refused and incarnation ~= '' and not record then
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
  due = int(due_of(mode, ARGV[6]))
end
if mode ~= 'keep' or tries.version == 1 then
  tries.first_due = tonumber(due)
end
tries.version = version + 1
add(TRIES, id, write_tries(tries))
if incarnation == '' then
  move(id, DELAYED, DELAYED, due)
else
  local tags = ARGV[12]
  remove(DELAYED, id)
  remove_tags(id, record.tags, tags)
  put({
    id = id, incarnation = incarnation, due = due, max_attempts = ARGV[8],
    accepted = record.accepted, ttr = ARGV[9], trace = ARGV[10], submitter = ARGV[11],
    tags = tags, content = ARGV[13],
  })
end
write()
return {
  now_text, 'revised', due, '0', announce_head(head, ARGV[1], ARGV[2]), int(version + 1),
  incarnation ~= '' and incarnation or job.incarnation,
}
