#!/bin/sh
# Writes Redis's settings, with the digest of REDIS_PASSWORD and not the password itself, to /run/redis (a tmpfs),
# and becomes Redis. Nothing secret is on a command line.
set -eu
REDIS_PASSWORD=${REDIS_PASSWORD:-}
if [ "${#REDIS_PASSWORD}" -lt 16 ]; then
  echo "REDIS_PASSWORD is empty or shorter than 16 characters; deploy/scripts/make-env.sh writes a random one to .env" >&2
  exit 1
fi
umask 077
digest=$(printf %s "$REDIS_PASSWORD" | sha256sum | cut -d ' ' -f 1)
# The one user has the commands and keys that Punctual needs. The default user is off, but keeps its rights: Redis
# reads its append-only file as that user, and most versions silently skip all transactions and scripts in it that the
# user has no rights for (https://github.com/redis/redis/issues/14541).
cat >/run/redis/users.acl <<TEXT
user default off ~* &* +@all
$(cat /usr/local/share/punctual/redis.acl) #$digest
TEXT
cat >/run/redis/redis.conf <<'TEXT'
dir /store
appendonly yes
# Well below the container's limit, since a rewrite of the file needs memory, too. A full Redis answers; one that the
# kernel killed does not.
maxmemory 512mb
maxmemory-policy noeviction
# Other containers reach it, with a password.
bind * -::*
aclfile /run/redis/users.acl
TEXT
unset REDIS_PASSWORD
exec redis-server /run/redis/redis.conf
