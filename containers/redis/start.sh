#!/bin/sh
# Writes Redis's settings, with the digest of REDIS_PASSWORD and not the password itself, to /run/redis (a tmpfs),
# and becomes Redis. Nothing secret is on a command line.
set -eu
REDIS_PASSWORD=${REDIS_PASSWORD:-}
if [ "${#REDIS_PASSWORD}" -lt 16 ]; then
  echo "REDIS_PASSWORD is empty or shorter than 16 characters; scripts/make-env.sh writes a random one to .env" >&2
  exit 1
fi
umask 077
digest=$(printf %s "$REDIS_PASSWORD" | sha256sum | cut -d ' ' -f 1)
# The one user has the commands and keys that Punctual needs. Nobody can be the default user; but as that user Redis
# reads its append-only file, and most versions leave out, without stopping, all transactions and scripts in it that this
# user may not do (https://github.com/redis/redis/issues/14541).
cat >/run/redis/users.acl <<TEXT
user default off ~* &* +@all
$(cat /usr/local/share/punctual/redis.acl) #$digest
TEXT
cat >/run/redis/redis.conf <<'TEXT'
dir /store
appendonly yes
# Full is an answer, and being killed for it is none: well below the container's limit, which a rewrite of the file
# needs as well.
maxmemory 512mb
maxmemory-policy noeviction
# Other containers reach it; none without a password.
bind * -::*
aclfile /run/redis/users.acl
TEXT
unset REDIS_PASSWORD
exec redis-server /run/redis/redis.conf
