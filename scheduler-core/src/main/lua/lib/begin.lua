--- @include lib/keys
--- @include lib/text
--- @include lib/now

-- One time for the whole call, as a number and as it is written and answered.
local now = now_ms()
local now_text = int(now)
