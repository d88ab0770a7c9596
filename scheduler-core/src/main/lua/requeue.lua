-- Gives dead letters a new life: DEAD -> DELAYED, with a fresh budget of attempts.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     delay: integer, ms
-- EACH     id: text
-- RETURNS  {now ms, new head due ms or '', id...}
-- COST     for all jobs 6 reads and 4 writes
-- WHY      totals and the last error stay: what happened is part of the job's story
--- @include lib/now
--- @include lib/job
--- @include lib/wake

local broken = check_types()
if broken then return broken end
local now = now_ms()
local due = now + tonumber(ARGV[3])

local ids = {}
for i = 4, #ARGV do
  ids[#ids + 1] = ARGV[i]
end
local result = { int(now), '' }
if #ids > 0 then
  local head = head_of(DELAYED)
  local records = redis.call('HMGET', JOBS, unpack(ids))
  local tries = redis.call('HMGET', TRIES, unpack(ids))
  local deaths = redis.call('ZMSCORE', DEAD, unpack(ids))
  local seen = {}
  for i, id in ipairs(ids) do
    if deaths[i] and read_record(records[i]) and not seen[id] then
      seen[id] = true
      local t = read_tries(tries[i])
      t.counted, t.delivered, t.suspect, t.first_due = 0, 0, 0, due
      remove(DEAD, id)
      add(DELAYED, int(due), id)
      add(TRIES, id, write_tries(t))
      count('requeued')
      result[#result + 1] = id
    end
  end
  write()
  result[2] = announce_head(head, ARGV[1], ARGV[2])
end
return result
