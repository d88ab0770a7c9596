-- Undoes a cancel: gone -> DELAYED, as the job was, and due now if it fell due meanwhile; RESERVED
-- that was told to stop stays RESERVED, and may go on.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     id: text
-- ARGV     operation: text, which must have cancelled the job; '' for whatever did
-- RETURNS  {now ms, kind, due ms or 0, attempt, new head due ms or '', version or 0,
--          incarnation or ''}
-- COST     at most 15 reads and 11 writes
-- WHY      the tombstone says which job of that id was cancelled last, so that what was kept of an
--          earlier one is never put back. The first write adds: a full Redis refuses the call. A
--          note of the undo is kept, so that a repeated call gets the same answer
--- @include lib/kept
--- @include lib/wake

local id, operation = ARGV[3], ARGV[4]

local function answer(kind, due, attempt, head, version, incarnation)
  return { now_text, kind, due, attempt, head, int(version), incarnation }
end

local place, kept = places_of({ id })[1], kept_of(id)
if place.state then
  local record = read_record(redis.call('HGET', JOBS, id))
  local incarnation, due, attempt = record and record.incarnation or '', int(place.score), '0'
  local lease = place.state == 'reserved' and lease_of(id)
  local kind = kept and kept.undone == incarnation and 'restored' or 'exists'
  if lease then
    attempt, due = lease.attempt, lease.due and int(lease.due) or '0'
  end
  if lease and lease.cancelling and operation == '' then
    proceed_lease(id, lease)
    if record then
      keep_undone(id, incarnation)
    end
    write_additions()
    tend_kept(1)
    kind = 'restored'
  elseif place.state == 'dead' then
    due = '0'
  end
  return answer(kind, due, attempt, '', version_of(id, place.state), incarnation)
end

local refused = refusal_of(tomb_of(id), kept)
if not refused and operation ~= '' and kept.operation ~= operation then
  refused = 'changed'
end
if refused then
  return answer(refused, '0', '0', '', 0, '')
end

local head, record, tries = head_of(DELAYED), kept.record, kept.tries
local due = tonumber(kept.due)
if due < now then
  -- While it was cancelled, it was not late.
  due, tries.first_due = now, now
end
tries.version = tries.version + 1
put(id, int(due), record.text, record.tags)
add(TRIES, id, write_tries(tries))
if kept.errors ~= '' then
  add(ERRORS, id, kept.errors)
end
keep_undone(id, record.incarnation, kept)
count('restored')
remove(DONE, id)
remove(TOMBS, id)
write_additions()
write_removals()
tend_kept(1)
return answer(
  'restored', int(due), '0', announce_head(head, ARGV[1], ARGV[2]), tries.version,
  record.incarnation)
