-- Hands out what is due: DELAYED -> RESERVED, earliest first.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     max: integer, 1 to 200
-- ARGV     bytes: integer, of the records of all jobs but the first: what is beyond waits
-- ARGV     lease: integer, ms
-- ARGV     terms: 'push', 'sent', 'own' or 'given'; of an engine that runs jobs in its own process,
--          one that sends them to others, and the last two of a pull, where with 'own' the jobs'
--          own times to run come before that lease
-- ARGV     token: text, no spaces
-- ARGV     owner: text, no spaces
-- RETURNS  {now ms, when to claim next ms or '', next lease deadline ms or '', paused since ms or
--          '', 1 if no more may be out at once, 2 if the rate holds back what is due, or else 0,
--          {corrupt id...}, 'closed' by its hours, 'open <since ms>' by them, those hours if their
--          opening has to be found out, or '' for none, then for each job id, due ms, record, tries
--          or ''}
-- COST     for all jobs at most 12 reads and 4 writes; large records take one read more for each MB
-- WHY      a pull counts as an attempt once its puller has received the jobs, see extend; a lease
--          of 'push' that runs out counts for a suspect, which may have ended the engine's process,
--          and one of 'sent' does not, since the jobs ran elsewhere; a bucket that is paused, or
--          whose application is, hands out nothing, and hides what is due until that ends, so that
--          nobody keeps looking; a delayed id without a sound record is moved to the dead letters
--          and reported: dropping it would hide a loss, and handing it out would break every
--          claim after this one
--- @include lib/failures
--- @include lib/hours
--- @include lib/pause

local max_bytes, lease = tonumber(ARGV[2]), tonumber(ARGV[3])
local terms, token, owner = ARGV[4], ARGV[5], ARGV[6]

local control = redis.call('HMGET', CONTROL, 'paused', 'concurrency', 'rate', 'tat', 'opening',
  'application')
local max = tonumber(ARGV[1])
local paused, resumes = nil, nil
if control[1] or control[6] then
  paused, resumes = pause_of(control[1], now)
  local wider, later = pause_of(control[6], now)
  if paused and wider then
    resumes = resumes > 0 and later > 0 and math.max(resumes, later) or 0
  elseif wider then
    paused, resumes = wider, later
  end
end
local closed, since, hours = nil, nil, ''
if control[5] and not paused then
  closed, since = closed_until(control[5], now)
end
if since then
  hours = 'open ' .. since
elseif closed then
  hours = closed > 0 and 'closed' or redis.call('HGET', CONTROL, 'hours') or ''
  closed = hours ~= '' and closed
end
local concurrency = tonumber(string.match(control[2] or '', '^[1-9]%d*$') or '')
if concurrency then
  max = math.min(max, concurrency - redis.call('ZCARD', RESERVED))
end

-- The generic cell rate algorithm (ITU-T I.371): the time at which the next job would be due if all
-- came evenly may run ahead of the clock by a burst, of a second at most. In microseconds.
local allowed, period = string.match(control[3] or '', '^([1-9]%d*) ([1-9]%d*)$')
local interval, burst, ahead
if allowed then
  interval = math.max(1, math.floor(period * 1000 / allowed))
  burst = math.max(interval, math.min(period, 1000) * 1000)
  -- Where the rate was changed, what runs ahead of the clock must not be more than a burst.
  ahead = math.max(0, math.min(burst, (tonumber(control[4] or '') or 0) - now * 1000))
  max = math.min(max, math.floor((burst - ahead) / interval))
end

-- The records of the first ids that fit in that many bytes, and how many those are.
local function records_within(ids, bytes_left)
  local records, n, left = {}, 0, bytes_left
  while n < #ids do
    -- As many as fit if they are like those before, so that no more is read than is handed out.
    local likely = n == 0 and 8 or math.max(1, math.floor(n * left / math.max(1, bytes_left - left)))
    local last = math.min(#ids, n + likely)
    for _, record in ipairs(redis.call('HMGET', JOBS, unpack(ids, n + 1, last))) do
      left = left - #(record or '')
      if left < 0 and n > 0 then
        return records, n
      end
      n = n + 1
      records[n] = record
    end
  end
  return records, n
end

local due = (paused or closed or max < 1) and {} or redis.call(
  'ZRANGEBYSCORE', DELAYED, '-inf', now_text, 'WITHSCORES', 'LIMIT', 0, max)
local corrupt, claimed, result, n = {}, 0, {}, 7
if #due > 0 then
  local ids = {}
  for i = 1, #due / 2 do
    ids[i] = due[2 * i - 1]
  end
  local records, fitting = records_within(ids, max_bytes)
  -- Mostly nothing has failed.
  local tries = redis.call('HLEN', TRIES) > 0
    and redis.call('HMGET', TRIES, unpack(ids)) or {}
  local deadline_text = int(now + lease)
  local alone_at_first = (terms == 'push' or terms == 'sent') and '0' or '-'
  local untried = ' ' .. token .. ' 1 ' .. alone_at_first .. ' ' .. now_text .. ' '
  local untried_end = ' 2 ' .. owner
  for i = 1, fitting do
    local id, record, tried = ids[i], records[i] or '', tries[i] or ''
    local incarnation, _, own = parse_record(record)
    if incarnation then
      local deadline = terms == 'own' and own > 0 and int(now + own) or deadline_text
      local score, lease_text = due[2 * i], nil
      if string.find(score, '%D') then
        -- Whatever somebody else may have written: a due time is an integer.
        score = int(tonumber(score))
      end
      if tried == '' then
        lease_text = incarnation .. untried .. score .. untried_end
      else
        local t = read_tries(tried)
        local alone = terms == 'push' and int(t.suspect) or alone_at_first
        lease_text = incarnation .. ' ' .. token .. ' ' .. int(t.unknown + t.failed + 1) .. ' '
          .. alone .. ' ' .. now_text .. ' ' .. score .. ' ' .. int(t.version + 1) .. ' ' .. owner
      end
      add(RESERVED, deadline, id)
      add(LEASES, id, lease_text)
      result[n + 1], result[n + 2], result[n + 3], result[n + 4] = id, score, record, tried
      n = n + 4
      claimed = claimed + 1
    else
      corrupt[#corrupt + 1] = id
      bury_corrupt(id)
    end
  end
  remove_first(DELAYED, fitting)
  if allowed then
    ahead = ahead + claimed * interval
    add(CONTROL, 'tat', int(now * 1000 + ahead))
  end
  write()
end

local next_at = resumes ~= 0 and head_of(DELAYED) or nil
if next_at and resumes then
  next_at = math.max(next_at, resumes)
end
if next_at and closed then
  next_at = math.max(next_at, closed)
end
local held = false
if next_at and allowed then
  local fits_at = now + math.ceil((ahead + interval - burst) / 1000)
  -- Not while it is closed, also if until when has still to be found out.
  held = not closed and next_at <= now and fits_at > now
  next_at = math.max(next_at, fits_at)
end
local full = concurrency and redis.call('ZCARD', RESERVED) >= concurrency
if next_at and full then
  -- Whoever ends a job looks at once; this is for those that end elsewhere.
  next_at = math.max(next_at, now + 1000)
end
result[1], result[2], result[3] = now_text, int_or_empty(next_at), int_or_empty(head_of(RESERVED))
result[4], result[5] = paused or '', full and '1' or held and '2' or '0'
result[6], result[7] = corrupt, hours
return result
