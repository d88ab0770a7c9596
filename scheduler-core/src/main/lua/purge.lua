-- Removes waiting or dead jobs for good, without tombstone.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     state: 'delayed' or 'dead'
-- EACH     id: text
-- RETURNS  {now ms, removed}
-- COST     for all jobs 3 reads and 9 writes; where jobs of the bucket have successors 1 read per job
-- WHY      no tombstone: who purges wants room, and may submit the id again
--- @include lib/next

local set = ARGV[1] == 'dead' and DEAD or DELAYED

local ids = {}
for i = 2, #ARGV do
  ids[#ids + 1] = ARGV[i]
end
local removed = 0
if #ids > 0 then
  local scores, seen = redis.call('ZMSCORE', set, unpack(ids)), {}
  local records = redis.call('HMGET', JOBS, unpack(ids))
  local behind = successors()
  for i, id in ipairs(ids) do
    if scores[i] and not seen[id] then
      seen[id] = true
      local record = read_record(records[i])
      forget(id, record and record.tags or '')
      if behind then
        behind.drop(id)
      end
      count('purged')
      removed = removed + 1
    end
  end
  write()
end
return { now_text, int(removed) }
