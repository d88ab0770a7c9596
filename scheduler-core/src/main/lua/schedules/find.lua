-- Looks at a schedule.
--
-- KEYS     definitions, states, looks, names, counts, declarations of the schedules
-- ARGV     name: text
-- ARGV     application: text, the field of its declarations
-- RETURNS  {the time, definition or '', state or '', ms or ''}; the last is how long the last
--          declaration of the schedule is older than the last one of its application
-- COST     4 reads
-- WHY      the time is the store's, as planned instants are compared with it

--- @include lib/now
--- @include lib/declared

return {
  string.format('%.0f', now_ms()),
  redis.call('HGET', KEYS[1], ARGV[1]) or '',
  redis.call('HGET', KEYS[2], ARGV[1]) or '',
  undeclared(KEYS[6], ARGV[1], ARGV[2]),
}
