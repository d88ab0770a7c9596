-- luacheck scheduler-core/src/main/lua
-- Scripts see the functions of what they include as globals, and includes do not use their own.
std = "lua51"
max_line_length = 100
read_globals = { "redis", "KEYS", "ARGV" }

local includes = {
  "JOBS", "DELAYED", "RESERVED", "DEAD", "LEASES", "TRIES", "ERRORS", "DONE", "TOMBS", "STATS",
  "TAGS", "CONTROL", "TYPES", "check_types", "now_ms", "int", "int_or_empty",
  "remove", "add", "count", "write", "write_removals", "write_additions",
  "parse_record", "read_record", "write_record", "add_tags", "remove_tags", "with_history",
  "content_of", "read_tries", "write_tries", "read_lease", "places_of",
  "attempt_of", "head_of", "bury_corrupt", "end_attempt",
  "live_tomb", "tomb_of", "hash_of", "add_tomb", "tend_tombs", "announce_head", "snapshots",
}
for _, name in ipairs(includes) do
  table.insert(read_globals, name)
end
files["**/lua/lib/"] = { ignore = { "211", "431" } }
