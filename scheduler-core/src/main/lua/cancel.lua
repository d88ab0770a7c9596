-- Cancels a job: DELAYED -> gone, with a tombstone that tells a repeated call so; RESERVED stays
-- RESERVED, and its holder is told to stop if the caller wants that.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     retention: integer, ms, of tombstones
-- ARGV     id: text
-- ARGV     version: text, '<incarnation> <version>' that the caller has seen; '' for any
-- ARGV     running: 'leave' or 'interrupt', what to do with a job that is RESERVED
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     by: text, who cancels it, 1 to 64 printable characters without spaces; '' if not known
-- ARGV     operation: text, without spaces, of which this cancel is a part; '' for none
-- RETURNS  {now ms, kind, attempt, version or 0}
-- COST     at most 20 reads and 24 writes
-- WHY      no scheduler can stop a job that runs: its holder is told to stop, now and each time it
--          extends the lease, and the job is done if it finishes anyway. The message is a hint that
--          saves waiting for the next extend. The successor of the job is removed in any case:
--          after a cancel, nothing more starts under that id
--- @include lib/waiting
--- @include lib/kept
--- @include lib/next
--- @include lib/wake

local retention, id, seen = tonumber(ARGV[1]), ARGV[2], ARGV[3]

local job, behind = waiting(id, seen), successors()
if job.refused then
  local kind, tomb = job.refused, job.tomb
  local lease = kind == 'in-delivery' and ARGV[4] == 'interrupt' and lease_of(id)
  if kind == 'in-delivery' and behind then
    behind.drop(id)
  end
  if lease and lease.token then
    kind = 'cancelling'
    if not lease.cancelling then
      cancel_lease(id, lease, ARGV[7])
    end
  end
  write()
  if kind == 'cancelling' then
    announce_cancelling(id, ARGV[5], ARGV[6])
  end
  -- The same cancel again finds what it did.
  if tomb and seen ~= '' and (tomb.finished or string.match(seen, '^%S+') ~= tomb.incarnation) then
    kind = 'changed'
  end
  return { now_text, kind, job.attempt, int(job.version) }
end
local record = job.record
if record then
  local tries, due = read_tries(redis.call('HGET', TRIES, id)), job.place.score
  tries.first_due = tries.version == 1 and due or tries.first_due
  tries.version = job.version + 1
  keep_job(id, record, int(due), tries, retention, ARGV[8])
end
forget(id, record and record.tags or '')
if behind then
  behind.drop(id)
end
count('cancelled')
if record then
  add_tomb(
    id, record.incarnation, 'C', hash_of(content_of(record)), int(now + retention), ARGV[7])
end
write()
if record then
  tend_tombs(1, true)
  tend_kept(1)
end
return { now_text, 'cancelled', '0', int(job.version + 1) }
