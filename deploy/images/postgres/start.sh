#!/bin/sh
# Makes the database "shop" of the user "shop" where there is none, gives that user the password SHOP_DATABASE_PASSWORD,
# and becomes PostgreSQL. Nothing secret is on a command line or in the log.
set -eu
SHOP_DATABASE_PASSWORD=${SHOP_DATABASE_PASSWORD:-}
case $SHOP_DATABASE_PASSWORD in
  *[!A-Za-z0-9]*) echo "SHOP_DATABASE_PASSWORD may have letters and digits only" >&2; exit 1 ;;
esac
if [ "${#SHOP_DATABASE_PASSWORD}" -lt 16 ]; then
  echo "SHOP_DATABASE_PASSWORD is empty or shorter than 16 characters; deploy/scripts/make-env.sh writes a random one to .env" >&2
  exit 1
fi
umask 077

# Runs the statements that it reads, one on each line, in a data directory that no server uses.
alone() {
  postgres --single -c log_min_error_statement=panic -D "$1" postgres >/dev/null
}

data=/store/data
if [ ! -e "$data" ]; then
  # Moved to its place when it is complete.
  rm -rf "$data.new"
  initdb --username=postgres --encoding=UTF8 --locale=C --data-checksums --auth=reject -D "$data.new" >/dev/null
  alone "$data.new" <<'SQL'
create role shop login
create database shop owner shop
SQL
  mv "$data.new" "$data"
fi
alone "$data" <<SQL
alter role shop password '$SHOP_DATABASE_PASSWORD'
SQL
unset SHOP_DATABASE_PASSWORD

# One user for one database; the superuser cannot log in.
cat >/run/punctual/pg_hba.conf <<'TEXT'
host shop shop all scram-sha-256
TEXT
exec postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories=/run/punctual \
  -c hba_file=/run/punctual/pg_hba.conf
