-- Takes jobs back whose lease ran out: RESERVED -> DELAYED, DEAD or gone.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     max: integer, 1 to 200
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     until: integer, epoch ms; only leases that ended by then. '' for now
-- ARGV     claimed: integer, epoch ms; leases that were claimed earlier run longer
-- ARGV     jump: integer, ms, by so much
-- ARGV     retention: integer, ms, of tombstones
-- RETURNS  {now ms, retried, dead, cancelled, next lease deadline ms or ''}
-- COST     for all jobs 7 reads and at most 12 writes; per job 1 read, and 1 more where jobs of the
--          bucket have successors; 1 read and 2 writes for tombstones, 8 reads and 12 writes more if
--          a job was to be cancelled, and per such job 1 read
-- WHY      the holder of the lease is gone or paused: how the attempt ended is not known. A pull
--          whose answer never arrived was no attempt: its job waits as if it had not been claimed.
--          A lease that runs longer since the clock was set forward counts as claimed now, so that
--          no other scheduler does the same again
--- @include lib/outcome
--- @include lib/wake

local ended = math.min(now, tonumber(ARGV[4]) or now)
local claimed_before, jump = tonumber(ARGV[5]), tonumber(ARGV[6])
local tombs_expire = int(now + tonumber(ARGV[7]))

local ids = redis.call(
  'ZRANGEBYSCORE', RESERVED, '-inf', int(ended), 'LIMIT', 0, tonumber(ARGV[1]))
local retried, dead, cancelled = 0, 0, 0
local head = head_of(DELAYED)
if #ids > 0 then
  for _, job in ipairs(jobs_of(ids)) do
    local id, lease, deadline = job.id, job.lease, job.deadline + jump
    if not job.record or not lease then
      bury_corrupt(id)
      dead = dead + 1
    elseif tonumber(lease.claimed) < claimed_before and deadline > now then
      move(id, RESERVED, RESERVED, int(deadline))
      renew_lease(id, lease)
    else
      if lease.cancelling then
        end_cancelled(job, tombs_expire)
        cancelled = cancelled + 1
      elseif not lease.received then
        give_back(job, lease.due)
        retried = retried + 1
      elseif end_attempt(job, 'lease', 0, lease.alone, '') == 'retry' then
        retried = retried + 1
      else
        dead = dead + 1
      end
      count('expired')
    end
  end
end
check_types()
tend_tombs(#ids, false)
if #ids > 0 then
  write()
  announce_head(head, ARGV[2], ARGV[3])
end
if cancelled > 0 then
  tend_tombs(cancelled, true)
  tend_kept(cancelled)
end
return {
  now_text, int(retried), int(dead), int(cancelled), int_or_empty(head_of(RESERVED)),
}
