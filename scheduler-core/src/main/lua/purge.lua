-- Removes waiting or dead jobs for good, without tombstone.
--
-- KEYS     the twelve keys of the bucket, see lib/keys
-- ARGV     state: 'delayed' or 'dead'
-- EACH     id: text
-- RETURNS  {now ms, removed}
-- COST     for all jobs 2 reads and 8 writes
-- WHY      no tombstone: who purges wants room, and may submit the id again
--- @include lib/job

local set = ARGV[1] == 'dead' and DEAD or DELAYED

local ids = {}
for i = 2, #ARGV do
  ids[#ids + 1] = ARGV[i]
end
local removed = 0
if #ids > 0 then
  local scores, seen = redis.call('ZMSCORE', set, unpack(ids)), {}
  local records = redis.call('HMGET', JOBS, unpack(ids))
  for i, id in ipairs(ids) do
    if scores[i] and not seen[id] then
      seen[id] = true
      local record = read_record(records[i])
      forget(id, record and record.tags or '')
      count('purged')
      removed = removed + 1
    end
  end
  write()
end
return { now_text, int(removed) }
