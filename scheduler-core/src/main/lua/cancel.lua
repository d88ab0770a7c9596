-- Cancels a waiting job: DELAYED -> gone, with a tombstone that tells a repeated call so.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     retention: integer, ms, of tombstones
-- ARGV     id: text
-- ARGV     version: text, '<incarnation> <version>' that the caller has seen; '' for any
-- RETURNS  {now ms, kind, attempt, version or 0}
-- COST     at most 9 reads and 15 writes
-- WHY      a job that is being worked on is left alone: nobody could promise that it does not run
--- @include lib/waiting

local retention, id, seen = tonumber(ARGV[1]), ARGV[2], ARGV[3]

local job = waiting(id, seen)
if job.refused then
  local kind, tomb = job.refused, job.tomb
  -- The same cancel again finds what it did.
  if tomb and seen ~= '' and (tomb.finished or string.match(seen, '^%S+') ~= tomb.incarnation) then
    kind = 'changed'
  end
  return { now_text, kind, job.attempt, int(job.version) }
end
local record = job.record
forget(id, record and record.tags or '')
count('cancelled')
if record then
  add_tomb(id, record.incarnation, 'C', hash_of(content_of(record)), int(now + retention))
end
write()
if record then
  tend_tombs(1, true)
end
return { now_text, 'cancelled', '0', int(job.version + 1) }
