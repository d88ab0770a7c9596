-- Keeps a scheduler among the members, or lets it leave, and tells who the others are.
--
-- KEYS     the members, a hash
-- ARGV     channel: text, of wake-ups
-- ARGV     member: text, no spaces
-- ARGV     life: integer, ms after which it is missed unless it comes again; 0 if it leaves
-- ARGV     version: text of its program, no spaces
-- ARGV     serves: text, '*' or names of queues
-- RETURNS  {now ms, {member, ms that it has left, version, serves}...} of the others
-- COST     2 reads and 3 writes; 1 write for each member that is missed
-- WHY      the first write removes, so that a full Redis keeps its members. An entry that lasts
--          longer than a life was written before the clock was set back: its member comes again.
--          A member that finds its own entry ended though no other removed it knows that none
--          has come since: the store was away, so all get another life
--- @include lib/text
--- @include lib/now

local now, life = now_ms(), tonumber(ARGV[3])

local own = redis.call('HGET', KEYS[1], ARGV[2])
local own_end = own and tonumber(string.match(own, '^%d+'))
local was_away = own_end and own_end <= now
local was_there = redis.call('HDEL', KEYS[1], ARGV[2]) == 1
local others = { int(now) }
local entries = redis.call('HGETALL', KEYS[1])
for i = 1, #entries, 2 do
  local ends, most, rest = string.match(entries[i + 1], '^(%d+) (%d+) (.*)$')
  local version, serves = string.match(rest or '', '^([^%s:*]+) (.*)$')
  if not version then
    -- Of a scheduler that does not say its version: names of queues have a colon.
    version, serves = 'unknown', rest
  end
  local left = ends and tonumber(ends) - now or 0
  if was_away and left <= 0 and ends then
    left = tonumber(most)
    redis.call('HSET', KEYS[1], entries[i],
      int(now + left) .. ' ' .. most .. ' ' .. version .. ' ' .. serves)
  end
  if left <= 0 or left > tonumber(most) then
    redis.call('HDEL', KEYS[1], entries[i])
  else
    others[#others + 1] = { entries[i], int(left), version, serves }
  end
end
if life > 0 then
  redis.call('HSET', KEYS[1], ARGV[2],
    int(now + life) .. ' ' .. ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. ARGV[5])
  redis.call('PEXPIRE', KEYS[1], 60000)
end
if was_there ~= (life > 0) then
  -- A hint; it must not fail where a user of Redis has no right to the channel.
  redis.pcall('PUBLISH', ARGV[1], 'members')
end
return others
