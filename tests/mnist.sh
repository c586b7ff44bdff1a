#!/usr/bin/env bash
# mnist.sh - the mnist example on made-up images, from its data to the trace it leaves, and what Ctrl-C does to it.
set -euo pipefail
mnist=${1:?usage: tests/mnist.sh PATH-OF-MNIST PATH-OF-WEFT} weft=${2:?}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
fail() {
  echo "mnist.sh: $*"
  exit 1
}

# idx FILE HEADER COUNT: the header's bytes (\x..), then COUNT zeros.
idx() {
  printf '%b' "$2" >"$data/$1"
  head -c "$3" /dev/zero >>"$data/$1"
}
for set in train t10k; do
  idx $set-images-idx3-ubyte '\0\0\x08\x03\0\0\x03\xe8\0\0\0\x1c\0\0\0\x1c' $((1000 * 784))
  idx $set-labels-idx1-ubyte '\0\0\x08\x01\0\0\x03\xe8' 1000
done
gzip "$data/train-images-idx3-ubyte" "$data/t10k-labels-idx1-ubyte"

"$mnist" --model softmax --epochs 2 --trace "$data/step" "$data" >"$data/log" || fail "training failed: $(cat "$data/log")"
grep -q '^epoch 2  test accuracy 1.0000' "$data/log" || fail "a thousand zeros were not learned: $(cat "$data/log")"

"$weft" trace --chrome "$data/chrome.json" "$data/step" >"$data/table" || fail "weft trace failed"
# The product that is the weights' gradient is added to them as it is made: part of one of the two updates.
grep -Eq '^  MatMul +1 ' "$data/table" || fail "not one product in: $(cat "$data/table")"
grep -Eq '^  ApplyGradientDescent +2 ' "$data/table" || fail "no two updates in: $(cat "$data/table")"
grep -Eq '^  logits/MatMul +1 ' "$data/table" || fail "no node logits/MatMul in: $(cat "$data/table")"
python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))["traceEvents"]) > 9' "$data/chrome.json" ||
  fail "the trace for Chrome does not load"
if "$weft" trace "$data/log" >/dev/null 2>&1; then fail "weft trace took any file for a trace"; fi

truncate -s 5000 "$data/t10k-images-idx3-ubyte"
if "$mnist" "$data" >/dev/null 2>"$data/log"; then fail "a truncated file was trained on"; fi
grep -q 't10k-images-idx3-ubyte is no idx file: it ends early' "$data/log" || fail "unclear: $(cat "$data/log")"
