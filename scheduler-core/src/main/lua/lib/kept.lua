--- @include lib/tomb
--- @include lib/job

-- What a cancel keeps, so that it can be undone: '<due> <tries> <bytes of errors>[ <operation>]\n',
-- then the errors and the record; the tries are those after the cancel. '- <incarnation>[
-- <operation>]' once the cancel is undone, '+ <incarnation>[ <operation>]' of a job that is too
-- large. UndoLimits names the same figures: for how long, how many jobs of a bucket, how many of
-- those that operations on many jobs cancelled, and how many bytes of a record.
local KEPT_MS, MOST_KEPT, MOST_OPERATED, MOST_BYTES = 600000, 1000, 100000, 65536

-- What operations cancelled stands behind all else, so that cancels of single jobs, which may be
-- many a second, do not push it out.
local OPERATED = 1000000000000000

-- Score and text are written with the other writes of the call. An operation is '' for none.
local function keep(id, head, ms, operation, rest)
  local class = operation == '' and 0 or OPERATED
  local named = operation == '' and head or head .. ' ' .. operation
  add(CANCELLED, int(class + now + ms), id)
  add(KEPT, id, named .. rest)
end

-- That of an operation's job keeps its place, so that a list which goes on does not meet it again.
local function keep_undone(id, incarnation, kept)
  local operation = kept and kept.operation or ''
  local ms = operation == '' and KEPT_MS or kept.until_ms - now
  keep(id, '- ' .. incarnation, ms, operation, '')
end

local function keep_nothing(id)
  remove(CANCELLED, id)
  remove(KEPT, id)
end

-- Keeps a job as it was before its cancel, no longer than its tombstone, or that it is too large;
-- the due time is text. From when on its next attempt was late is not kept: it was cancelled since.
local function keep_job(id, record, due, tries, retention, operation)
  local ms = math.min(KEPT_MS, retention)
  tries.attempt_due = nil
  if #record.text > MOST_BYTES then
    keep(id, '+ ' .. record.incarnation, ms, operation, '')
    return
  end
  local errors = redis.call('HGET', ERRORS, id) or ''
  local head = due .. ' ' .. write_tries(tries) .. ' ' .. int(#errors)
  keep(id, head, ms, operation, '\n' .. errors .. record.text)
end

-- Until when it is kept, whatever cancelled it; 0 without a score.
local function until_of(score)
  local ms = tonumber(score or 0)
  return ms >= OPERATED and ms - OPERATED or ms
end

-- {undone or large, the incarnation} or {due, tries, errors, record}, each with operation and
-- until_ms; nil if nothing is kept any more, or it cannot be read.
local function kept_of(id)
  local until_ms = until_of(redis.call('ZSCORE', CANCELLED, id))
  if until_ms <= now then
    return nil
  end
  local text = redis.call('HGET', KEPT, id) or ''
  local sign, incarnation, by = string.match(text, '^([-+]) (%S+) ?(%S*)$')
  if sign then
    return {
      undone = sign == '-' and incarnation, large = sign == '+' and incarnation,
      operation = by, until_ms = until_ms,
    }
  end
  local due, tries, bytes, operation, errors_at =
    string.match(text, '^(%d+) (%d+ %d+ %d+ %d+ %d+ [01] %d+ %d+) (%d+) ?(%S*)\n()')
  local record_at = bytes and #bytes < 9 and errors_at + tonumber(bytes)
  local record = record_at and read_record(string.sub(text, record_at))
  return record and {
    due = due, tries = read_tries(tries), record = record,
    errors = string.sub(text, errors_at, record_at - 1),
    operation = operation, until_ms = until_ms,
  } or nil
end

-- Why a restore of an id that is in no state does nothing: 'unknown', 'finished', 'too-late',
-- 'too-large' or 'not-kept'; nil if it puts the job back.
local function refusal_of(tomb, kept)
  if not tomb then
    return 'unknown'
  elseif tomb.finished then
    return 'finished'
  elseif kept and kept.record and kept.record.incarnation == tomb.incarnation then
    return nil
  elseif tonumber(tomb.at) + KEPT_MS <= now then
    return 'too-late'
  end
  return kept and kept.large == tomb.incarnation and 'too-large' or 'not-kept'
end

-- Of those at a rank and behind it, those that are kept no longer or are beyond the limit.
local function ended_kept(jobs, rank, over, from, to)
  local ended = redis.call('ZCOUNT', CANCELLED, from, to)
  local n = math.max(math.min(ended, 32 + 2 * jobs), math.min(over, 2 * jobs))
  return n > 0 and redis.call('ZRANGE', CANCELLED, rank, rank + n - 1) or {}
end

local function forget_kept(ids)
  if #ids > 0 then
    redis.call('ZREM', CANCELLED, unpack(ids))
    redis.call('HDEL', KEPT, unpack(ids))
  end
end

-- For how long the one at that rank is still kept, ms.
local function rest_of(rank)
  return until_of(redis.call('ZRANGE', CANCELLED, rank, rank, 'WITHSCORES')[2]) - now
end

-- After so many jobs were added: removes at most twice as many of those beyond the limit, or 32
-- more of those that are kept no longer. Both keys expire with the last of them.
local function tend_kept(jobs)
  local all = redis.call('ZCARD', CANCELLED)
  local single = redis.call('ZCOUNT', CANCELLED, '-inf', '(' .. int(OPERATED))
  local last = math.max(1, rest_of(all - 1))
  local ended = ended_kept(jobs, 0, single - MOST_KEPT, '-inf', now_text)
  if all > single then
    last = single > 0 and math.max(last, rest_of(single - 1)) or last
    forget_kept(ended_kept(
      jobs, single, all - single - MOST_OPERATED, int(OPERATED), int(OPERATED + now)))
  end
  forget_kept(ended)
  redis.call('PEXPIRE', CANCELLED, int(last))
  redis.call('PEXPIRE', KEPT, int(last))
end
