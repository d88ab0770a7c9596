-- Looks at one job, or at the tombstone that it left. Read only.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     id: text
-- RETURNS  {now ms} or {now ms, {id, state, at ms, record, tries, lease, error}}
-- COST     at most 7 reads
-- WHY      what a tombstone does not hold is '', as for a dead letter whose record is gone
--- @include lib/now
--- @include lib/job
--- @include lib/tomb
--- @include lib/snapshot

local broken = check_types()
if broken then return broken end
local now = now_ms()
local id = ARGV[1]

local place = places_of({ id })[1]
if place.state then
  return { int(now), snapshot(id, place) }
end
local tomb = tomb_of(id, now)
if not tomb then
  return { int(now) }
end
local ended = { state = tomb.finished and 'finished' or 'cancelled', score = tonumber(tomb.at) }
return { int(now), row(id, ended) }
