-- Stores jobs, one after the other: nothing -> DELAYED.
--
-- KEYS     the ten keys of the bucket, see lib/keys
-- ARGV[1]  wake-up channel
-- ARGV[2]  name of the bucket on that channel
-- then per job: id, incarnation, 'at' or 'in', ms, max attempts, content, replace 0 or 1
-- RETURNS  {now, new head due or '', {kind, due, attempt, record}...}
-- COST     per new job: 1 HSET, 1 ZADD, 3 reads
-- WHY      the first write adds, so that a full Redis refuses the call as a whole: nothing accepted, nothing changed.
--- @include lib/now
--- @include lib/job
--- @include lib/tomb
--- @include lib/wake

local broken = check_types()
if broken then return broken end
local now = now_ms()
local head_before = head_of(DELAYED)
local head = head_before
local result = { int(now), '' }

local function store(id, incarnation, max_attempts, content, due)
  redis.call('HSET', JOBS, id, incarnation .. ' ' .. max_attempts .. ' ' .. int(now) .. '\n' .. content)
  redis.call('ZADD', DELAYED, int(due), id)
  redis.call('HINCRBY', STATS, 'submitted', 1)
  if not head or due < head then
    head = due
  end
end

local function forget_past(id)
  redis.call('HDEL', TRIES, id)
  redis.call('HDEL', ERRORS, id)
end

for i = 3, #ARGV, 7 do
  local id, incarnation, max_attempts, content, replace =
    ARGV[i], ARGV[i + 1], ARGV[i + 4], ARGV[i + 5], ARGV[i + 6] == '1'
  local due = tonumber(ARGV[i + 3])
  if ARGV[i + 2] == 'in' then
    due = now + due
  end

  local existing = redis.call('HGET', JOBS, id)
  local place, score = place_of(id)
  if existing or place then
    local same = existing and content_of(existing) == content
    if same then
      result[#result + 1] = { 'there', int(score), '0', '' }
    elseif not replace then
      result[#result + 1] = { 'conflict', int(score), '0', existing or '' }
    elseif place == 'reserved' then
      result[#result + 1] = { 'in-delivery', '0', attempt_of(id), '' }
    else
      store(id, incarnation, max_attempts, content, due)
      redis.call('ZREM', DEAD, id)
      forget_past(id)
      result[#result + 1] = { 'replaced', int(due), '0', '' }
    end
  else
    local tomb = live_tomb(id, now)
    local done = tomb and tomb.outcome == 'D'
    if done and tomb.hash == hash_of(content) then
      result[#result + 1] = { 'done', tomb.at, '0', '' }
    elseif done and not replace then
      result[#result + 1] = { 'conflict-done', tomb.at, '0', '' }
    else
      store(id, incarnation, max_attempts, content, due)
      drop_tomb(id)
      result[#result + 1] = { 'created', int(due), '0', '' }
    end
  end
end

if head and (not head_before or head < head_before) then
  result[2] = int(head)
  publish_head(ARGV[1], ARGV[2], head)
end
return result
