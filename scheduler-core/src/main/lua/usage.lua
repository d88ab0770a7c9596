-- Counts the jobs of one bucket and the bytes that it takes. Read only.
--
-- KEYS     the keys of the bucket, see lib/keys
-- RETURNS  {jobs, bytes}
-- COST     O(1): Redis estimates the size of a key by twenty of its entries
-- WHY      these are the bytes that count against maxmemory, with allocator and index
--- @include lib/keys
--- @include lib/text

local bytes = 0
for i = 1, #TYPES do
  bytes = bytes + (redis.call('MEMORY', 'USAGE', KEYS[i], 'SAMPLES', '20') or 0)
end
return { int(redis.call('HLEN', JOBS)), int(bytes) }
