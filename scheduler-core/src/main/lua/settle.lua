-- Ends attempts, one after the other: RESERVED -> finished, DELAYED, DEAD or gone.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     retention: integer, ms, of tombstones
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- EACH     op: 'done', 'failed', 'unknown', 'undeliverable', 'released', 'returned', 'rejected' or 'expired'
-- EACH     id: text
-- EACH     incarnation: text, no spaces
-- EACH     rest: bytes; with 'done' the content's hash and the tags, each behind a space, or ''
--          where they are not known; else '<token> <delay ms or -> <alone 0/1> <note>'
-- RETURNS  {now ms, {settlement, kind, due ms of 'retry'}...}; only for settlements, counted from
--          0, that are not acks which took effect
-- COST     for all jobs at most 13 reads and 18 writes; per ack without hash or lease 1 read, if it
--          finds no job 3, per failure 1, per job that expired 2
-- WHY      an ack counts from any attempt of the incarnation, since the work is done; everything
--          else needs the lease, so that an earlier holder cannot disturb its successor. A job that
--          returns is announced: the engine that ends it may have no capacity for it. A released
--          job waits behind those that are due, so that its holder gets the others first. A job
--          that was to be cancelled neither returns nor dies, however its attempt ended
--- @include lib/outcome
--- @include lib/wake

local retention = tonumber(ARGV[1])

-- Characters of a hash.
local HASH = 20
local any_tried

local ids, starts, all_acks, n = {}, {}, true, 0
for i = 4, #ARGV, 4 do
  n = n + 1
  starts[n], ids[n] = i, ARGV[i + 1]
  all_acks = all_acks and ARGV[i] == 'done'
end

local tombs_expire = int(now + retention)
local finished, cancelled = 0, 0

local function bury(id, incarnation, hash)
  add_tomb(id, incarnation, 'D', hash, tombs_expire)
  finished = finished + 1
end

-- Of a job that runs, whose holder says what the record says: bodies need not be read.
local function ack_held(id, incarnation, rest)
  remove(JOBS, id)
  remove(RESERVED, id)
  remove(LEASES, id)
  if any_tried then
    remove(TRIES, id)
    remove(ERRORS, id)
  end
  if #rest > HASH then
    remove_tags(id, string.sub(rest, HASH + 1))
  end
  bury(id, incarnation, string.sub(rest, 1, HASH))
end

-- Of a job wherever it is: it may be a late ack, of a job that was given back.
local function ack(id, text, incarnation)
  local found, content, _, tags = parse_record(text or '')
  if found ~= incarnation then
    local tomb = tomb_of(id)
    local before = tomb and tomb.finished and tomb.incarnation == incarnation
    return before and 'already-done' or 'unknown'
  end
  forget(id, tags)
  bury(id, incarnation, hash_of(string.sub(text, content)))
end

local function settle(job, i)
  local op = ARGV[i]
  local token, delay, alone, note = string.match(ARGV[i + 3], '^(%S+) ([%d-]+) ([01]) (.*)$')
  local held = job.record and job.record.incarnation == ARGV[i + 2]
    and job.lease and job.lease.token == token
  if not held then
    return 'lease-lost', '0'
  elseif job.lease.cancelling then
    end_cancelled(job, tombs_expire)
    cancelled = cancelled + 1
    return 'cancelled', '0'
  elseif op == 'returned' or op == 'released' then
    count('released')
    local due = op == 'returned' and job.lease.due or now + tonumber(delay)
    return 'retry', int(give_back(job, due))
  elseif op == 'expired' and redis.call('HGET', CONTROL, 'expired') == 'drop' then
    forget(job.id, job.record.tags)
    count('lapsed')
    count('dropped')
    return 'dropped', '0'
  end
  local kind, due = end_attempt(job, op, tonumber(delay), tonumber(alone), note)
  if op ~= 'expired' then
    count(op)
  end
  return kind, int(due)
end

local result = { now_text }
if n > 0 then
  any_tried = redis.call('HLEN', TRIES) > 0
  local head = not all_acks and head_of(DELAYED)
  local leases = redis.call('HMGET', LEASES, unpack(ids))
  sound = { [TRIES] = true, [LEASES] = true }
  local reserved = redis.call('ZMSCORE', RESERVED, unpack(ids))
  local jobs, seen = all_acks and {} or jobs_of(ids), {}
  for k = 1, n do
    local id, i = ids[k], starts[k]
    if seen[id] then
      write()
      any_tried = true
      leases[k] = redis.call('HGET', LEASES, id)
      reserved[k] = redis.call('ZSCORE', RESERVED, id)
      jobs[k] = ARGV[i] ~= 'done' and jobs_of({ id })[1]
    end
    seen[id] = true
    local lease, incarnation, kind, due = leases[k], ARGV[i + 2], nil, '0'
    if ARGV[i] == 'done' then
      local rest, length = ARGV[i + 3], #incarnation
      if rest ~= '' and lease and reserved[k] and string.byte(lease, length + 1) == 32
        and string.sub(lease, 1, length) == incarnation then
        ack_held(id, incarnation, rest)
      else
        kind = ack(id, redis.call('HGET', JOBS, id), incarnation)
      end
    else
      kind, due = settle(jobs[k], i)
    end
    if kind then
      result[#result + 1] = { int(k - 1), kind, due }
    end
  end
  if finished > 0 then
    count('done', finished)
  end
  write()
  if not all_acks then
    announce_head(head, ARGV[2], ARGV[3])
  end
  if finished + cancelled > 0 then
    tend_tombs(n, true)
  end
end
return result
