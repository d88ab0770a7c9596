-- Lists what is kept of the jobs that an operation cancelled, and what a restore would do to each.
-- Read only.
--
-- KEYS     the keys of the bucket, see lib/keys
-- ARGV     operation: text
-- ARGV     max: integer, 1 to 200, kept jobs that are looked at
-- ARGV     score: integer, epoch ms, until when the last one seen is kept; '' to begin
-- ARGV     last: text, its id; '' to begin
-- RETURNS  {now ms, {until ms, id} of the last one looked at if there is more else {},
--          {id, until ms, kind}...}; the kind is that of a restore, or 'undone' of a job whose
--          cancel is undone. Jobs of other operations are left out
-- COST     O(log n) reads to find the place; per job that is looked at 2, and at most 6 for one of
--          the operation; at most some 4 MB
-- WHY      the place is looked for by (until, id), so that a list goes on where it was even when
--          that job is gone
--- @include lib/kept
--- @include lib/rank

local operation, max = ARGV[1], tonumber(ARGV[2])

-- Redis does nothing else meanwhile.
local MOST_READ = 4 * 1024 * 1024

-- What a restore would do. A job that is there was restored, or submitted again.
local function kind_of(id, kept)
  local there = places_of({ id })[1].state
  if not there then
    return refusal_of(tomb_of(id), kept) or 'restored'
  end
  local record = kept.undone and read_record(redis.call('HGET', JOBS, id))
  return record and record.incarnation == kept.undone and 'undone' or 'exists'
end

local from = ARGV[3] == '' and redis.call('ZCOUNT', CANCELLED, '-inf', '(' .. int(OPERATED))
  or rank_behind(CANCELLED, int(OPERATED + tonumber(ARGV[3])), ARGV[4])
local found = redis.call('ZRANGE', CANCELLED, from, from + max, 'WITHSCORES')
local result, looked, bytes = { now_text, {} }, 0, 0
for i = 1, math.min(#found, 2 * max), 2 do
  local id, kept = found[i], kept_of(found[i])
  looked = i
  if kept and kept.operation == operation then
    result[#result + 1] = { id, int(until_of(found[i + 1])), kind_of(id, kept) }
  end
  bytes = bytes + (kept and kept.record and #kept.record.text or 0)
  if bytes >= MOST_READ then
    break
  end
end
if #found > looked + 1 then
  result[2] = { int(until_of(found[looked + 1])), found[looked] }
end
return result
