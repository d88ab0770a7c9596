-- Lists schedules by their names.
--
-- KEYS     definitions, states, looks, names, counts, declarations of the schedules
-- ARGV     prefix: text, what the names begin with, ending with a colon; '' for all
-- ARGV     last: text, the last name of the page before; '' to begin
-- ARGV     max: integer, schedules
-- ARGV     bytes: integer, of definitions, after which the page ends
-- RETURNS  {last name of the page or '' at the end, {name, definition, state, ms or ''} each}; the
--          last is how long its last declaration is older than the last one of its application
-- COST     1 read, and 4 for each schedule
-- WHY      a colon inside of a part of a name is encoded, so that a prefix is one application's

--- @include lib/declared

local from = ARGV[2] ~= '' and '(' .. ARGV[2] or (ARGV[1] == '' and '-' or '[' .. ARGV[1])
local to = ARGV[1] == '' and '+' or '(' .. ARGV[1]:sub(1, -2) .. ';'
local max = tonumber(ARGV[3])
local names = redis.call('ZRANGEBYLEX', KEYS[4], from, to, 'LIMIT', 0, max + 1)
local answer = { '' }
local left = tonumber(ARGV[4])
for i, name in ipairs(names) do
  if i > max or left <= 0 then
    answer[1] = names[i - 1]
    break
  end
  local definition = redis.call('HGET', KEYS[1], name) or ''
  answer[#answer + 1] = {
    name,
    definition,
    redis.call('HGET', KEYS[2], name) or '',
    undeclared(KEYS[6], name, string.match(name, '^[^:]*:') or ''),
  }
  left = left - #definition
end
return answer
