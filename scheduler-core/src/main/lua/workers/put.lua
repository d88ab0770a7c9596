-- Registers a worker, renews it, or removes it.
--
-- KEYS     the registered workers, a hash, see lib/workers
-- ARGV     worker: text, its field
-- ARGV     application: text, what the fields of its workers begin with
-- ARGV     session: text, what names this run of the worker, without spaces; '' for none
-- ARGV     says: text, what it says of itself
-- ARGV     life: integer, ms after which it is gone unless it is renewed; 0 if it leaves
-- ARGV     own: integer, workers of the application
-- ARGV     ownSize: integer, characters of their texts
-- ARGV     all: integer, workers of all applications
-- ARGV     allSize: integer, characters of their texts
-- RETURNS  {'created', 'changed', 'renewed', 'removed', 'none', 'ended', 'full' or 'all-full'}
-- COST     3 reads and 2 writes; the whole hash where a worker's time is over, and for a change
--          where all together have as many as an application may
-- WHY      schedulers read all of them twice a second: the version says that nothing has changed.
--          A session that was removed is remembered for a while: a renewal that comes late does not
--          bring the worker back, and a removal spares the run that took its place
--- @include lib/text
--- @include lib/now
--- @include lib/workers

local key, session, life = KEYS[1], ARGV[3], tonumber(ARGV[5])
local now, ended = now_ms(), ARGV[1] .. ' ' .. ARGV[3]
if life > 0 and not redis.call('HGET', key, ARGV[1]) then
  -- A full Redis refuses this, and takes all that follows a first write.
  redis.call('HSET', key, '', redis.call('HGET', key, '') or '')
end
local at = tended(key, now)
local before = string.match(redis.call('HGET', key, ARGV[1]) or '', '^%d+ (.*)$')
local holder, found = said(before)
if life == 0 then
  if not found or (session ~= '' and session ~= holder) then
    return { 'none' }
  end
  redis.call('HDEL', key, ARGV[1])
  if session ~= '' then
    redis.call('HSET', key, ended, int(now + REMEMBERED) .. ' ')
    at.earliest = math.min(at.earliest, now + REMEMBERED)
  end
  at.version = math.max(at.version + 1, now)
  at.size = at.size - #before
  note(key, at)
  return { 'removed' }
elseif session ~= '' and redis.call('HGET', key, ended) then
  return { 'ended' }
end
local text = session .. ' ' .. ARGV[4]
if before ~= text then
  local count = math.max(redis.call('HLEN', key) - 1, 0) + (before and 0 or 1)
  local size = at.size + #text - #(before or '')
  if (not before or #text > #before) and (count > tonumber(ARGV[6]) or size > tonumber(ARGV[7])) then
    local own, ownCount, ownSize, all = 1, 1, #text, 1
    local entries = redis.call('HGETALL', key)
    for i = 1, #entries, 2 do
      local entry = string.match(entries[i + 1], '^%d+ (.*)$') or ''
      local lives = entries[i] ~= '' and entries[i] ~= ARGV[1] and said(entry) and 1 or 0
      all = all + lives
      if string.sub(entries[i], 1, #ARGV[2]) == ARGV[2] and entries[i] ~= ARGV[1] then
        own = own + lives
        ownCount = ownCount + 1
        ownSize = ownSize + #entry
      end
    end
    -- Of removed sessions there may be as many again.
    local most, mostOfAll = tonumber(ARGV[6]), tonumber(ARGV[8])
    if all > mostOfAll or count > 2 * mostOfAll or size > tonumber(ARGV[9]) then
      return { 'all-full' }
    elseif own > most or ownCount > 2 * most or ownSize > tonumber(ARGV[7]) then
      return { 'full' }
    end
  end
  if found ~= ARGV[4] then
    at.version = math.max(at.version + 1, now)
  end
  at.size = size
end
at.earliest = math.min(at.earliest, now + life)
-- What removes comes first: a full Redis keeps its workers.
redis.call('HDEL', key, ARGV[1])
redis.call('HSET', key, ARGV[1], int(now + life) .. ' ' .. text)
note(key, at)
return { not found and 'created' or found == ARGV[4] and 'renewed' or 'changed' }
