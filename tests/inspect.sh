#!/usr/bin/env bash
# inspect.sh - weft inspect, convert and check on what programs of this tree leave behind, and on a cluster that runs.
set -euo pipefail
weft=${1:?usage: tests/inspect.sh PATH-OF-WEFT PATH-OF-DIST_MNIST_ASYNC} program=${2:?}
data=$(mktemp -d)
tasks=()
# shellcheck disable=SC2317 # called by the trap
finish() {
  [ ${#tasks[@]} = 0 ] || kill "${tasks[@]}" 2>/dev/null || true
  rm -rf "$data"
}
trap finish EXIT
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

# idx FILE HEADER BYTES: the header (\x..), then zeros.
idx() {
  printf '%b' "$2" >"$data/$1"
  head -c "$3" /dev/zero >>"$data/$1"
}
for set in train t10k; do
  idx $set-images-idx3-ubyte '\0\0\x08\x03\0\0\x03\xe8\0\0\0\x1c\0\0\0\x1c' $((1000 * 784))
  idx $set-labels-idx1-ubyte '\0\0\x08\x01\0\0\x03\xe8' 1000
done
expect 0 'idx file of uint8 \[1000\], 1000 bytes' inspect "$data/train-labels-idx1-ubyte"
truncate -s 500 "$data/t10k-labels-idx1-ubyte"
expect 1 'ends early' inspect "$data/t10k-labels-idx1-ubyte"
idx t10k-labels-idx1-ubyte '\0\0\x08\x01\0\0\x03\xe8' 1000

# ---- what a training program leaves
log=$data/log
"$weft" launch --ps 1 --workers 1 --style task_id -- "$program" --data_dir "$data" --training_steps=20 --log_dir "$log" \
  >"$data/said" 2>&1 || { cat "$data/said" && exit 1; }
first=$(printf '%s\n' "$log"/*.index | sort -V | head -1)
last=$(printf '%s\n' "$log"/*.index | sort -V | tail -1)
first=${first%.index} last=${last%.index}
expect 0 'layer1/weights +float32 +\[784,500\] +1568000' inspect "$log"
expect 0 '^9 tensors, 795021 elements, 3180088 bytes' inspect "$last"
expect 0 '^global_step/sec +[0-9]+ ' inspect "$log"
expect 0 '^global_step/sec +[0-9]+ ' inspect "$log" --tag global_step/sec
expect 1 'no scalars of that --tag' inspect "$log" --tag nope
expect 0 '^min -0\.[0-9]+ +max 0\.[0-9]+ +mean -?[0-9.e-]+ +std 0\.08' inspect "$last" --values layer1/weights
expect 0 '^\[\[-?0\.[0-9]+ .*\.\.\.\]' inspect "$last" --values layer1/weights
expect 1 'Key nope not found' inspect "$last" --values nope
expect 0 '^0 tensors differ, 9 are the same' inspect "$last" "$last"
expect 1 'global_step: 1 of 1 elements differ' inspect "$first" "$last"
expect 1 '^7 tensors differ, 2 are the same' inspect "$first.index" "$log"
expect 0 'a MetaGraphDef of [0-9]+ nodes' inspect "$last.meta"
expect 0 '^ +9  VariableV2$' inspect "$last.meta"
expect 0 'on /job:ps/task:0$' inspect "$last.meta"
expect 0 'a GraphDef of [0-9]+ nodes' inspect "$log/graph.pbtxt"
expect 0 '^ +9  VariableV2$' inspect "$log/graph.pbtxt"
head -c 5000 "$log/graph.pbtxt" >"$data/cut.pbtxt"
expect 1 "^weft inspect: $data/cut.pbtxt: the text is not a GraphDef: line [0-9]+: " inspect "$data/cut.pbtxt"
expect 0 '^global_step/sec: [0-9]+ values' inspect "$log" --plot
expect 0 '^ +\|.*\*' inspect "$log" --plot --tag global_step/sec
# Two runs over each other, each with its letter.
expect 0 "^global_step/sec: [0-9]+ values \(b: $log\)" inspect "$log" "$log" --plot --tag global_step/sec
expect 0 '^ +\|.*b' inspect "$log" "$log" --plot --tag global_step/sec
expect 2 "^weft inspect: --values: takes one PATH, there are 2; see" inspect "$log" "$log" --values x
expect 0 'picture of [0-9]+ nodes' inspect "$last.meta" --dot "$data/graph.dot"
grep -q 'label="/job:ps/task:0"' "$data/graph.dot" || { echo "no box of the ps in the picture" && failed=1; }
grep -q ' -> n[0-9]* \[style=dashed' "$data/graph.dot" || { echo "no control edge in the picture" && failed=1; }
if said=$(PATH=/nonexistent "$weft" inspect "$last.meta" --dot "$data/graph.svg" 2>&1) || [[ $said != *"--dot OUT.dot writes"* ]]; then
  echo "without Graphviz it said: $said" && failed=1
fi
cp "$last.meta" "$data/graph.pb"
expect 1 "^weft inspect: $data/graph.pb: " inspect "$data/graph.pb"
head -c 100 "$last.index" >"$data/broken.index"
expect 1 "^weft inspect: $data/broken: " inspect "$data/broken"

expect 0 ': 9 arrays$' convert checkpoint "$last" "$data/all.npz"
python3 - "$data/all.npz" <<'PY' || failed=1
import struct, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None and len(z.namelist()) == 9, z.namelist()
step = z.read("global_step.npy")
assert step[:8] == b"\x93NUMPY\x01\x00", step[:8]
size = 10 + struct.unpack("<H", step[8:10])[0]
assert size % 64 == 0 and eval(step[10:size]) == {"descr": "<i8", "fortran_order": False, "shape": ()}, step[:size]
assert struct.unpack("<q", step[size:])[0] >= 20
weights = z.read("layer1/weights.npy")
size = 10 + struct.unpack("<H", weights[8:10])[0]
assert eval(weights[10:size])["shape"] == (784, 500) and len(weights) == size + 4 * 784 * 500
PY
# and back: a checkpoint that is the same
expect 0 ': 9 tensors$' convert npz "$data/all.npz" "$data/back"
expect 0 '^0 tensors differ, 9 are the same' inspect "$last" "$data/back"
head -c 100000 "$data/all.npz" >"$data/cut.npz"
expect 1 'does not end as a zip file' convert npz "$data/cut.npz" "$data/cut"
python3 - "$data/all.npz" "$data/packed.npz" "$data/strange.npz" "$data/texts.npz" <<'PY'
import sys, zipfile
whole = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as z:
    for name in whole.namelist(): z.writestr(name, whole.read(name))
with zipfile.ZipFile(sys.argv[3], "w") as z: z.writestr("x.npy", whole.read("global_step.npy")[:-1])
texts = b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }".ljust(117) + b"\n" + "ab".encode("utf-32-le")
with zipfile.ZipFile(sys.argv[4], "w") as z: z.writestr("names.npy", texts), z.writestr("step.npy", whole.read("global_step.npy"))
PY
# an array that no tensor can hold is named, and those after it are shown; a checkpoint is not made of it
expect 0 "^  names +an array of numpy's type '<U1', which tensors do not have" inspect "$data/texts.npz"
expect 0 '^  step +int64' inspect "$data/texts.npz"
expect 1 "'<U1', which tensors do not have" convert npz "$data/texts.npz" "$data/texts"
# a checkpoint whose data was cut, or is gone
cp "$last.index" "$data/short.index"
head -c 100000 "$last.data-00000-of-00001" >"$data/short.data-00000-of-00001"
expect 1 "^weft inspect: $data/short: its data is damaged: the tensors need 3180088 bytes, and the data file has 100000" inspect "$data/short"
rm "$data/short.data-00000-of-00001"
expect 1 "^weft inspect: $data/short: the files of its data .* are missing" inspect "$data/short"
expect 1 'only those can be compared; --plot draws the events of several runs' inspect "$data" "$log"
expect 0 ': 9 tensors$' convert npz "$data/packed.npz" "$data/packed"
expect 0 '^0 tensors differ, 9 are the same' inspect "$last" "$data/packed"
printf 'xxxxxxxx' | dd of="$data/packed.npz" bs=1 seek=1000000 conv=notrunc status=none
expect 1 'checksum is wrong|does not decompress' convert npz "$data/packed.npz" "$data/packed"
expect 1 'does not fit its shape' convert npz "$data/strange.npz" "$data/strange"
expect 1 'No such file' convert checkpoint "$data/nope" "$data/nope.npz"
expect 1 'No such file' convert checkpoint "$last" "$data/no/such/folder.npz"

# ---- TFRecords
gzip "$data/train-images-idx3-ubyte"
expect 0 ': 1000 Examples' convert mnist-tfrecords "$data" "$data/out.tfrecords"
expect 0 ': 1000 TFRecords, 844000 bytes of data, every checksum is right' inspect "$data/out.tfrecords"
expect 0 'image_raw +string\[1\]  784 bytes' inspect "$data/out.tfrecords"
expect 0 'pixels +int64\[1\]  \[784\]' inspect "$data/out.tfrecords"
expect 0 'label +int64\[1\]  \[0\]' inspect "$data/out.tfrecords"
head -c $((860 * 3 + 5)) "$data/out.tfrecords" >"$data/tail.tfrecords"
expect 1 '^weft inspect: .*: 5 bytes follow the last record: another one was cut off' inspect "$data/tail.tfrecords"
printf 'x' | dd of="$data/out.tfrecords" bs=1 seek=$((860 * 7 + 100)) conv=notrunc status=none
expect 1 '7 TFRecords, .* then it breaks off' inspect "$data/out.tfrecords"
expect 1 'corrupted record at 6032' inspect "$data/out.tfrecords"
expect 1 'No such file' convert mnist-tfrecords "$data/nowhere" "$data/out"

# ---- JSON: the fields that docs/commands.md lists
# fields PATH... -- PYTHON: what --json prints is an object in which the expression, of its files f, is true.
fields() {
  local paths=() output
  while [ "$1" != -- ]; do paths+=("$1") && shift; done
  output=$("$weft" inspect --json "${paths[@]}" 2>"$data/errors") || true
  if ! python3 -c 'import json, sys; f = json.load(sys.stdin)["files"]; assert eval(sys.argv[1]), f' "$2" <<<"$output"; then
    echo "weft inspect --json ${paths[*]}: not $2" && failed=1
  fi
}
fields "$last" -- 'f[0]["kind"] == "checkpoint" and len(f[0]["tensors"]) == 9 and (f[0]["elements"], f[0]["bytes"]) == (795021, 3180088)'
fields "$last.data-00000-of-00001" -- '{"name": "layer1/weights", "type": "float32", "shape": [784, 500], "bytes": 1568000} in f[0]["tensors"]'
fields "$log/checkpoint" -- "f[0]['path'] == '$last'"
fields "$last" --values layer1/weights -- 'f[0]["kind"] == "tensor" and f[0]["min"] < f[0]["mean"] < f[0]["max"] and f[0]["std"] > 0'
fields "$first" "$last" -- 'f[0]["kind"] == "comparison" and (f[0]["differ"], f[0]["same"]) == (7, 2) and len(f[0]["tensors"]) == 7'
fields "$log" -- '[x["kind"] for x in f] == ["checkpoint", "events"] and {"tag", "step", "value"} == set(f[1]["scalars"][0])'
fields "$last.meta" -- 'f[0]["kind"] == "meta_graph" and f[0]["nodes"] == sum(d["nodes"] for d in f[0]["devices"]) and f[0]["collections"]'
fields "$last.meta" -- 'all(o["known"] for d in f[0]["devices"] for o in d["ops"] if o["count"])'
fields "$data/all.npz" -- 'f[0]["kind"] == "npz" and len(f[0]["arrays"]) == 9 and f[0]["problem"] is None'
fields "$data/texts.npz" -- '[("U1" in a.get("problem", ""), a["name"]) for a in f[0]["arrays"]] == [(True, "names"), (False, "step")]'
fields "$data/cut.npz" -- '"zip" in f[0]["problem"]'
fields "$data/train-labels-idx1-ubyte" -- 'f[0]["kind"] == "idx" and f[0]["shape"] == [1000] and f[0]["type"] == "uint8"'
fields "$data/out.tfrecords" -- 'f[0]["kind"] == "tfrecords" and f[0]["records"] == 7 and "corrupted" in f[0]["problem"]'
fields "$data/out.tfrecords" -- '{"name": "label", "type": "int64", "count": 1, "text": "[0]"} in f[0]["first"][0]["features"]'
fields /nonexistent -- 'f == []'
expect 1 '"files": \[\]' inspect --json "$weft"
expect 2 '^weft inspect: --plot and --json: only one of them' inspect --json "$log" --plot

# ---- wrong use
expect 0 '^usage: weft inspect' inspect --help
expect 2 "missing PATH" inspect
expect 2 "unexpected argument 'c'" inspect a b c
expect 2 "--values: missing NAME" inspect --values
expect 1 '/nonexistent: No such file' inspect /nonexistent
expect 1 'a folder without a checkpoint, events or a SavedModel' inspect "$data"
expect 1 'neither a checkpoint, graph' inspect "$weft"
expect 1 'only those can be compared' inspect "$last" "$data/out.tfrecords"
expect 0 '^usage: weft convert' convert --help
expect 2 "unknown conversion 'frob'" convert frob a b
expect 2 "missing OUT.npz" convert checkpoint a

# ---- a cluster
serve() { # JOB: its task 0, in the background, up
  "$weft" serve --cluster "$cluster" --job "$1" --task 0 2>"$data/$1" &
  tasks+=($!)
  for _ in $(seq 200); do
    grep -q 'Started server' "$data/$1" && break
    sleep 0.05
  done
}
expect 0 '^usage: weft check' check --help
XDG_RUNTIME_DIR=$data expect 2 "missing --cluster CLUSTER" check
expect 2 "--timeout: invalid number of seconds 'x'" check --timeout x
expect 2 "unknown option '--frob'" check --frob
expect 1 'host-port pair' check --cluster 'ps=localhost'
expect 1 'ps:0 +localhost:1 .*cannot be reached: Connection refused' check --cluster 'ps=localhost:1'
expect 1 'does not resolve' check --cluster 'ps=no.such.host.invalid:1'
ports=$(cd "$(dirname "$0")" && python3 -c 'import ports; print(*ports.free_ports(3))')
read -r a b c <<<"$ports"
cluster="ps=localhost:$a;worker=localhost:$b"
serve ps
expect 1 '^1 of 2 tasks are up and agree' check --cluster "$cluster"
expect 1 "^worker:0 +localhost:$b .*cannot be reached" check --ps_hosts="localhost:$a" --worker_hosts "localhost:$b"
serve worker
expect 0 '^2 of 2 tasks are up and agree' check --cluster "$cluster"
expect 0 "^ps:0 +localhost:$a +Weft [0-9.]+ .* [0-9.]+ ms +[+-][0-9]+ ms +[0-9a-f]{16} +serving +ok$" check --cluster "$cluster"
expect 0 '^2 of 2 tasks answer' top --once --cluster "$cluster"
expect 0 '^worker:0 +serving +0 +- +- ' top --cluster "$cluster" # once, since this is no terminal
expect 0 '^2 of 2' check --job_name=worker --task_index 0 --parameter_servers="localhost:$a" --workers "localhost:$b"
expect 1 '^weft check: --ps_hosts=localhost: .*host-port pair' check --ps_hosts=localhost
TF_CONFIG="{\"cluster\": {\"ps\": [\"localhost:$a\"], \"worker\": [\"localhost:$b\"]}, \"task\": {\"type\": \"ps\", \"index\": 0}}" \
  expect 0 '^2 of 2' check
expect 1 '^worker:0 .*it says it is /job:ps/replica:0/task:0' check --cluster "ps=localhost:$b;worker=localhost:$a"
cluster="guarded=localhost:$c"
WEFT_TOKEN=secret serve guarded
WEFT_TOKEN=secret expect 0 '^1 of 1' check --cluster "$cluster"
expect 1 'does not answer as a task: (UNAUTHENTICATED|PERMISSION_DENIED)' check --cluster "$cluster"
expect 1 '^guarded:0 +no answer .*asks for a token' top --once --cluster "$cluster"
expect 1 '^0 of 1 tasks answer' top --once --cluster ps=localhost:1
exit $failed
