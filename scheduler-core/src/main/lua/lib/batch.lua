--- @include lib/begin

-- Gathers the writes of a call, so that two hundred jobs cost a dozen commands. Whoever handles
-- the same id twice in one call writes in between.
local removals, additions, counts, first = {}, {}, {}, {}

-- A list that knows its length: '#' looks for it each time.
local function list_of(batch, key)
  local list = { n = 0 }
  batch[key] = list
  return list
end

local function remove(key, id)
  local ids = removals[key] or list_of(removals, key)
  local n = ids.n + 1
  ids.n, ids[n] = n, id
end

-- The so many first of a sorted set.
local function remove_first(key, n)
  first[key] = n
end

-- Score and id for a sorted set, id and text for a hash.
local function add(key, first, second)
  local pairs_of = additions[key] or list_of(additions, key)
  local n = pairs_of.n + 2
  pairs_of.n, pairs_of[n - 1], pairs_of[n] = n, first, second
end

local function count(counter, by)
  counts[counter] = (counts[counter] or 0) + (by or 1)
end

-- Lua does not roll back: a key of a foreign type must be found before the first write. What a
-- script has read before is of its type.
local sound = {}
local SIZE_OF = { hash = 'HLEN', zset = 'ZCARD' }

local function check_types()
  for i = 1, #TYPES do
    local key = KEYS[i]
    local written = removals[key] or additions[key] or key == STATS and next(counts)
    if written and not sound[key] then
      redis.call(SIZE_OF[TYPES[i]], key)
      sound[key] = true
    end
  end
end

-- Lua passes some 8,000 values to a call at most; tags may be more. An even number, for pairs.
local SLICE = 4000

local function write_all(batch, command_of)
  for i = 1, #TYPES do
    local values = batch[KEYS[i]]
    if values then
      for from = 1, values.n, SLICE do
        local to = math.min(values.n, from + SLICE - 1)
        redis.call(command_of[TYPES[i]], KEYS[i], unpack(values, from, to))
      end
    end
  end
end

local function write_removals()
  check_types()
  for key, n in pairs(first) do
    redis.call('ZREMRANGEBYRANK', key, 0, n - 1)
  end
  first = {}
  write_all(removals, { hash = 'HDEL', zset = 'ZREM' })
  removals = {}
end

local function write_additions()
  check_types()
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
