-- Adds entries to the journal of losses, or to the losses, unless another scheduler added them.
--
-- KEYS     the journal or the losses, a hash
-- ARGV     max: integer, how many entries are kept
-- EACH     name: text, the same for all schedulers that notice the same
-- EACH     at: integer, ms, when it was noticed
-- EACH     within: integer, ms; two entries of one name less than this apart are one entry
-- EACH     entry: text, what follows the sequence
-- RETURNS  {how many were added}
-- COST     per entry 1 read of the whole hash and at most 2 writes
-- WHY      an application asks for entries above the last one that it saw: none may come below it.
--          All entries of one look come at once, or an application that sees the first alone sends
--          again twice
--- @include lib/text

local max = tonumber(ARGV[1])

local function keep(name, at, within, entry)
  local entries = redis.call('HGETALL', KEYS[1])
  local newest, lowest, oldest = 0, math.huge, nil
  for i = 1, #entries, 2 do
    local known, noticed = entries[i]:match('^(.+) (%d+)$')
    if known == name and math.abs(tonumber(noticed) - at) < within then return 0 end
    local sequence = tonumber(entries[i + 1]:match('^%d+')) or 0
    newest = math.max(newest, sequence)
    if sequence < lowest then lowest, oldest = sequence, entries[i] end
  end
  local sequence = int(math.max(at, newest + 1))
  redis.call('HSET', KEYS[1], name .. ' ' .. int(at), sequence .. ' ' .. entry)
  if #entries / 2 >= max then redis.call('HDEL', KEYS[1], oldest) end
  return 1
end

local added = 0
for i = 2, #ARGV, 4 do
  added = added + keep(ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), ARGV[i + 3])
end
return { added }
