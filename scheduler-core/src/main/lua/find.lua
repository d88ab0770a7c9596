-- Looks at one job, or at the tombstone that it left. Read only.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     id: text
-- RETURNS  {now ms} or {now ms, {id, state, at ms, record, tries, lease, error}, when what waits for
--          the end of the job would be due if it ended now, or ''}; of a tombstone, the error is
--          followed by the note of its end and, in epoch ms or '', until when it can be undone
-- COST     at most 10 reads
-- WHY      what a tombstone does not hold is '', as for a dead letter whose record is gone
--- @include lib/kept
--- @include lib/snapshot
--- @include lib/next

local id = ARGV[1]

local place = places_of({ id })[1]
if place.state then
  local behind = successors()
  local successor = behind and behind.of(id)
  return { now_text, snapshot(id, place), successor and int(behind.due(successor)) or '' }
end
local tomb = tomb_of(id)
if not tomb then
  return { now_text }
end
local ended = { state = tomb.finished and 'finished' or 'cancelled', score = tonumber(tomb.at) }
local found = row(id, ended)
found[#found + 1] = tomb.note
local kept = not tomb.finished and kept_of(id)
local refused = refusal_of(tomb, kept)
found[#found + 1] = refused and '' or int(math.min(kept.until_ms, tomb.expires))
return { now_text, found, '' }
