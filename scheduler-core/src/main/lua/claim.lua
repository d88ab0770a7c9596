-- Hands out what is due: DELAYED -> RESERVED, earliest first.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- ARGV[1]  most jobs, 1 to 200
-- ARGV[2]  lease, ms
-- ARGV[3]  lease token, no spaces
-- ARGV[4]  owner of the lease, no spaces
-- RETURNS  {now, next due or '', next lease deadline or '', {corrupt id...}, {id, due, attempt, record, tries or ''}...}
-- COST     per job: 1 ZREM, 1 ZADD, 1 HSET, and a part of 2 HMGET
-- WHY      a delayed id without a record is moved to the dead letters and reported: dropping it would hide a loss.
--- @include lib/now
--- @include lib/job

local broken = check_types()
if broken then return broken end
local now = now_ms()
local lease_ms, token, owner = tonumber(ARGV[2]), ARGV[3], ARGV[4]

local due = redis.call('ZRANGEBYSCORE', DELAYED, '-inf', int(now), 'WITHSCORES', 'LIMIT', 0, ARGV[1])
local result = { int(now), '', '', {} }
if #due > 0 then
  local ids = {}
  for i = 1, #due, 2 do
    ids[#ids + 1] = due[i]
  end
  local records = redis.call('HMGET', JOBS, unpack(ids))
  local tries = redis.call('HMGET', TRIES, unpack(ids))
  redis.call('ZREM', DELAYED, unpack(ids))
  for i = 1, #ids do
    local id, score = ids[i], int(tonumber(due[2 * i]))
    if not records[i] then
      table.insert(result[4], id)
      bury_corrupt(id, now)
    else
      local t = read_tries(tries[i])
      local attempt = int(t.unknown + t.failed + 1)
      redis.call('ZADD', RESERVED, int(now + lease_ms), id)
      redis.call('HSET', LEASES, id,
        table.concat({ token, attempt, int(t.suspect), int(now), score, owner }, ' '))
      result[#result + 1] = { id, score, attempt, records[i], tries[i] or '' }
    end
  end
end
result[2] = int_or_empty(head_of(DELAYED))
result[3] = int_or_empty(head_of(RESERVED))
return result
