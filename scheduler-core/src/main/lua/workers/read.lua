-- Reads the registered workers, unless nothing has changed.
--
-- KEYS     the registered workers, a hash, see lib/workers
-- ARGV     version: text, of the answer before; '' for none
-- RETURNS  {version, {worker, what it says of itself}...}, of its sessions the one whose time ends
--          last; the version alone if it is the same
-- COST     1 read, and a small write once a second; the whole hash after a change, where a worker's
--          time is over, and after a silence
-- WHY      each read ends those that were not renewed: no scheduler needs to be told
--- @include lib/text
--- @include lib/now
--- @include lib/workers

local key = KEYS[1]
local version = int(tended(key, now_ms()).version)
local result = { version }
if version ~= ARGV[1] then
  local entries = redis.call('HGETALL', key)
  local newest = {}
  for i = 1, #entries, 2 do
    local worker = string.match(entries[i], '^%S+ %S+')
    local ends, text = string.match(entries[i + 1], '^(%d+) (.*)$')
    if worker and text and tonumber(ends) > (newest[worker] or { 0 })[1] then
      newest[worker] = { tonumber(ends), text }
    end
  end
  for worker, run in pairs(newest) do
    result[#result + 1] = { worker, run[2] }
  end
end
return result
