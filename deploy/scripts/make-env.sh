#!/usr/bin/env bash
# Writes .env with random secrets for docker-compose.yml, readable by you alone. Does not change an existing .env.
#   deploy/scripts/make-env.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
umask 077

# Prints 256 random bits as letters and digits, which need no quoting in a URL.
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
  echo "make-env: .env exists and was not changed. To get new secrets, remove it, run this again, and" \
    "restart all containers." >&2
  exit 1
}

if [ -e .env ] || [ -L .env ]; then
  refuse
fi
draft=$(mktemp .env.XXXXXX)
trap 'rm -f "$draft"' EXIT
{
  echo "# Written by deploy/scripts/make-env.sh. Secrets: not for version control."
  lines
} >"$draft"
# Unlike mv, ln does not replace a file that another process has just written.
ln "$draft" .env 2>/dev/null || refuse
echo "make-env: wrote .env"
