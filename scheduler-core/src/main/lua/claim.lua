-- Hands out what is due: DELAYED -> RESERVED, earliest first.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- ARGV     max: integer, 1 to 200
-- ARGV     lease: integer, ms
-- ARGV     token: text, no spaces
-- ARGV     owner: text, no spaces
-- RETURNS  {now ms, next due ms or '', next lease deadline ms or '', {corrupt id...},
--          {id, due ms, attempt, record, tries or ''}...}
-- COST     for all jobs 5 reads and 3 writes
-- WHY      a delayed id without a sound record is moved to the dead letters and reported: dropping
--          it would hide a loss, and handing it out would break every claim after this one
--- @include lib/now
--- @include lib/job

local broken = check_types()
if broken then return broken end
local now = now_ms()
local deadline, token, owner = now + tonumber(ARGV[2]), ARGV[3], ARGV[4]

local due = redis.call(
  'ZRANGEBYSCORE', DELAYED, '-inf', int(now), 'WITHSCORES', 'LIMIT', 0, tonumber(ARGV[1]))
local corrupt, claimed = {}, {}
if #due > 0 then
  local ids = {}
  for i = 1, #due, 2 do
    ids[#ids + 1] = due[i]
  end
  local records = redis.call('HMGET', JOBS, unpack(ids))
  local tries = redis.call('HMGET', TRIES, unpack(ids))
  for i, id in ipairs(ids) do
    if read_record(records[i]) then
      local t, score = read_tries(tries[i]), int(tonumber(due[2 * i]))
      local attempt = int(t.unknown + t.failed + 1)
      remove(DELAYED, id)
      add(RESERVED, int(deadline), id)
      add(LEASES, id,
        table.concat({ token, attempt, int(t.suspect), int(now), score, owner }, ' '))
      claimed[#claimed + 1] = { id, score, attempt, records[i], tries[i] or '' }
    else
      corrupt[#corrupt + 1] = id
      bury_corrupt(id, now)
    end
  end
  write()
end
return {
  int(now), int_or_empty(head_of(DELAYED)), int_or_empty(head_of(RESERVED)), corrupt,
  unpack(claimed),
}
