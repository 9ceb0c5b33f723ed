#!/usr/bin/env bash
# Runs every test and prints what failed and what was skipped. Tests against the
# binary run each time: Go's cache of results does not know what they depend on.
set -euo pipefail
go build -o bin/testreport ./scripts/testreport

all() {
  local code=0
  # shellcheck disable=SC2046 # a list of packages
  go test -json $(go list ./... | grep -v /compat-tests) || code=$?
  BARNABAS=$PWD/bin/barnabas go test -json -count=1 -timeout 15m ./compat-tests/... || code=$?
  return "$code"
}
all | bin/testreport
