--- @include lib/job

-- What went wrong, newest first: '<atMs> <kind> <disposition> <attempt> <claimedMs> <bytes>\n<note>'
-- behind one another, ten at most, and the older ones only while all take less than 4 kB.
local function with_history(id, entry, note)
  local before = redis.call('HGET', ERRORS, id) or ''
  local newest = table.concat(entry, ' ') .. ' ' .. int(#note) .. '\n' .. note
  local kept = 0
  for _ = 2, 10 do
    local bytes, note_at =
      string.match(before, '^%d+ %S+ %S+ %d+ %d+ (%d+)\n()', kept + 1)
    local stop = bytes and #bytes < 9 and note_at + tonumber(bytes) - 1
    if not stop or stop > #before or #newest + stop > 4096 then
      break
    end
    kept = stop
  end
  return newest .. string.sub(before, 1, kept)
end

-- A job that can neither run nor be dropped is kept where people look.
local function bury_corrupt(id)
  remove(DELAYED, id)
  remove(LEASES, id)
  move(id, RESERVED, DEAD, now_text)
  add(ERRORS, id, with_history(id, { now_text, 'corrupt', 'dead-corrupt', '0', '0' }, ''))
  count('dead')
end
