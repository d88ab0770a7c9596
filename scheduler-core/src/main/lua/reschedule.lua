-- Gives a waiting job another due time: DELAYED stays DELAYED.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- ARGV[1]  wake-up channel
-- ARGV[2]  name of the bucket on that channel
-- ARGV[3]  id
-- ARGV[4]  'at' or 'in'
-- ARGV[5]  ms
-- RETURNS  {now, kind, due, attempt, new head due or ''}
-- COST     1 ZREM, 1 ZADD, at most 1 HSET
-- WHY      ZREM before ZADD: a full Redis refuses a script whose first write may add.
--- @include lib/now
--- @include lib/job
--- @include lib/tomb
--- @include lib/wake

local broken = check_types()
if broken then return broken end
local now = now_ms()
local id = ARGV[3]
local place = place_of(id)
if place == 'reserved' then
  return { int(now), 'in-delivery', '0', attempt_of(id), '' }
elseif place == 'dead' then
  return { int(now), 'dead', '0', '0', '' }
elseif place == 'delayed' then
  local due = tonumber(ARGV[5])
  if ARGV[4] == 'in' then
    due = now + due
  end
  local head = head_of(DELAYED)
  local tries = redis.call('HGET', TRIES, id)
  redis.call('ZREM', DELAYED, id)
  redis.call('ZADD', DELAYED, int(due), id)
  if tries then
    local t = read_tries(tries)
    t.first_due = due
    redis.call('HSET', TRIES, id, write_tries(t))
  end
  local new_head = ''
  if due < head then
    new_head = int(due)
    publish_head(ARGV[1], ARGV[2], due)
  end
  return { int(now), 'rescheduled', int(due), '0', new_head }
end
local tomb = live_tomb(id, now)
return { int(now), tomb and tomb.outcome == 'D' and 'finished' or 'unknown', '0', '0', '' }
