--- @include lib/tomb
--- @include lib/kept
--- @include lib/failures
--- @include lib/next

-- For each id the job as attempts end on it; without a lease unless it is reserved.
local function jobs_of(ids)
  local records = redis.call('HMGET', JOBS, unpack(ids))
  local leases = redis.call('HMGET', LEASES, unpack(ids))
  local tries = redis.call('HMGET', TRIES, unpack(ids))
  local deadlines = redis.call('ZMSCORE', RESERVED, unpack(ids))
  local jobs = {}
  for i, id in ipairs(ids) do
    jobs[i] = {
      id = id,
      record = read_record(records[i]),
      lease = deadlines[i] and read_lease(leases[i]),
      tries = tries[i],
      deadline = tonumber(deadlines[i] or 0),
    }
  end
  return jobs
end

-- What is known of the attempts of a reserved job, as it is written when the job leaves its holder.
local function tries_behind(job)
  local tries = read_tries(job.tries)
  if tries.version == 1 then
    tries.first_due = job.lease.due
  end
  tries.version = job.lease.version + 1
  return tries
end

-- Makes a reserved job wait again without an attempt. Returns its due time.
local function give_back(job, due)
  local tries = tries_behind(job)
  tries.attempt_due = tries.attempt_due or due ~= job.lease.due and job.lease.due or nil
  move(job.id, RESERVED, DELAYED, int(due))
  remove(LEASES, job.id)
  add(TRIES, job.id, write_tries(tries))
  return due
end

-- A reserved job that was to be cancelled, and whose attempt did not succeed: gone. When its
-- tombstone expires is text. Returns when its successor is due, which came after the cancel, or 0.
local function end_cancelled(job, expires)
  forget(job.id, job.record.tags)
  add_tomb(
    job.id, job.record.incarnation, 'C', hash_of(content_of(job.record)), expires, job.lease.by)
  count('cancelled')
  local behind = successors()
  local due = behind and behind.succeed(job.id, 0)
  if due then
    -- The id is another job's now.
    keep_nothing(job.id)
  else
    local retention = tonumber(expires) - now
    keep_job(job.id, job.record, int(job.lease.due), tries_behind(job), retention, '')
  end
  return due or 0
end

-- Ends an attempt of a reserved job that did not succeed: counts it, and makes the job wait again
-- or dead, or puts its successor in its place. Shared by settle and expire, so that the rule of
-- the limits stands in one place. Without a delay there is no next attempt: it could not start in
-- time. Returns 'retry', 'dead' or 'expired', and the due time of what waits now, or 0.
local function end_attempt(job, kind, delay, alone, note)
  local id = job.id
  local tries = tries_behind(job)
  local disposition = 'retry'
  if kind == 'undeliverable' then
    tries.undeliverable = tries.undeliverable + 1
  elseif kind ~= 'expired' then
    tries.delivered = tries.delivered + 1
    if kind == 'unknown' or kind == 'lease' then
      tries.unknown = tries.unknown + 1
      tries.counted = tries.counted + alone
      tries.suspect = 1
    else
      tries.failed = tries.failed + 1
      tries.counted = tries.counted + 1
      tries.suspect = 0
    end
    if kind == 'rejected' then
      disposition = 'dead-rejected'
    elseif tries.counted >= job.record.max_attempts then
      disposition = 'dead-attempts'
    elseif tries.delivered >= 3 * job.record.max_attempts then
      disposition = 'dead-deliveries'
    end
  end
  if disposition == 'retry' and not delay then
    disposition = 'dead-expired'
    count('lapsed')
  end
  tries.attempt_due = kind == 'undeliverable' and delay and (tries.attempt_due or job.lease.due)
    or nil

  remove(LEASES, id)
  local entry = { now_text, kind, disposition, job.lease.attempt, job.lease.claimed }
  if kind == 'expired' then
    -- Nothing was tried.
    entry[4], entry[5] = '0', '0'
  end
  add(ERRORS, id, with_history(id, entry, note))
  local retry = disposition == 'retry'
  local ended = retry and 'retry' or disposition == 'dead-expired' and 'expired' or 'dead'
  if not retry then
    count('dead')
  end
  -- A debounce asks for what is newest: it need not wait for the retry of what is older.
  local behind = successors()
  if behind
    and (not retry or kind ~= 'undeliverable' and behind.is_debounced(behind.of(id))) then
    local due = behind.succeed(id, tries.version)
    if due then
      remove(RESERVED, id)
      remove_tags(id, job.record.tags)
      return ended, due
    end
  end
  add(TRIES, id, write_tries(tries))
  if retry then
    move(id, RESERVED, DELAYED, int(now + delay))
    return 'retry', now + delay
  end
  move(id, RESERVED, DEAD, now_text)
  return ended, 0
end
