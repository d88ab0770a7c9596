-- Keeps leases alive: RESERVED stays RESERVED, for longer.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     lease: integer, ms from now
-- EACH     id: text
-- EACH     token: text, no spaces
-- RETURNS  {now ms, '1', '0' or 'cancelling' per job}; '0' where it is not held by that token
-- COST     for all jobs 2 reads and 2 writes; 2 writes more for leases that are received
-- WHY      each id is removed and added again: a full Redis refuses a script whose first write
--          may add. A puller that extends a lease has received the job. A holder that is to stop
--          keeps its lease meanwhile: no other worker may begin the job
--- @include lib/job

local deadline = now + tonumber(ARGV[1])

local ids, tokens = {}, {}
for i = 2, #ARGV, 2 do
  ids[#ids + 1] = ARGV[i]
  tokens[#tokens + 1] = ARGV[i + 1]
end
local result = { now_text }
if #ids > 0 then
  local leases = redis.call('HMGET', LEASES, unpack(ids))
  local deadlines = redis.call('ZMSCORE', RESERVED, unpack(ids))
  for i, id in ipairs(ids) do
    local lease = deadlines[i] and read_lease(leases[i])
    local held = lease and lease.token == tokens[i]
    if held and deadline > tonumber(deadlines[i]) then
      move(id, RESERVED, RESERVED, int(deadline))
    end
    if held and not lease.received then
      receive_lease(id, lease)
    end
    result[#result + 1] = held and (lease.cancelling and 'cancelling' or '1') or '0'
  end
  write()
end
return result
