#!/usr/bin/env bash
# Checks that an application finds a scheduler in a container as Spring Boot finds one: by Testcontainers and, if
# version 2 of Docker Compose is installed, by a Compose file.
#   deploy/scripts/containers-check.sh [--no-build]     --no-build uses the jar that is already built
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

docker info >/dev/null 2>&1 || { echo "no Docker engine answers; start one" >&2; exit 1; }
[ "${1:-}" = --no-build ] || mvn -B -q -DskipTests package -pl scheduler-server -am
deploy/scripts/images.sh scheduler-server >/dev/null

tests=ContainersCheck
if ! docker compose version >/dev/null 2>&1; then
  echo "!! 'docker compose' was not found, and Spring Boot knows no older one: without the Compose file"
  tests+='#aTestsContainer*'
fi
# Inside of a container Testcontainers may want one more image, only to ask it for the address of its host. An engine
# that shares this network publishes its ports here.
if [ -z "${TESTCONTAINERS_HOST_OVERRIDE:-}" ] && [[ ${DOCKER_HOST:-unix:} == unix:* ]] \
  && [ -e /sys/class/net/docker0 ]; then
  export TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1
fi
# Containers end with the tests' JVM; no further container to clean up after them.
TESTCONTAINERS_RYUK_DISABLED=true mvn -B -q verify -pl scheduler-client-starter -am \
  -Dtest="$tests" -Dsurefire.failIfNoSpecifiedTests=false -Djava17.test.phase=none -DskipITs
echo "containers check passed"
