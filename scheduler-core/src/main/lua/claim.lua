-- Hands out what is due: DELAYED -> RESERVED, earliest first.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     max: integer, 1 to 200
-- ARGV     lease: integer, ms
-- ARGV     terms: 'push', 'own' or 'given'; the last two are those of a pull, and with 'own' the
--          jobs' own times to run come before that lease
-- ARGV     token: text, no spaces
-- ARGV     owner: text, no spaces
-- RETURNS  {now ms, next due ms or '', next lease deadline ms or '', paused since ms or '',
--          {corrupt id...}, {id, due ms, attempt, record, tries or ''}...}
-- COST     for all jobs at most 7 reads and 3 writes
-- WHY      who pulls has its own answer for each job, so that an attempt counts as one that
--          travelled alone; a paused bucket hands out nothing, and hides what is due, so that
--          nobody keeps looking; a delayed id without a sound record is moved to the dead letters
--          and reported: dropping it would hide a loss, and handing it out would break every
--          claim after this one
--- @include lib/now
--- @include lib/job

local broken = check_types()
if broken then return broken end
local now = now_ms()
local lease, terms, token, owner = tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]

local paused = redis.call('HGET', CONTROL, 'paused')
local due = paused and {} or redis.call(
  'ZRANGEBYSCORE', DELAYED, '-inf', int(now), 'WITHSCORES', 'LIMIT', 0, tonumber(ARGV[1]))
local corrupt, claimed = {}, {}
if #due > 0 then
  local ids = {}
  for i = 1, #due / 2 do
    ids[i] = due[2 * i - 1]
  end
  local records = redis.call('HMGET', JOBS, unpack(ids))
  -- Mostly nothing has failed.
  local tries = redis.call('HLEN', TRIES) > 0
    and redis.call('HMGET', TRIES, unpack(ids)) or {}
  local now_text, deadline_text = int(now), int(now + lease)
  local alone_at_first = terms == 'push' and '0' or '1'
  for i, id in ipairs(ids) do
    local record = records[i]
    local sound, _, own = parse_record(record or '')
    if sound then
      local deadline = terms == 'own' and own > 0 and int(now + own) or deadline_text
      local attempt, alone = '1', alone_at_first
      if tries[i] then
        local t = read_tries(tries[i])
        attempt, alone = int(t.unknown + t.failed + 1), terms == 'push' and int(t.suspect) or '1'
      end
      -- Whatever somebody else may have written: a due time is an integer.
      local score = int(tonumber(due[2 * i]))
      remove(DELAYED, id)
      add(RESERVED, deadline, id)
      add(LEASES, id,
        token .. ' ' .. attempt .. ' ' .. alone .. ' ' .. now_text .. ' ' .. score .. ' ' .. owner)
      claimed[#claimed + 1] = { id, score, attempt, record, tries[i] or '' }
    else
      corrupt[#corrupt + 1] = id
      bury_corrupt(id, now)
    end
  end
  write()
end
return {
  int(now), int_or_empty(not paused and head_of(DELAYED) or nil),
  int_or_empty(head_of(RESERVED)), paused or '', corrupt,
  unpack(claimed),
}
