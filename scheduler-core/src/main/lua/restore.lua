-- Puts back what a fail-over forgot, one job after the other: nothing -> DELAYED, DELAYED with its
-- later content or due time, anything -> gone.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     retention: integer, ms, of tombstones
-- EACH     kind: 'waiting', 'changed', 'done' or 'cancelled'
-- EACH     id: text
-- EACH     incarnation: text, no spaces
-- EACH     at: integer, epoch ms, due time of a job that waits, or when it ended
-- EACH     accepted: integer, epoch ms, when it was stored; 0 for one that ended
-- EACH     attempts: integer, most attempts, 1 to 1000; 0 for one that ended
-- EACH     ttr: integer, ms, the job's own time to run; 0 if it has none
-- EACH     tags: text, each behind a space; '' for none
-- EACH     content: bytes; '' for one that ended
-- RETURNS  {now ms, new head due ms or '', kind...}
-- COST     per job at most 7 reads and 12 writes
-- WHY      what is there is kept where it is the same or newer, so that any number of schedulers may
--          put back what each of them remembers, in any order
--- @include lib/now
--- @include lib/job
--- @include lib/tomb
--- @include lib/wake

local broken = check_types()
if broken then return broken end
local now = now_ms()
local expires = int(now + tonumber(ARGV[3]))
local OUTCOMES = { done = 'D', cancelled = 'C' }

local function drop(id, record)
  for _, key in ipairs({ DELAYED, RESERVED, DEAD, LEASES, TRIES, ERRORS, JOBS }) do
    remove(key, id)
  end
  remove_tags(id, record.tags)
end

local function store(job)
  add(JOBS, job.id, write_record(
    job.incarnation, job.attempts, accepted_at(job.accepted), job.ttr, job.tags, job.content))
  add(DELAYED, job.at, job.id)
  add_tags(job.id, job.tags)
end

local function is_later(job, record)
  local accepted = accepted_at(job.accepted)
  return record.accepted < accepted or record.accepted == accepted and job.kind == 'changed'
end

local function put_back(job, record, place)
  if not record then
    local tomb = tomb_of(job.id, now)
    if place.state or tomb and (
      tomb.incarnation == job.incarnation or tonumber(tomb.at) >= job.accepted) then
      return 'kept'
    end
    remove(DONE, job.id)
    remove(TOMBS, job.id)
    store(job)
    return 'stored'
  elseif record.incarnation == job.incarnation then
    if job.kind == 'waiting' or place.state ~= 'delayed' or int(place.score) == job.at then
      return 'kept'
    end
    remove(DELAYED, job.id)
    add(DELAYED, job.at, job.id)
    return 'changed'
  elseif place.state == 'reserved' or not is_later(job, record) then
    return 'kept'
  end
  drop(job.id, record)
  write()
  store(job)
  return 'changed'
end

local function bury(job, record, place)
  local hash = UNKNOWN_HASH
  if record and record.incarnation == job.incarnation then
    if job.kind == 'cancelled' and place.state ~= 'delayed' then
      return 'kept'
    end
    hash = hash_of(content_of(record))
    drop(job.id, record)
  else
    local tomb = tomb_of(job.id, now)
    local later = tomb and tonumber(tomb.at) - tonumber(job.at)
    if record or place.state or later == 0 then
      return 'kept'
    elseif later and later > 0 then
      local again = tomb.incarnation == job.incarnation and tomb.finished and job.kind == 'done'
      return again and 'repeated' or 'kept'
    end
  end
  add_tomb(job.id, job.incarnation, OUTCOMES[job.kind], hash, job.at, expires)
  return record and 'ended' or 'remembered'
end

local head, ended = head_of(DELAYED), 0
local result = { int(now), '' }
for i = 4, #ARGV, 9 do
  local job = {
    kind = ARGV[i],
    id = ARGV[i + 1],
    incarnation = ARGV[i + 2],
    at = ARGV[i + 3],
    accepted = tonumber(ARGV[i + 4]),
    attempts = ARGV[i + 5],
    ttr = ARGV[i + 6],
    tags = ARGV[i + 7],
    content = ARGV[i + 8],
  }
  local record = read_record(redis.call('HGET', JOBS, job.id))
  local place = places_of({ job.id })[1]
  local restore = OUTCOMES[job.kind] and bury or put_back
  local kind = restore(job, record, place)
  result[#result + 1] = kind
  ended = ended + ((kind == 'ended' or kind == 'remembered') and 1 or 0)
  write()
end
if ended > 0 then
  tend_tombs(now, ended, tonumber(ARGV[3]))
end
result[2] = announce_head(head, ARGV[1], ARGV[2])
return result
