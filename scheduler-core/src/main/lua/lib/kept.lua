--- @include lib/tomb
--- @include lib/job

-- What a cancel keeps, so that it can be undone: '<due> <tries> <bytes of errors>\n<errors><record>',
-- the tries as they are after the cancel; once the cancel is undone '- <incarnation>'. For ten
-- minutes, of a bucket's last thousand cancelled jobs of at most 64 kB each.
local KEPT_MS, MOST_KEPT, MOST_BYTES = 600000, 1000, 65536

-- Score and text are written with the other writes of the call.
local function keep(id, text)
  add(CANCELLED, int(now + KEPT_MS), id)
  add(KEPT, id, text)
end

local function keep_nothing(id)
  remove(CANCELLED, id)
  remove(KEPT, id)
end

-- Keeps a job as it was before its cancel, unless it is too large; the due time is text.
local function keep_job(id, record, due, tries)
  if #record.text > MOST_BYTES then
    keep_nothing(id)
    return
  end
  local errors = redis.call('HGET', ERRORS, id) or ''
  keep(id, due .. ' ' .. write_tries(tries) .. ' ' .. int(#errors) .. '\n' .. errors .. record.text)
end

-- {undone, the incarnation} or {due, tries, errors, record, until_ms}; nil if nothing is kept any
-- more.
local function kept_of(id)
  local until_ms = tonumber(redis.call('ZSCORE', CANCELLED, id) or 0)
  if until_ms <= now then
    return nil
  end
  local text = redis.call('HGET', KEPT, id) or ''
  local undone = string.match(text, '^%- (%S+)$')
  if undone then
    return { undone = undone }
  end
  local due, tries, bytes, errors_at = string.match(text, '^(%d+) ([%d ]+) (%d+)\n()')
  local record_at = bytes and #bytes < 9 and errors_at + tonumber(bytes)
  local record = record_at and read_record(string.sub(text, record_at))
  return record and {
    due = due, tries = read_tries(tries), record = record,
    errors = string.sub(text, errors_at, record_at - 1), until_ms = until_ms,
  } or nil
end

-- After so many jobs were added: removes at most twice as many, those beyond the last thousand or,
-- if there are none, those kept for ten minutes. Both keys expire ten minutes after this call.
local function tend_kept(jobs)
  local over = math.min(redis.call('ZCARD', CANCELLED) - MOST_KEPT, 2 * jobs)
  local ended = over > 0 and redis.call('ZRANGE', CANCELLED, 0, over - 1)
    or redis.call('ZRANGEBYSCORE', CANCELLED, '-inf', now_text, 'LIMIT', 0, 2 * jobs)
  if #ended > 0 then
    redis.call('ZREM', CANCELLED, unpack(ended))
    redis.call('HDEL', KEPT, unpack(ended))
  end
  redis.call('PEXPIRE', CANCELLED, KEPT_MS)
  redis.call('PEXPIRE', KEPT, KEPT_MS)
end
