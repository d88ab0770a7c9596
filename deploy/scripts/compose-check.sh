#!/usr/bin/env bash
# Checks docker-compose.yml: nothing is open without a password, orders close themselves, traces show it, and nothing
# is lost when containers are killed or all of them are replaced with new secrets. Takes everything down at the end.
# Writes .env if there is none.
#   deploy/scripts/compose-check.sh [--no-build]     --no-build uses the jars that are already built
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

docker info >/dev/null 2>&1 || { echo "no Docker engine answers; start one" >&2; exit 1; }
if docker compose version >/dev/null 2>&1; then
  compose=(docker compose)
elif command -v docker-compose >/dev/null; then
  compose=(docker-compose)
else
  echo "neither 'docker compose' nor docker-compose was found; install one" >&2
  exit 1
fi

[ -e .env ] || deploy/scripts/make-env.sh
work=$(mktemp -d)
# Its secrets change during the check; those of .env stay.
env=$work/env
cp .env "$env"
# Programs run for a short time here, so the second compiler does not pay.
quick=$work/quick.yml
{
  echo 'services:'
  printf '  %s: {environment: {JAVA_TOOL_OPTIONS: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}}\n' \
    registry scheduler scheduler-2 demo
} >"$quick"
compose+=(-p punctual-check --env-file "$env" -f docker-compose.yml -f "$quick")

[ "${1:-}" = --no-build ] || mvn -B -q -DskipTests package \
  -pl eureka-registry,scheduler-server,demo-order-service -am

# Prints the output of a command only if it fails.
quietly() {
  "$@" >"$work/said" 2>&1 || { cat "$work/said" >&2; return 1; }
}

everything_down() {
  local result=$?
  [ $result -eq 0 ] || "${compose[@]}" logs --tail=40 || true
  "${compose[@]}" --profile observability down -v --remove-orphans -t 1 >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap everything_down EXIT

step() {
  printf '%4d s  %s\n' $SECONDS "$*"
}

fail() {
  echo "compose check failed: $*" >&2
  exit 1
}

# Waits at most so many seconds until a command succeeds: within SECONDS WHAT COMMAND...
within() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    [ $SECONDS -lt $deadline ] || fail "$what"
    sleep 0.5
  done
}

shop=http://127.0.0.1:8081
job=http://127.0.0.1:8080/api/v1/jobs/order-service/order.close

# Lists the containers of a service.
containers() {
  "${compose[@]}" ps -q "$1"
}

healthy() {
  local id
  for id in $(containers "$1"); do
    [ "$(docker inspect -f '{{.State.Health.Status}}' "$id")" = healthy ] || return 1
  done
}

try_to_place() {
  order=$(curl -sf --max-time 20 -X POST "$shop/orders" \
    -H 'Content-Type: application/json' -d "{\"item\":\"tea\",\"payWithinSeconds\":$1}" \
    | sed -n 's/.*"id":"\([^"]*\)".*/\1/p')
  [ -n "$order" ]
}

# Places an order that is to be paid within so many seconds. Sets $order.
place() {
  within 60 "no order could be placed" try_to_place "$1"
}

# Whether an order has a status: order_is ID STATUS
order_is() {
  curl -sf --max-time 5 "$shop/orders/$1" | grep -q "\"status\":\"$2\""
}

closes() {
  within "${2:-60}" "order $1 did not close in time" order_is "$1" CLOSED
}

# --- up ------------------------------------------------------------------------------------------

# Removes what an earlier check left when it was cut off.
quietly "${compose[@]}" --profile observability down -v --remove-orphans -t 1
# First, so that demos find it.
quietly "${compose[@]}" up -d jaeger
quietly deploy/scripts/images.sh
quietly "${compose[@]}" build redis postgres shop
quietly "${compose[@]}" up -d
step "all is up"

# One for each of the two demos, as they take turns.
place 3
first=$order
place 3
closes "$first"
closes "$order"
step "orders $first and $order are closed"

# --- closed --------------------------------------------------------------------------------------

check() {
  local what=$1
  shift
  "$@" || fail "$what"
}

is() {
  [ "$1" = "$2" ] || { echo "found '$1', expected '$2'" >&2; return 1; }
}

status() {
  curl -s -o /dev/null --max-time 5 -w '%{http_code}' "$@" || true
}

# Prints the secrets, one on each line. Settings that are not secret are short.
secrets() {
  sed -n 's/^[A-Z][A-Z0-9_]*=//p' "$env" | grep -E '.{16,}'
}

# Fails if its input contains a secret.
without_secrets() {
  ! grep -aqF -f <(secrets)
}

redis_without_password() {
  docker exec "$(containers redis)" redis-cli get x 2>&1 | grep -q NOAUTH
}

# Neither over the network nor from within, where the original image lets everyone in.
postgres_without_password() {
  local id address user said
  id=$(containers postgres)
  for address in postgres /run/punctual; do
    for user in shop postgres; do
      said=$(docker exec -e PGCONNECT_TIMEOUT=5 "$id" psql -w -h "$address" -U "$user" -d shop -c 'select 1' 2>&1) \
        && return 1
      grep -qE 'no password supplied|no pg_hba.conf entry' <<<"$said" || return 1
    done
  done
}

