--- @include lib/text

-- Tells the scanners of other instances that the bucket has an earlier job than before. A hint: nobody relies on it.
local function publish_head(channel, bucket, due)
  redis.call('PUBLISH', channel, bucket .. ' ' .. int(due))
end
