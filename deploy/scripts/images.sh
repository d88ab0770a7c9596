#!/usr/bin/env bash
# Builds the images of the programs from the jars that `mvn package` built. Pushes nothing.
#   deploy/scripts/images.sh [MODULE...]          scheduler-server, eureka-registry and demo-order-service by default
#   deploy/scripts/images.sh --compare [MODULE...]  builds each twice, without a cache, and compares their layers
# Images are named punctual/MODULE:VERSION and punctual/MODULE:latest; IMAGE_PREFIX=registry.example/punctual replaces
# the part before the module. All times in an image are those of the last commit, SOURCE_DATE_EPOCH overrides them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

compare=
if [ "${1:-}" = --compare ]; then
  compare=yes
  shift
fi
modules=("$@")
[ $# -gt 0 ] || modules=(scheduler-server eureka-registry demo-order-service)

fail() {
  echo "images: $*" >&2
  exit 1
}

docker info >/dev/null 2>&1 || fail "no Docker engine answers; start one"
version=$(sed -n '/<artifactId>punctual<\/artifactId>/,/<version>/s#.*<version>\(.*\)</version>.*#\1#p' pom.xml | head -n 1)
[ -n "$version" ] || fail "pom.xml has no version"
# A source archive has no commits: then the caller says both.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} || fail "no commit is found here; set SOURCE_DATE_EPOCH"
revision=${REVISION:-$(git rev-parse HEAD)} || fail "no commit is found here; set REVISION"
if [ -z "${REVISION:-}" ] && [ -n "$(git status --porcelain --untracked-files=no)" ]; then
  revision+=-modified
fi

# Builds the image of a module: build MODULE TAG...
build() {
  local module=$1 tag tags=()
  shift
  [ -e "$module/target/$module-$version.jar" ] \
    || fail "$module/target/$module-$version.jar is missing; run mvn -DskipTests package"
  for tag in "$@"; do
    tags+=(-t "$tag")
  done
  SOURCE_DATE_EPOCH=$epoch docker build -q ${compare:+--no-cache} -f deploy/images/Dockerfile \
    --build-arg "MODULE=$module" --build-arg "VERSION=$version" --build-arg "SOURCE_DATE_EPOCH=$epoch" \
    --label "org.opencontainers.image.title=$module" \
    --label "org.opencontainers.image.version=$version" \
    --label "org.opencontainers.image.revision=$revision" \
    --label "org.opencontainers.image.created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)" \
    "${tags[@]}" . >/dev/null || fail "the image of $module was not built"
}

layers() {
  docker image inspect -f '{{range .RootFS.Layers}}{{println .}}{{end}}' "$1"
}

for module in "${modules[@]}"; do
  image=${IMAGE_PREFIX:-punctual}/$module
  build "$module" "$image:$version" "$image:latest"
  if [ -n "$compare" ]; then
    first=$(layers "$image:$version")
    build "$module" "$image:$version" "$image:latest"
    [ "$first" = "$(layers "$image:$version")" ] || fail "two builds of $module have different layers"
    echo "$image:$version, the same $(wc -l <<<"$first") layers in two builds"
  else
    echo "$image:$version"
  fi
done