command_lines() {
  # $f is the container's.
  # shellcheck disable=SC2016
  docker exec "$1" sh -c 'for f in /proc/[0-9]*/cmdline; do tr "\000" " " <"$f"; echo; done 2>/dev/null'
}

for path in / /eureka/apps /eureka/apps/ORDER-SERVICE /actuator/env; do
  check "the registry's $path asks for a password" is "$(status "http://127.0.0.1:8761$path")" 401
done
check "the scheduler asks for credentials" is "$(status http://127.0.0.1:8080/api/v1/queues)" 401
check "Redis asks for a password" redis_without_password
check "PostgreSQL asks for a password" postgres_without_password
for path in /punctual/callback /actuator/health /actuator; do
  check "the shop's $path is closed" is "$(status "$shop$path")" 404
done
for service in redis registry scheduler scheduler-2 postgres demo shop jaeger; do
  [ -n "$(containers "$service")" ] || fail "$service does not run"
  for id in $(containers "$service"); do
    check "$service has a read-only root, no capabilities, gets no new privileges, and has bounds" is \
      "$(docker inspect -f '{{with .HostConfig}}{{.ReadonlyRootfs}} {{.CapDrop}} {{.CapAdd}} {{.SecurityOpt}} {{gt .Memory 0}} {{.PidsLimit}}{{end}}' "$id")" \
      'true [ALL] [] [no-new-privileges:true] true 512'
    check "$service is not root" [ "$(docker exec "$id" id -u)" != 0 ]
    check "$service is reached only from this machine" is \
      "$(docker port "$id" | grep -v ' 127\.0\.0\.1:' || true)" ''
    check "$service: first process" [ -n "$(command_lines "$id")" ]
    check "$service has no secret on a command line" without_secrets < <(command_lines "$id")
    check "$service has no secret in its log" without_secrets < <(docker logs "$id" 2>&1)
  done
done
step "closed: every port asks for a password, no container is root, none shows a secret"

# --- traces --------------------------------------------------------------------------------------

# Prints the traces of closed orders, as Grafana gets them from Jaeger.
traces() {
  docker exec "$(containers jaeger)" wget -q -O - \
    'http://127.0.0.1:16686/api/traces?service=order-service&operation=process%20order.close&limit=20' 2>/dev/null
}

# Whether one trace has the order and its job, and spans come from both demos.
traced() {
  local found
  found=$(traces) || return 1
  grep -q '"operationName":"http post /orders"' <<<"$found" \
    && grep -q '"operationName":"process order.close"' <<<"$found" \
    && [ "$(grep -o '"key":"service.instance.id"[^}]*' <<<"$found" | sort -u | wc -l)" -ge 2 ]
}

within 30 "no trace goes from an order to its end" traced
step "traces go from orders to their ends, through both demos"

# --- more demos, and some die --------------------------------------------------------------------

quietly "${compose[@]}" up -d --no-recreate --scale demo=3 demo
check "three demos run" is "$(containers demo | wc -l)" 3
within 90 "three demos are healthy" healthy demo
step "three demos run"

# Whether the job of an order has a state, asked with the token of the shop: job_is ORDER STATE
job_is() {
  local token
  token=$(docker exec "$(containers scheduler)" sed -n 's/^punctual.token=//p' /credentials/order-service.properties)
  curl -sf --max-time 10 -H @<(echo "Authorization: Bearer $token") "$job/$1" | grep -q "\"state\":\"$2\""
}

place 3600
kept=$order
within 30 "the job of order $kept does not wait" job_is "$kept" delayed
place 6
before=$order
docker kill "$(containers scheduler)" "$(containers demo | head -n 1)" >/dev/null
place 3
closes "$order"
closes "$before"
step "a scheduler and a demo were killed: orders $before and $order, of before and after, are closed"

# --- everything is taken down and comes back, with other secrets ---------------------------------

# Replaces each secret by a new one, as deploy/scripts/make-env.sh makes them.
with_new_secrets() {
  local line
  while IFS= read -r line; do
    if [[ $line =~ ^([A-Z][A-Z0-9_]*)=.{16,}$ ]]; then
      line=${BASH_REMATCH[1]}=$(od -An -v -N32 -tx1 /dev/urandom | tr -d ' \n')
    fi
    echo "$line"
  done
}

# This one falls due while everything is down.
place 10
meanwhile=$order
quietly "${compose[@]}" --profile observability down
step "all is down"
with_new_secrets <.env >"$env"
quietly "${compose[@]}" up -d
step "all is up again"
closes "$meanwhile"
check "order $kept is still there" order_is "$kept" OPEN
within 30 "its job does not wait any more" job_is "$kept" delayed
for closed in "$first" "$before"; do
  check "order $closed is still closed" order_is "$closed" CLOSED
done
step "order $meanwhile, due meanwhile, is closed, and order $kept waits as before"
echo "compose check passed"
