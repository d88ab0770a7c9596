-- Adds an entry to the journal of losses, or to the losses, unless another scheduler added it.
--
-- KEYS     the journal or the losses, a hash
-- ARGV     name: text, the same for all schedulers that notice the same
-- ARGV     at: integer, ms, when it was noticed
-- ARGV     within: integer, ms, entries of one name less than this time apart are the same
-- ARGV     max: integer, how many entries are kept
-- ARGV     entry: text, what follows the sequence
-- RETURNS  {its sequence, or '' if it was there}
-- COST     1 read of the whole hash and at most 2 writes
-- WHY      an application asks for entries above the last one that it saw: none may come below it
--- @include lib/text

local at, within = tonumber(ARGV[2]), tonumber(ARGV[3])
local entries = redis.call('HGETALL', KEYS[1])
local newest, lowest, oldest = 0, math.huge, nil
for i = 1, #entries, 2 do
  local name, noticed = entries[i]:match('^(.+) (%d+)$')
  if name == ARGV[1] and math.abs(tonumber(noticed) - at) < within then return { '' } end
  local sequence = tonumber(entries[i + 1]:match('^%d+')) or 0
  newest = math.max(newest, sequence)
  if sequence < lowest then lowest, oldest = sequence, entries[i] end
end
local sequence = int(math.max(at, newest + 1))
redis.call('HSET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], sequence .. ' ' .. ARGV[5])
if #entries / 2 >= tonumber(ARGV[4]) then redis.call('HDEL', KEYS[1], oldest) end
return { sequence }
