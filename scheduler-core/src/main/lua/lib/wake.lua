--- @include lib/job

-- Where the bucket has an earlier job than before: tells the scanners of other instances, and
-- returns its due time; else ''. A hint: nobody relies on it, and the jobs are stored by now, so
-- that it must not fail either where a user of Redis has no right to the channel.
local function announce_head(before, channel, bucket)
  local head = head_of(DELAYED)
  if not head or before and head >= before then
    return ''
  end
  redis.pcall('PUBLISH', channel, bucket .. ' ' .. int(head))
  return int(head)
end

-- Tells the engine that holds a job to look at its lease; a hint as well.
local function announce_cancelling(id, channel, bucket)
  redis.pcall('PUBLISH', channel, bucket .. ' 0 cancelling ' .. id)
end
