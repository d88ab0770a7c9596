-- Ends attempts, one after the other: RESERVED -> finished, DELAYED, DEAD or gone.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     retention: integer, ms, of tombstones
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- EACH     op: 'done', 'failed', 'unknown', 'undeliverable', 'released', 'returned', 'rejected' or 'expired'
-- EACH     id: text
-- EACH     incarnation: text, no spaces
-- EACH     rest: bytes; with 'done' '<content's hash>[,<note of the end>]{ <tag>}', or ',<token>' of
--          a caller that does not know them; else '<token> <delay ms or -> <alone 0/1> <note>'
-- RETURNS  {now ms, {settlement, kind, due ms of 'retry' or of the successor, or 0}...}; only for
--          settlements, counted from 0, that are not acks which took effect and have no successor
-- COST     for all jobs at most 21 reads and 30 writes; per ack without hash or lease 2 reads, if
--          it finds no job 3, per failure 1, per job that expired 2, per job that is cancelled 1;
--          where jobs of the bucket have successors 1 more
-- WHY      an ack counts from any attempt of the incarnation, since the work is done; everything
--          else needs the lease, so that an earlier holder cannot disturb its successor. A job that
--          returns is announced: the engine that ends it may have no capacity for it. A released
--          job waits behind those that are due, so that its holder gets the others first. A job
--          that was to be cancelled neither returns nor dies, however its attempt ended
--- @include lib/outcome
--- @include lib/wake

local retention = tonumber(ARGV[1])

local any_tried, behind

local ids, starts, all_acks, n = {}, {}, true, 0
for i = 4, #ARGV, 4 do
  n = n + 1
  starts[n], ids[n] = i, ARGV[i + 1]
  all_acks = all_acks and ARGV[i] == 'done'
end

local tombs_expire = int(now + retention)
local finished, cancelled = 0, 0

local function bury(id, incarnation, hash, note)
  add_tomb(id, incarnation, 'D', hash, tombs_expire, note)
  finished = finished + 1
end

-- Of a job that runs, whose holder says what the record says: bodies need not be read. Returns
-- when the successor is due.
local function ack_held(id, incarnation, rest)
  remove(JOBS, id)
  remove(RESERVED, id)
  remove(LEASES, id)
  if any_tried then
    remove(TRIES, id)
    remove(ERRORS, id)
  end
  local hash, note, tags = string.match(rest, '^(%x+),?(%S*)(.*)$')
  if tags ~= '' then
    remove_tags(id, tags)
  end
  bury(id, incarnation, hash, note)
  return behind and behind.succeed(id, 0)
end

local opening

-- Since when the bucket's hours let jobs go out at that time; 0 if it has none, or if the opening of
-- that time is not known any more. With a calendar, the opening may be computed again since then.
local function open_since(at)
  opening = opening or redis.call('HGET', CONTROL, 'opening') or ''
  local since, to = string.match(opening, '^(%d+) (%d+) ')
  local from = tonumber(since or 0)
  return from <= at and at < tonumber(to or 0) and from or 0
end

-- From when on an attempt was late: also if it was sent before and no worker was reached.
local function late_since(id, record, lease)
  local due = lease.due
  if any_tried then
    due = math.min(due, read_tries(redis.call('HGET', TRIES, id)).attempt_due or due)
  end
  return math.max(due, (struct.unpack('>I6', record)), open_since(tonumber(lease.claimed)))
end

-- The note of an end: what the caller says; or else what the lease says, if the caller has it. Where
-- it ran is known of a pull, whose puller is the owner; what the owner sent elsewhere has alone 0.
local function note_of(id, rest, record, lease)
  local note = string.match(rest, '^%x+,?(%S*)')
  if note then
    return note
  elseif not lease or ',' .. lease.token ~= rest then
    return ''
  end
  return lease.attempt .. ',' .. lease.claimed .. ','
    .. int(math.max(0, tonumber(lease.claimed) - late_since(id, record, lease))) .. ','
    .. (lease.alone == 0 and '-' or string.sub(lease.owner, 1, 64))
end

-- Of a job wherever it is: it may be a late ack, of a job that was given back. Returns nothing if
-- there is nothing to say.
local function ack(id, text, incarnation, rest, lease)
  local found, content, _, tags = parse_record(text or '')
  if found ~= incarnation then
    local tomb = tomb_of(id)
    local before = tomb and tomb.finished and tomb.incarnation == incarnation
    return before and 'already-done' or 'unknown', 0
  end
  local note = note_of(id, rest, text, lease)
  forget(id, tags)
  bury(id, incarnation, hash_of(string.sub(text, content)), note)
  local due = behind and behind.succeed(id, 0)
  return due and 'done', due
end

local function settle(job, i)
  local op = ARGV[i]
  local token, delay, alone, note = string.match(ARGV[i + 3], '^(%S+) ([%d-]+) ([01]) (.*)$')
  local held = job.record and job.record.incarnation == ARGV[i + 2]
    and job.lease and job.lease.token == token
  if not held then
    return 'lease-lost', 0
  elseif job.lease.cancelling then
    cancelled = cancelled + 1
    return 'cancelled', end_cancelled(job, tombs_expire)
  elseif op == 'returned' or op == 'released' then
    count('released')
    local due = op == 'returned' and job.lease.due or now + tonumber(delay)
    return 'retry', give_back(job, due)
  elseif op == 'expired' and redis.call('HGET', CONTROL, 'expired') == 'drop' then
    forget(job.id, job.record.tags)
    count('lapsed')
    count('dropped')
    return 'dropped', behind and behind.succeed(job.id, 0) or 0
  end
  local kind, due = end_attempt(job, op, tonumber(delay), tonumber(alone), note)
  if op ~= 'expired' then
    count(op)
  end
  return kind, due
end

local result = { now_text }
if n > 0 then
  any_tried = redis.call('HLEN', TRIES) > 0
  behind = successors()
  local announced = not all_acks or behind
  local head = announced and head_of(DELAYED)
  local leases = redis.call('HMGET', LEASES, unpack(ids))
  sound = { [TRIES] = true, [LEASES] = true, [NEXT] = true }
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
    local lease, incarnation, kind, due = leases[k], ARGV[i + 2], nil, nil
    if ARGV[i] == 'done' then
      local rest, length = ARGV[i + 3], #incarnation
      if string.byte(rest) ~= 44 and lease and reserved[k]
        and string.byte(lease, length + 1) == 32
        and string.sub(lease, 1, length) == incarnation then
        due = ack_held(id, incarnation, rest)
        kind = due and 'done'
      else
        local held = reserved[k] and read_lease(lease)
        kind, due = ack(id, redis.call('HGET', JOBS, id), incarnation, rest, held)
      end
    else
      kind, due = settle(jobs[k], i)
    end
    if kind then
      result[#result + 1] = { int(k - 1), kind, int(due) }
    end
  end
  if finished > 0 then
    count('done', finished)
  end
  write()
  if announced then
    announce_head(head, ARGV[2], ARGV[3])
  end
  if finished + cancelled > 0 then
    tend_tombs(n, true)
  end
  if cancelled > 0 then
    tend_kept(n)
  end
end
return result
