#!/usr/bin/env bash
# Installs the programs that the tests use and the machine lacks. It needs root
# and Debian's package manager; elsewhere it says what is missing, and the tests
# that need it say that they were skipped.
set -euo pipefail

missing=()
for pair in kcat:kcat strace:strace buildah:buildah; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || missing+=("${pair##*:}")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "setup: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  log=$(mktemp)
  if ! { apt-get update -q && apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "setup: could not install ${missing[*]}; tests that need them are skipped" >&2
  fi
else
  echo "setup: not found: ${missing[*]}; tests that need them are skipped (install them to run these)" >&2
fi
