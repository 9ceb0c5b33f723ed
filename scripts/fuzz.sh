#!/usr/bin/env bash
# Runs every fuzz target of the module, one after the other, for the given time.
set -euo pipefail
time=${1:-10s}
export CGO_ENABLED=0
go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' ./... | while read -r package dir; do
  grep -hoE '^func (Fuzz[A-Za-z0-9_]+)' "$dir"/*_test.go 2>/dev/null | awk '{print $2}' | sort -u | while read -r target; do
    echo "fuzz: $package $target for $time"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
  done
done
