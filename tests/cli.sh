#!/usr/bin/env bash
# cli.sh - the `weft` program as a shell sees it: what it prints where, and its exit codes.
set -euo pipefail
weft=${1:?usage: tests/cli.sh PATH-OF-WEFT}
failed=0

# expect CODE PATTERN ARGUMENT...: the exit code, and a line of the output (both streams) that matches.
expect() {
  local code=$1 pattern=$2 output got=0
  shift 2
  output=$("$weft" "$@" 2>&1) || got=$?
  if [ "$got" != "$code" ] || ! grep -Eq -- "$pattern" <<<"$output"; then
    printf 'weft %s: exit code %s, expected %s; no "%s" in:\n%s\n' "$*" "$got" "$code" "$pattern" "$output"
    failed=1
  fi
}

expect 0 '^weft [0-9]+\.[0-9]+\.[0-9]+$' --version
expect 0 '^weft [0-9]+\.[0-9]+\.[0-9]+$' version
expect 0 '^usage: weft' --help
expect 2 '^usage: weft'
expect 2 "unknown command 'opz'; did you mean 'ops'\?" opz
expect 2 "unknown command 'frobnicate'" frobnicate
expect 2 "unknown option '--frob'" --frob
expect 0 '^MatMul +The product' ops
expect 0 '^MatMul\(a:T, b:T\) -> \(product:T\)' ops MatMul
expect 0 '^\{"name": "MatMul".*"cases": \[' ops --json MatMul
expect 2 "there is no op 'Matmul'" ops Matmul
expect 2 "trace takes a file" trace
expect 2 "trace: unknown option '--frob'" trace --frob
expect 2 "--nodes takes a number" trace --nodes many FILE
expect 1 "/nonexistent: No such file" trace /nonexistent
expect 1 "no step stats" trace /dev/null
if [ -w /dev/full ] && "$weft" ops >/dev/full 2>/dev/null; then
  echo "weft ops: a full disk went unnoticed"
  failed=1
fi
exit $failed
