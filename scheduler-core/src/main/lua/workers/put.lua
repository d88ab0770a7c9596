-- Registers a worker, renews it, or removes it.
--
-- KEYS     the registered workers, a hash, see lib/workers
-- ARGV     worker: text, its name
-- ARGV     application: text, what the fields of its workers begin with
-- ARGV     session: text, what names this run of the worker, without spaces; '' for none, and to remove
--          all of them
-- ARGV     says: text, what it says of itself
-- ARGV     life: integer, ms after which it is gone unless it is renewed; 0 if it leaves
-- ARGV     own: integer, workers of the application
-- ARGV     ownSize: integer, characters of their texts
-- ARGV     all: integer, workers of all applications
-- ARGV     allSize: integer, characters of their texts
-- RETURNS  {'created', 'changed', 'renewed', 'removed', 'none', 'ended', 'full' or 'all-full'}
-- COST     4 reads and 2 writes; the whole hash to remove all sessions, where a worker's time is
--          over, and for a change or an unknown session where all together have as many as an
--          application may
-- WHY      schedulers read all of them twice a second: the version says that nothing has changed.
--          Each session has its own entry: a run that ends does not remove one that has begun at
--          the same address. A removed session is remembered for a while, even if it was not there:
--          a late call does not bring it back
--- @include lib/text
--- @include lib/now
--- @include lib/workers

local key, now, life = KEYS[1], now_ms(), tonumber(ARGV[5])
local worker, session, text = ARGV[1], ARGV[3], ARGV[4]
local field = session == '' and worker or worker .. ' ' .. session
if life > 0 and not redis.call('HGET', key, field) then
  -- A full Redis refuses this, and takes all that follows a first write.
  redis.call('HSET', key, '', redis.call('HGET', key, '') or '')
end
local at = tended(key, now)

local function removed(entry, found)
  redis.call('HDEL', key, entry)
  at.version = math.max(at.version + 1, now)
  at.size = at.size - #found
end

local value = redis.call('HGET', key, field)
local found = said(value)
local most, mostOfAll = tonumber(ARGV[6]), tonumber(ARGV[8])
local count = math.max(redis.call('HLEN', key) - 1, 0) + (value and 0 or 1)

-- What the application's others take: how many live, how many there are with removed sessions, and
-- their characters; and how many of all applications live.
local function others()
  local own, ownCount, ownSize, all = 0, 0, 0, 0
  local entries = redis.call('HGETALL', key)
  for i = 1, #entries, 2 do
    if entries[i] ~= '' and entries[i] ~= field then
      local other = said(entries[i + 1])
      local lives = other and 1 or 0
      all = all + lives
      if string.sub(entries[i], 1, #ARGV[2]) == ARGV[2] then
        own = own + lives
        ownCount = ownCount + 1
        ownSize = ownSize + #(other or '')
      end
    end
  end
  return own, ownCount, ownSize, all
end

-- Whether to remember a session that was never there. Those that were may take as many again.
local function fits()
  if count <= most then
    return true
  end
  local _, ownCount = others()
  return count <= mostOfAll and ownCount < most
end

if life == 0 then
  local before = at.version
  if found then
    removed(field, found)
  end
  if session == '' then
    local entries = redis.call('HGETALL', key)
    for i = 1, #entries, 2 do
      local run = said(entries[i + 1])
      if run and string.sub(entries[i], 1, #worker + 1) == worker .. ' ' then
        removed(entries[i], run)
      end
    end
  elseif found or not value and fits() then
    -- What removes comes first: a full Redis takes what follows.
    redis.call('HDEL', key, field)
    redis.call('HSET', key, field, int(now + REMEMBERED))
    at.earliest = math.min(at.earliest, now + REMEMBERED)
  end
  note(key, at)
  return { at.version == before and 'none' or 'removed' }
elseif value and not found then
  return { 'ended' }
end
if found ~= text then
  local size = at.size + #text - #(found or '')
  if (not found or #text > #found) and (count > most or size > tonumber(ARGV[7])) then
    local own, ownCount, ownSize, all = others()
    if all >= mostOfAll or count > 2 * mostOfAll or size > tonumber(ARGV[9]) then
      return { 'all-full' }
    elseif own >= most or ownCount >= 2 * most or ownSize + #text > tonumber(ARGV[7]) then
      return { 'full' }
    end
  end
  at.version = math.max(at.version + 1, now)
  at.size = size
end
at.earliest = math.min(at.earliest, now + life)
-- What removes comes first: a full Redis keeps its workers.
redis.call('HDEL', key, field)
redis.call('HSET', key, field, int(now + life) .. ' ' .. text)
note(key, at)
return { not found and 'created' or found == text and 'renewed' or 'changed' }
