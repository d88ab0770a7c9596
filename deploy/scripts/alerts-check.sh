#!/usr/bin/env bash
# Checks and tests the alert rules in deploy/observability/ with promtool (Debian: apt-get install prometheus).
#   deploy/scripts/alerts-check.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../observability"

command -v promtool >/dev/null || { echo "no promtool was found; install Debian's package prometheus" >&2; exit 1; }

promtool check rules --lint-fatal alerts.yml
promtool test rules alerts-test.yml

# Each alert has a test in which it fires.
for alert in $(sed -n 's/.*- alert: //p' alerts.yml); do
  grep -q "alertname=\"$alert\"" alerts-test.yml || { echo "no test lets $alert fire" >&2; exit 1; }
done

# The password file of the configuration exists only in its container.
sed 's/password_file: .*/password: none/' prometheus.yml >prometheus-checked.yml
trap 'rm -f prometheus-checked.yml' EXIT
promtool check config --syntax-only prometheus-checked.yml
