-- Gives a waiting job another due time: DELAYED stays DELAYED.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     id: text
-- ARGV     mode: 'at' or 'in'
-- ARGV     millis: integer, epoch ms or ms from now
-- RETURNS  {now ms, kind, due ms, attempt, new head due ms or ''}
-- COST     at most 7 reads and 3 writes
-- WHY      the id is removed and added again: a full Redis refuses a script whose first write may
--          add
--- @include lib/now
--- @include lib/job
--- @include lib/tomb
--- @include lib/wake

local broken = check_types()
if broken then return broken end
local now = now_ms()
local id, due = ARGV[3], tonumber(ARGV[5])
if ARGV[4] == 'in' then
  due = now + due
end

local place = places_of({ id })[1].state
if place == 'reserved' then
  return { int(now), 'in-delivery', '0', attempt_of(id), '' }
elseif place == 'dead' then
  return { int(now), 'dead', '0', '0', '' }
elseif place == 'delayed' then
  local head = head_of(DELAYED)
  local tries, tried = read_tries(redis.call('HGET', TRIES, id))
  remove(DELAYED, id)
  add(DELAYED, int(due), id)
  if tried then
    tries.first_due = due
    add(TRIES, id, write_tries(tries))
  end
  write()
  return { int(now), 'rescheduled', int(due), '0', announce_head(head, ARGV[1], ARGV[2]) }
end
local tomb = tomb_of(id, now)
return { int(now), tomb and tomb.finished and 'finished' or 'unknown', '0', '0', '' }
