#!/usr/bin/env bash
# Runs every fuzz target of the module, one after the other, for the given time
# (first argument; 10s), of the packages given (all). A target that finds something
# fails the run when the others have had their turn.
set -euo pipefail
time=${1:-10s}
shift || true
export CGO_ENABLED=0

targets=0 failed=()
while read -r package dir; do
  for target in $(cat "$dir"/*_test.go | sed -nE 's/^func (Fuzz[A-Za-z0-9_]+)\(.*/\1/p' | sort -u); do
    targets=$((targets + 1))
    echo "fuzz: $package $target for $time"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" || failed+=("$package $target")
  done
done < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' "${@:-./...}")

if [ "$targets" = 0 ]; then
  echo "fuzz: no targets found: this script looks in the wrong place" >&2
  exit 1
fi
echo "fuzz: $targets targets, ${#failed[@]} failed"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'fuzz: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
