#!/usr/bin/env bash
# demo.sh - scripts/demo on made-up images: Ctrl-C ends it after the step at hand, and nothing stays behind.
#
# The script runs in a folder of its own whose set-up does nothing: what is built is what is tested.
set -euo pipefail
build=$(realpath "${1:?usage: tests/demo.sh BUILD-FOLDER}")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/scripts" "$root/data"
touch "$root/log"
cp scripts/demo scripts/lib.sh "$root/scripts"
printf '#!/bin/sh\n' >"$root/scripts/setup"
chmod +x "$root/scripts/setup"
ln -s "$build" "$root/build"
fail() {
  printf 'demo.sh: %s; it said:\n%s\n' "$*" "$(cat "$root/log")"
  exit 1
}

# idx FILE HEADER BYTES: the header (\x..), then zeros up to so many bytes.
idx() {
  printf '%b' "$2" >"$root/data/$1"
  truncate -s "$3" "$root/data/$1"
}
idx train-images-idx3-ubyte '\0\0\x08\x03\0\0\xea\x60\0\0\0\x1c\0\0\0\x1c' $((16 + 60000 * 784))
idx train-labels-idx1-ubyte '\0\0\x08\x01\0\0\xea\x60' $((8 + 60000))
idx t10k-images-idx3-ubyte '\0\0\x08\x03\0\0\x03\xe8\0\0\0\x1c\0\0\0\x1c' $((16 + 1000 * 784))
idx t10k-labels-idx1-ubyte '\0\0\x08\x01\0\0\x03\xe8' $((8 + 1000))

set -m # the demo gets a process group of its own, as in a terminal
(cd "$root" && export TMPDIR="$root" && exec scripts/demo "$root/data") >"$root/log" 2>&1 &
demo=$!
# soon COMMAND...: waits until it succeeds, up to 100 s (a sanitized build is slow).
soon() {
  for _ in $(seq 1000); do
    if "$@"; then return 0; fi
    sleep 0.1
  done
  return 1
}
trained() { grep -q 'After 100 training steps' "$root/log"; }
ended() { ! kill -0 $demo 2>/dev/null; }
trained_or_ended() { trained || ended; }

soon trained_or_ended || true
trained || fail "it never trained"
kill -INT -- -$demo
if ! soon ended; then
  kill -KILL -- -$demo
  fail "it did not end after Ctrl-C"
fi
code=0
wait $demo || code=$?
[ $code = 130 ] || fail "exit code $code after Ctrl-C, expected 130"
grep -q '^demo: stopped' "$root/log" || fail "it did not say that it stopped"
if grep -q 'test accuracy' "$root/log"; then fail "it went on after Ctrl-C"; fi
if kill -0 -- -$demo 2>/dev/null; then fail "a process stayed behind"; fi
