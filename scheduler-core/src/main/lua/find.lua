-- Looks at one job, or at the tombstone that it left. Read only.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- ARGV[1]  id
-- RETURNS  {now} or {now, {id, state, at, record, tries, lease, error}}
-- COST     at most 8 reads
--- @include lib/now
--- @include lib/tomb
--- @include lib/snapshot

local broken = check_types()
if broken then return broken end
local now = now_ms()
local id = ARGV[1]
local place, score = place_of(id)
if place then
  return { int(now), snapshot(id, place, score) }
end
local tomb = live_tomb(id, now)
if not tomb then
  return { int(now) }
end
return { int(now), { id, tomb.outcome == 'D' and 'finished' or 'cancelled', tomb.at, '', '', '', '' } }
