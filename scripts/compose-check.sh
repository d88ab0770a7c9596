#!/usr/bin/env bash
# Brings docker-compose.yml up, sees that it is closed and that an order closes itself, and takes everything down
# again. Writes .env if there is none.
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

[ -e .env ] || scripts/make-env.sh

[ "${1:-}" = --no-build ] || mvn -B -q -DskipTests package \
  -pl eureka-registry,scheduler-server,demo-order-service -am

down() {
  local result=$?
  [ $result -eq 0 ] || "${compose[@]}" logs --tail=40 || true
  "${compose[@]}" down -v --remove-orphans >/dev/null 2>&1 || true
}
trap down EXIT

"${compose[@]}" up -d --build

# Sets $order to one that is to be paid within that many seconds.
place() {
  local deadline=$((SECONDS + 180))
  order=
  until [ -n "$order" ]; do
    [ $SECONDS -lt $deadline ] || { echo "no order could be placed in time" >&2; exit 1; }
    sleep 2
    order=$(curl -sf --max-time 20 -X POST http://127.0.0.1:8081/orders \
      -H 'Content-Type: application/json' -d "{\"item\":\"tea\",\"payWithinSeconds\":$1}" \
      | sed -n 's/.*"id":"\([^"]*\)".*/\1/p') || order=
  done
  echo "order $order is placed"
}

await_closed() {
  local deadline=$((SECONDS + 90))
  until curl -sf --max-time 5 "http://127.0.0.1:8081/orders/$order" | grep -q '"status":"CLOSED"'; do
    [ $SECONDS -lt $deadline ] || { echo "order $order did not close in time" >&2; exit 1; }
    sleep 1
  done
  echo "order $order is closed"
}

place 3
await_closed

# --- closed --------------------------------------------------------------------------------------

check() {
  local what=$1
  shift
  "$@" || { echo "compose check failed: $what" >&2; exit 1; }
}

status() {
  curl -s -o /dev/null --max-time 5 -w '%{http_code}' "$@" || true
}

container() {
  "${compose[@]}" ps -q "$1"
}

is() {
  [ "$1" = "$2" ] || { echo "found '$1', expected '$2'" >&2; return 1; }
}

# The values of .env, one on each line. Settings that are no secrets are short.
secrets() {
  sed -n 's/^[A-Z][A-Z0-9_]*=//p' .env | grep -E '.{16,}'
}

# Reads what is given; fails when a secret is in it.
without_secrets() {
  ! grep -aqF -f <(secrets)
}

redis_without_password() {
  docker exec "$(container redis)" redis-cli get x 2>&1 | grep -q NOAUTH
}

command_lines() {
  # $f and $1 are the container's.
  # shellcheck disable=SC2016
  docker exec "$(container "$1")" sh -c 'for f in /proc/[0-9]*/cmdline; do tr "\000" " " <"$f"; echo; done 2>/dev/null'
}

for path in / /eureka/apps /eureka/apps/ORDER-SERVICE /actuator/env; do
  check "the registry's $path asks for a password" is "$(status "http://127.0.0.1:8761$path")" 401
done
check "the scheduler asks who it is" is "$(status http://127.0.0.1:8080/api/v1/queues)" 401
check "Redis asks for a password" redis_without_password
for service in redis registry scheduler scheduler-2 demo; do
  id=$(container "$service")
  check "$service has a read-only root" is "$(docker inspect -f '{{.HostConfig.ReadonlyRootfs}}' "$id")" true
  check "$service has no capabilities" is "$(docker inspect -f '{{.HostConfig.CapDrop}} {{.HostConfig.CapAdd}}' "$id")" '[ALL] []'
  check "$service gets no new privileges" is "$(docker inspect -f '{{.HostConfig.SecurityOpt}}' "$id")" '[no-new-privileges:true]'
  check "$service is not root" [ "$(docker exec "$id" id -u)" != 0 ]
  check "$service: first process" [ -n "$(command_lines "$service")" ]
  check "$service has no secret on a command line" without_secrets < <(command_lines "$service")
  check "$service has no secret in its log" without_secrets < <(docker logs "$id" 2>&1)
done
echo "closed: the registry, Redis, five containers"
"${compose[@]}" logs --no-color demo | grep -o "order $order closed.*" | head -n 1

# --- a scheduler dies ----------------------------------------------------------------------------

for service in scheduler scheduler-2; do
  place 6
  docker kill "$(container "$service")" >/dev/null
  echo "$service is killed"
  await_closed
  "${compose[@]}" up -d "$service" >/dev/null 2>&1
  until [ "$(docker inspect -f '{{.State.Health.Status}}' "$(container "$service")")" = healthy ]; do
    sleep 1
  done
done

# --- everything is taken down and comes back -----------------------------------------------------

token=$(docker exec "$(container scheduler)" sed -n 's/^punctual.client.token=//p' /credentials/order-service.properties)
job=http://127.0.0.1:8080/api/v1/jobs/order-service/order.close/kept
as_order_service() {
  curl -s -o /dev/null --max-time 10 -w '%{http_code}' -H @<(echo "Authorization: Bearer $token") "$@" || true
}
check "a job is taken" is "$(as_order_service -X POST http://127.0.0.1:8080/api/v1/jobs \
  -H 'Content-Type: application/json' \
  -d '{"application":"order-service","taskType":"order.close","taskId":"kept","delay":"1h"}')" 201
"${compose[@]}" down >/dev/null 2>&1
"${compose[@]}" up -d >/dev/null 2>&1
deadline=$((SECONDS + 180))
until [ "$(as_order_service "$job")" = 200 ]; do
  [ $SECONDS -lt $deadline ] || { echo "the job is gone with the containers" >&2; exit 1; }
  sleep 2
done
echo "the job waited through it all"
echo "compose check passed"
