#!/usr/bin/env bash
# Brings docker-compose.yml up, sees an order close itself, and takes everything down again.
#   scripts/compose-check.sh [--no-build]     --no-build takes the jars that are there
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

docker info >/dev/null 2>&1 || { echo "no Docker engine answers; start one" >&2; exit 1; }
if docker compose version >/dev/null 2>&1; then
  compose=(docker compose)
elif command -v docker-compose >/dev/null; then
  compose=(docker-compose)
else
  echo "neither 'docker compose' nor docker-compose was found; install one" >&2
  exit 1
fi
compose+=(-p punctual-check)

[ "${1:-}" = --no-build ] || mvn -B -q -DskipTests package \
  -pl eureka-registry,scheduler-server,demo-order-service -am

down() {
  local result=$?
  [ $result -eq 0 ] || "${compose[@]}" logs --tail=40 || true
  "${compose[@]}" down -v --remove-orphans >/dev/null 2>&1 || true
}
trap down EXIT

"${compose[@]}" up -d --build

deadline=$((SECONDS + 180))
order=
until [ -n "$order" ]; do
  [ $SECONDS -lt $deadline ] || { echo "no order could be placed in time" >&2; exit 1; }
  sleep 2
  order=$(curl -sf --max-time 20 -X POST http://127.0.0.1:8081/orders \
    -H 'Content-Type: application/json' -d '{"item":"tea","payWithinSeconds":3}' \
    | sed -n 's/.*"id":"\([^"]*\)".*/\1/p') || order=
done
echo "order $order is placed"
until curl -sf --max-time 5 "http://127.0.0.1:8081/orders/$order" | grep -q '"status":"CLOSED"'; do
  [ $SECONDS -lt $deadline ] || { echo "order $order did not close in time" >&2; exit 1; }
  sleep 1
done
"${compose[@]}" logs --no-color demo | grep -o "order $order closed.*" | head -n 1
echo "compose check passed"
