-- The keys of a bucket, in the order in which every script gets them, and their types.
local JOBS, DELAYED, RESERVED, DEAD, LEASES = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local TRIES, ERRORS, DONE, TOMBS, STATS = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local TAGS, CONTROL, NEXT, CANCELLED, KEPT = KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15]
local TYPES = {
  'hash', 'zset', 'zset', 'zset', 'hash', 'hash', 'hash', 'zset', 'hash', 'hash',
  'zset', 'hash', 'hash', 'zset', 'hash'
}
