#!/usr/bin/env bash
# Sees that an application finds a scheduler in a container as Spring Boot finds one: by Testcontainers and, where
# version 2 of Docker Compose is there, by a Compose file.
#   scripts/containers-check.sh [--no-build]     --no-build takes the jar that is there
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

docker info >/dev/null 2>&1 || { echo "no Docker engine answers; start one" >&2; exit 1; }
[ "${1:-}" = --no-build ] || mvn -B -q -DskipTests package -pl scheduler-server -am
docker build -q --build-arg MODULE=scheduler-server -t punctual/scheduler-server . >/dev/null

tests=ContainersCheck
if ! docker compose version >/dev/null 2>&1; then
  echo "!! 'docker compose' was not found, and Spring Boot knows no older one: without the Compose file"
  tests+='#aTestsContainer*'
fi
# Containers end with the tests' JVM; no further container to clean up after them.
TESTCONTAINERS_RYUK_DISABLED=true mvn -B -q verify -pl scheduler-client-starter -am \
  -Dtest="$tests" -Dsurefire.failIfNoSpecifiedTests=false -Djava17.test.phase=none -DskipITs
echo "containers check passed"
