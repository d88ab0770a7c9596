#!/usr/bin/env bash
# Deploys what applications use to a folder, as for a release, signed with a key that is made for it, and looks whether
# all of it is there. Then builds the application of docs/first-job.md from that folder.
# Expects the tests' builds, so it comes after mvn verify -Pfull.
#   deploy/scripts/release-check.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

work=$(mktemp -d)
# Also ends gpg's agent, which lives as long as its directory.
trap 'rm -rf "$work"' EXIT
export GNUPGHOME=$work/gnupg
mkdir -m 700 "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-generate-key release-check@example.com ed25519 sign never 2>/dev/null

fail() {
  echo "release check failed: $*" >&2
  exit 1
}

application=testing/system/target/first-steps/service
[ -f $application/pom.xml ] || fail "$application is not there; run first: mvn verify -Pfull"

mvn -B -q -Prelease -DskipTests -Dgpg.keyname=release-check@example.com \
  "-DaltDeploymentRepository=folder::file://$work/repository" deploy

expected=punctual
for module in $(sed -nE 's#.*<module>(.+)</module>.*#\1#p' pom.xml | sort -u); do
  grep -q '<maven.deploy.skip>true' "$module/pom.xml" || expected="$expected ${module##*/}"
done
deployed=$(ls "$work/repository/io/punctual" | sort)
expected=$(tr ' ' '\n' <<<"$expected" | sort)
[ "$deployed" = "$expected" ] || fail "deployed were" $deployed "and not" $expected

for name in $deployed; do
  folder=$work/repository/io/punctual/$name
  endings='.pom'
  case $name in
    punctual | punctual-bom) ;;
    # Starters have no classes to describe.
    *-starter | *-starter-boot3) endings='.pom .jar -sources.jar -cyclonedx.json' ;;
    *) endings='.pom .jar -sources.jar -cyclonedx.json -javadoc.jar' ;;
  esac
  for ending in $endings; do
    file=$(find "$folder" -name "$name-*[0-9T]$ending" | head -n 1)
    [ -n "$file" ] || fail "$name has no file that ends with $ending"
    [ -s "$file.asc" ] || fail "$file is not signed"
    gpg --batch --quiet --verify "$file.asc" "$file" 2>/dev/null || fail "$file has a wrong signature"
    # An application would take it for its own.
    if [ "$ending" = .jar ] && python3 -m zipfile -l "$file" | grep -q META-INF/sbom; then
      fail "$name has the bill of materials of a program"
    fi
  done
done

# An application that has nothing of ours but the folder. All else comes from the repository that this build filled.
cp -r $application "$work/application"
rm -rf "$work/application/target"
others="<id>central</id><url>file://$HOME/.m2/repository</url><snapshots><enabled>false</enabled></snapshots>"
cat >"$work/settings.xml" <<END
<settings>
  <localRepository>$work/local</localRepository>
  <profiles>
    <profile>
      <id>folder</id>
      <repositories>
        <repository><id>folder</id><url>file://$work/repository</url></repository>
        <repository>$others</repository>
      </repositories>
      <pluginRepositories>
        <pluginRepository>$others</pluginRepository>
      </pluginRepositories>
    </profile>
  </profiles>
  <activeProfiles>
    <activeProfile>folder</activeProfile>
  </activeProfiles>
</settings>
END
mvn -B -q -s "$work/settings.xml" -gs "$work/settings.xml" -f "$work/application/pom.xml" package
echo "release check passed: $(wc -w <<<"$deployed") artifacts are complete and signed, and the first job's application was built from them"
