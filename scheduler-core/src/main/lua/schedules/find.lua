-- Looks at a schedule.
--
-- KEYS     definitions, states, looks, names, counts of the schedules
-- ARGV     name: text
-- RETURNS  {the time, definition or '', state or ''}
-- COST     2 reads
-- WHY      the time is the store's, as planned instants are compared with it

--- @include lib/now

return {
  string.format('%.0f', now_ms()),
  redis.call('HGET', KEYS[1], ARGV[1]) or '',
  redis.call('HGET', KEYS[2], ARGV[1]) or '',
}
