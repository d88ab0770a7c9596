--- @include lib/keys
--- @include lib/text

-- Gathers the writes of a call, so that two hundred jobs cost a dozen commands. Whoever handles
-- the same id twice in one call writes in between.
local removals, additions, counts = {}, {}, {}

local function remove(key, id)
  local ids = removals[key]
  if ids then
    ids[#ids + 1] = id
  else
    removals[key] = { id }
  end
end

-- Score and id for a sorted set, id and text for a hash.
local function add(key, first, second)
  local pairs_of = additions[key]
  if pairs_of then
    pairs_of[#pairs_of + 1] = first
    pairs_of[#pairs_of + 1] = second
  else
    additions[key] = { first, second }
  end
end

local function count(counter)
  counts[counter] = (counts[counter] or 0) + 1
end

local function write_all(batch, command_of)
  for i = 1, #TYPES do
    local values = batch[KEYS[i]]
    if values then
      redis.call(command_of[TYPES[i]], KEYS[i], unpack(values))
    end
  end
end

local function write_removals()
  write_all(removals, { hash = 'HDEL', zset = 'ZREM' })
  removals = {}
end

local function write_additions()
  write_all(additions, { hash = 'HSET', zset = 'ZADD' })
  additions = {}
  for counter, n in pairs(counts) do
    redis.call('HINCRBY', STATS, counter, n)
  end
  counts = {}
end

-- A full Redis refuses a script whose first write may add: what removes goes first.
local function write()
  write_removals()
  write_additions()
end
