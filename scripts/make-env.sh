#!/usr/bin/env bash
# Writes .env, from which docker-compose.yml takes its secrets: random ones, readable by you alone. An .env that
# is there stays as it is.
#   scripts/make-env.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
umask 077

# 256 random bits, as letters and digits that need no quoting in a URL.
secret() {
  od -An -v -N32 -tx1 /dev/urandom | tr -d ' \n'
}

# One line for each secret.
lines() {
  echo "REGISTRY_PASSWORD=$(secret)"
  echo "REDIS_PASSWORD=$(secret)"
  echo "SIGNING_KEY=$(secret)"
  echo "SHOP_DATABASE_PASSWORD=$(secret)"
  echo "METRICS_PASSWORD=$(secret)"
  echo "GRAFANA_PASSWORD=$(secret)"
}

refuse() {
  echo "make-env: .env is there already, and stays as it is. To have new secrets, remove it, run this again," \
    "and start all containers anew." >&2
  exit 1
}

if [ -e .env ] || [ -L .env ]; then
  refuse
fi
draft=$(mktemp .env.XXXXXX)
trap 'rm -f "$draft"' EXIT
{
  echo "# Written by scripts/make-env.sh. Secrets: not for version control."
  lines
} >"$draft"
# Unlike mv, it does not replace one that came to be in the meantime.
ln "$draft" .env 2>/dev/null || refuse
echo "make-env: wrote .env"
