#!/usr/bin/env bash
# Builds the last commit twice, in two directories with different names, and compares every jar and archive byte by byte.
#   deploy/scripts/reproducible-check.sh [maven options]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() {
  local directory=$1
  shift
  mkdir -p "$directory"
  git archive HEAD | tar -x -C "$directory"
  (cd "$directory" && mvn -B -q -DskipTests package "$@") >"$work/build.log" 2>&1 || {
    tail -n 40 "$work/build.log" >&2
    echo "reproducible check: the build failed" >&2
    exit 1
  }
}

# Lists what the build made, with the jars that it copied beside the programs.
jars() {
  (cd "$1" && find . -path '*/target/*' \( -name '*.jar' -o -name '*.tar.gz' \) -print0 | sort -z | xargs -0 sha256sum)
}

first=$work/first second=$work/second-with-a-longer-name
build "$first" "$@"
build "$second" "$@"

jars "$first" >"$work/first.sums"
jars "$second" >"$work/second.sums"
count=$(wc -l <"$work/first.sums")
[ "$count" -gt 0 ] || { echo "reproducible check: no jar was built" >&2; exit 1; }

if ! diff "$work/first.sums" "$work/second.sums" >"$work/difference"; then
  echo "reproducible check failed; these differ between two builds of the same commit:" >&2
  sed -n 's/^> [0-9a-f]* *//p' "$work/difference" | while read -r jar; do
    echo "  $jar" >&2
    [[ $jar == *.jar ]] && command -v unzip >/dev/null || continue
    mkdir -p "$work/a" "$work/b"
    (cd "$work/a" && unzip -qo "$first/$jar") && (cd "$work/b" && unzip -qo "$second/$jar")
    diff -rq "$work/a" "$work/b" | sed 's/^/    /' >&2 || true
    rm -rf "$work/a" "$work/b"
  done
  exit 1
fi
echo "reproducible check passed: $count jars and archives are the same in both builds"
