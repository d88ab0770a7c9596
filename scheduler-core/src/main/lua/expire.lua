-- Takes jobs back whose lease ran out: RESERVED -> DELAYED or DEAD.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     max: integer, 1 to 200
-- RETURNS  {now ms, retried, dead, next lease deadline ms or ''}
-- COST     for all jobs 4 reads and at most 8 writes; per job 1 read; 1 read and 2 writes for tombstones
-- WHY      whoever held the lease is gone or paused: nobody knows how the attempt ended
--- @include lib/now
--- @include lib/job
--- @include lib/tomb
--- @include lib/outcome

local broken = check_types()
if broken then return broken end
local now = now_ms()

local ids = redis.call('ZRANGEBYSCORE', RESERVED, '-inf', int(now), 'LIMIT', 0, tonumber(ARGV[1]))
local retried = 0
if #ids > 0 then
  local records = redis.call('HMGET', JOBS, unpack(ids))
  local leases = redis.call('HMGET', LEASES, unpack(ids))
  local tries = redis.call('HMGET', TRIES, unpack(ids))
  for i, id in ipairs(ids) do
    local record, lease = read_record(records[i]), read_lease(leases[i])
    if record and lease then
      local job = { id = id, record = record, lease = lease, tries = tries[i] }
      if end_attempt(job, 'lease', 0, lease.alone, '', now) == 'retry' then
        retried = retried + 1
      end
      count('expired')
    else
      bury_corrupt(id, now)
    end
  end
  write()
end
tend_tombs(now, #ids, nil)
return { int(now), int(retried), int(#ids - retried), int_or_empty(head_of(RESERVED)) }
