-- Gives dead letters a new life: DEAD -> DELAYED, with a fresh budget of attempts.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     channel: text, of wake-ups
-- ARGV     bucket: text, its name on that channel
-- ARGV     delay: integer, ms
-- EACH     id: text
-- EACH     version: text, '<incarnation> <version>' that the caller has seen; '' for any
-- RETURNS  {now ms, new head due ms or '', {kind, version or 0, incarnation or ''}...}:
--          'requeued', 'changed' where another version was seen, else 'refused'
-- COST     for all jobs 6 reads and 4 writes
-- WHY      totals and the last error stay: what happened is part of the job's story
--- @include lib/wake

local due = now + tonumber(ARGV[3])

local ids, versions_seen = {}, {}
for i = 4, #ARGV, 2 do
  ids[#ids + 1] = ARGV[i]
  versions_seen[#versions_seen + 1] = ARGV[i + 1]
end
local result = { now_text, '' }
if #ids > 0 then
  local head = head_of(DELAYED)
  local records = redis.call('HMGET', JOBS, unpack(ids))
  local tries = redis.call('HMGET', TRIES, unpack(ids))
  local deaths = redis.call('ZMSCORE', DEAD, unpack(ids))
  local done = {}
  for i, id in ipairs(ids) do
    local record, t = read_record(records[i]), read_tries(tries[i])
    local kind = 'refused'
    if deaths[i] and record and not done[id] then
      kind = is_other(versions_seen[i], record.incarnation, t.version) and 'changed' or 'requeued'
    end
    if kind == 'requeued' then
      done[id] = true
      t.counted, t.delivered, t.suspect = 0, 0, 0
      t.first_due, t.attempt_due = due, nil
      t.version = t.version + 1
      move(id, DEAD, DELAYED, int(due))
      add(TRIES, id, write_tries(t))
      count('requeued')
    end
    result[i + 2] = kind == 'refused' and { kind, '0', '' }
      or { kind, int(t.version), record.incarnation }
  end
  write()
  result[2] = announce_head(head, ARGV[1], ARGV[2])
end
return result
