-- Ends waiting jobs whose latest start has passed: DELAYED -> DEAD, or gone.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     max: integer, 1 to 200
-- RETURNS  {now ms, dead, dropped, 1 if there may be more or else 0}
-- COST     1 read if there is none; else for all jobs 6 reads and 12 writes, and 2 reads per job
-- WHY      a paused queue makes no claims, and its jobs expire anyway. Such jobs have a tag
--          ',<ms>', by which they are found; an engine computed it from its estimate of the clock,
--          so they get a second more. The tag of any other job, or of one that does not wait, is
--          removed: the next claim of that job checks its content
--- @include lib/failures
--- @include lib/next

local MORE = 1000
local TAG = 16

local max = tonumber(ARGV[1])
local found = redis.call('ZRANGEBYLEX', TAGS,
  '[,0', '(,' .. string.format('%015.0f', math.max(0, now - MORE)), 'LIMIT', 0, max)
local dead, dropped = 0, 0
if #found > 0 then
  local ids, seen = {}, {}
  for i, member in ipairs(found) do
    ids[i] = string.sub(member, TAG + 2)
  end
  local due = redis.call('ZMSCORE', DELAYED, unpack(ids))
  local records = redis.call('HMGET', JOBS, unpack(ids))
  local tries = redis.call('HMGET', TRIES, unpack(ids))
  local drops = redis.call('HGET', CONTROL, 'expired') == 'drop'
  local behind = successors()
  for i, id in ipairs(ids) do
    local record = due[i] and not seen[id] and read_record(records[i])
    local tag = ' ' .. string.sub(found[i], 1, TAG) .. ' '
    if not record or not string.find(record.tags .. ' ', tag, 1, true) then
      remove(TAGS, found[i])
    elseif drops then
      seen[id] = true
      forget(id, record.tags)
      if behind then
        behind.succeed(id, 0)
      end
      dropped = dropped + 1
    else
      seen[id] = true
      local t = read_tries(tries[i])
      if t.version == 1 then
        t.first_due = tonumber(due[i])
      end
      t.version, t.attempt_due = t.version + 1, nil
      if behind and behind.succeed(id, t.version) then
        remove(DELAYED, id)
        remove_tags(id, record.tags)
      else
        remove(TAGS, found[i])
        move(id, DELAYED, DEAD, now_text)
        add(TRIES, id, write_tries(t))
      end
      add(ERRORS, id, with_history(id, { now_text, 'expired', 'dead-expired', '0', '0' }, ''))
      dead = dead + 1
    end
  end
  if dead > 0 then
    count('dead', dead)
  end
  if dropped > 0 then
    count('dropped', dropped)
  end
  if dead + dropped > 0 then
    count('lapsed', dead + dropped)
  end
  write()
end
return { now_text, int(dead), int(dropped), #found == max and '1' or '0' }
