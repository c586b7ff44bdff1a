#!/usr/bin/env bash
# wrong.sh - every command of `weft`, used wrongly: one line that says what is wrong and what would help, exit code 1 or 2.
set -euo pipefail
weft=${1:?usage: tests/wrong.sh PATH-OF-WEFT}
data=$(mktemp -d)
listener=
trap 'rm -rf "$data"; [ -z "$listener" ] || kill "$listener" 2>/dev/null || true' EXIT
failed=0 rows=0

# wrong CODE PATTERN ARGUMENT...: nothing on stdout, one line on stderr, which matches.
wrong() {
  local code=$1 pattern=$2 got=0
  shift 2
  rows=$((rows + 1))
  timeout 60 "$weft" "$@" >"$data/out" 2>"$data/err" </dev/null || got=$?
  if [ "$got" != "$code" ] || [ -s "$data/out" ] || [ "$(wc -l <"$data/err")" != 1 ] || ! grep -Eq -- "$pattern" "$data/err"; then
    printf 'weft %s: exit code %s, expected %s and one line with "%s"; it said:\n' "$*" "$got" "$code" "$pattern"
    cat "$data/out" "$data/err"
    failed=1
  fi
}

# Every command there is knows --help and refuses an option it does not have.
commands=$("$weft" help | sed -n -e '/^Topics/q' -e 's/^  \([a-z]*\) .*/\1/p')
[ -n "$commands" ] || { echo "wrong.sh: weft help lists nothing" && exit 1; }
for command in $commands; do
  "$weft" "$command" --help | grep -q "^usage: weft $command" || { echo "weft $command --help has no usage" && failed=1; }
  wrong 2 "^weft $command: unknown option '--frobnicate'; see 'weft $command --help'\$" "$command" --frobnicate=1
done

printf 'not a checkpoint' >"$data/broken.index"
printf 'rubbish' >"$data/rubbish.pb"
printf 'rubbish' >"$data/rubbish"
printf '{"ps": ' >"$data/cluster.json"
read -r port listener < <(python3 - <<'P'
import os, socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
if os.fork() == 0:
    print(s.getsockname()[1], os.getpid(), flush=True)
    os.closerange(0, 3)  # the reader of the test's output waits until the last process has closed it
    s.settimeout(120)
    try:
        while True: s.accept()
    except OSError:
        pass
P
)

# ---- missing files
wrong 1 "^weft inspect: $data/none: No such file" inspect "$data/none"
wrong 1 "^weft run: $data/none.py: No such file" run "$data/none.py"
wrong 1 "^weft trace: $data/none: No such file" trace "$data/none"
wrong 1 "No such file" convert checkpoint "$data/none" "$data/x.npz"
wrong 1 "No such file" convert mnist-tfrecords "$data/none" "$data/x"
wrong 1 "cannot start $data/none: No such file" launch -- "$data/none"
wrong 1 "No such file" help --man-pages "$data/no/such"
wrong 1 "^weft exec: $data/none: No such file" exec -- "$data/none"
wrong 1 "^weft convert: $data/none: No such file" convert npz "$data/none" "$data/x"
wrong 1 "/proc/none: No such file" launch --log-dir /proc/none -- true
for command in check top "serve --job ps"; do
  # shellcheck disable=SC2086 # words of a command
  wrong 1 "$data/none.json: No such file or directory; neither a file nor 'ps=host" $command --cluster "$data/none.json"
done
# ---- what cannot be read
wrong 1 "^weft inspect: $data/broken: " inspect "$data/broken"
wrong 1 "^weft convert: $data/broken: " convert checkpoint "$data/broken" "$data/x.npz"
wrong 1 "^weft inspect: $data/rubbish.pb: " inspect "$data/rubbish.pb"
wrong 1 "^weft inspect: $data/rubbish: neither" inspect "$data/rubbish"
wrong 1 "^weft trace: $data/rubbish: " trace "$data/rubbish"
wrong 1 "^weft inspect: $data/none: no checkpoint, and only those can be compared" inspect "$data/none" "$data/broken"
wrong 1 "^weft inspect: $data/broken: " inspect "$data/broken" "$data/broken"
wrong 1 "^weft inspect: $data/broken: " inspect "$data/broken" --values x
wrong 1 "^weft run: $data: a folder, not a script" run "$data"
printf 'node {' >"$data/cut.pbtxt"
wrong 1 "^weft inspect: $data/cut.pbtxt: the text is not a GraphDef: line 1: it breaks off" inspect "$data/cut.pbtxt"
# ---- clusters that make no sense
for command in check top; do
  XDG_RUNTIME_DIR=$data wrong 2 "^weft $command: missing --cluster CLUSTER; see 'weft $command --help'\$" "$command"
  wrong 1 "^weft $command: --cluster: .*host-port pair" "$command" --cluster ps=localhost
  wrong 1 "^weft $command: --cluster: " "$command" --cluster "$data/cluster.json"
  wrong 2 "^weft $command: --cluster: missing CLUSTER; see" "$command" --cluster
  wrong 2 "did you mean '--cluster'" "$command" --clusterr x
done
wrong 2 "^weft serve: missing --cluster CLUSTER; see" serve
wrong 2 "^weft serve: missing --job NAME; see" serve --cluster ps=localhost:1
wrong 1 "host-port pair" serve --cluster ps=localhost --job ps
wrong 1 'Job "worker" was not defined' serve --cluster ps=localhost:1 --job worker
wrong 1 'Task 7 was not defined' serve --cluster ps=localhost:1 --job ps --task 7
for command in check top serve "exec -- true"; do
  # shellcheck disable=SC2086 # words of a command
  TF_CONFIG='{"cluster": ' wrong 1 "TF_CONFIG: JSON: " $command
  # shellcheck disable=SC2086
  TF_CONFIG='{"cluster": {"ps": ["a"]}, "task": {"type": "ps", "index": 0}}' wrong 1 "TF_CONFIG: .*host-port pair" $command
done
# ---- ports and hosts
wrong 1 "cannot listen on 127.0.0.1:$port.*--bind" serve --cluster "ps=localhost:$port" --job ps
wrong 1 "cannot listen on .*--bind" serve --cluster ps=localhost:1 --job ps --bind 192.0.2.1:1
wrong 1 "cannot listen on .*--bind" serve --cluster ps=localhost:1 --job ps --bind no.such.host.invalid:1
wrong 1 "status page.*127.0.0.1:$port.*--status-port" serve --cluster ps=localhost:0 --job ps --status-port "$port"
WEFT_STATUS_PORT=x wrong 1 "no port for the status page: WEFT_STATUS_PORT is 'x'" serve --cluster ps=localhost:0 --job ps
WEFT_STATUS_PORT=70000 wrong 1 "no port for the status page: WEFT_STATUS_PORT is 70000" serve --cluster ps=localhost:0 --job ps
wrong 1 "no status page on port $port: Address already in use; --status-port 0" launch --status-port "$port" -- true
wrong 1 "no status page on port 65536: there is none" launch --status-port 65535 -- true
# ---- values
for kind in kubernetes tfjob compose; do
  wrong 2 "^weft manifest: missing --image IMAGE; see" manifest $kind
  wrong 2 "^weft manifest: --image: missing IMAGE; see" manifest $kind --image
  wrong 2 "^weft manifest: --workers: invalid value '0'\$" manifest $kind --workers 0 --image x
done
wrong 2 "^weft manifest: --port: invalid value '70000'$" manifest kubernetes --port=70000 --image x
wrong 2 "^weft manifest: --name: invalid value 'A'$" manifest kubernetes --name A --image x
wrong 2 "did you mean '--image'" manifest kubernetes --imag x
wrong 2 "^weft manifest: missing kubernetes, tfjob, compose or slurm; see" manifest
wrong 2 "^weft manifest: unknown kind 'swarm': there are kubernetes, tfjob, compose and slurm$" manifest swarm
wrong 2 "^weft trace: missing FILE; see" trace
wrong 2 "^weft trace: --nodes: invalid count 'x'$" trace --nodes x
wrong 2 "^weft exec: missing PROGRAM; see" exec
wrong 2 "^weft check: --timeout: invalid number of seconds 'x': it is more than 0" check --timeout x
wrong 2 "^weft top: --every: invalid number of seconds '0': it is 0.1 to 3600$" top --every 0
wrong 2 "^weft serve: --task: invalid index 'x'$" serve --task x
wrong 2 "^weft serve: --status-port: invalid port '70000'$" serve --status-port 70000
wrong 2 "^weft serve: --task: invalid index '4294967296'$" serve --cluster ps=localhost:0 --job ps --task 4294967296
wrong 2 "^weft serve: --task: invalid index '-1'$" serve --task=-1
wrong 1 "^weft serve: FAILED_PRECONDITION: .*without a token or TLS" serve --cluster ps=localhost:0 --job ps --require-auth
wrong 2 "^weft launch: --require-auth: .*WEFT_TOKEN.*--private" launch --require-auth -- true
WEFT_TOKEN=x wrong 2 "^weft launch: --private makes a token of its own" launch --private -- true
wrong 2 "^weft launch: --workers: invalid count 'many'$" launch --workers many -- true
wrong 2 "^weft launch: unknown --style 'mpi': there are tf, task_id, parameter_servers and none$" launch --style mpi -- true
wrong 2 "^weft launch: missing PROGRAM; see" launch --ps 1
wrong 2 "^weft launch: --quiet and --verbose exclude each other; see" launch --quiet --verbose -- true
wrong 1 "^weft launch: $data/no/such: No such file" launch --events "$data/no/such" -- true
wrong 2 "did you mean '--workers'" launch --worker 2 -- true
wrong 2 "^weft ops: unknown op 'Matmul'; did you mean 'MatMul'\\?$" ops Matmul
wrong 2 "^weft help: unknown command or topic 'lunch'; did you mean 'launch'\\?$" help lunch
wrong 2 "^weft: unknown command 'lunch'; did you mean 'launch'\\?$" lunch
wrong 2 "^weft help: unknown shell 'tcsh': there are bash, zsh and fish$" help --completion tcsh
wrong 2 "^weft help: unexpected argument 'x'; see" help top x
wrong 2 "^weft inspect: --dot: invalid file .picture.: its name ends in .dot" inspect "$data/rubbish.pb" --dot picture
wrong 1 "--dot is for graphs" inspect "$data" --dot x.dot
wrong 2 "--values is for checkpoints, --tag and --plot are for events" inspect "$data" --values x --plot
wrong 2 "^weft launch: --grace: invalid number of seconds 'x'$" launch --grace x -- true
wrong 1 "$data/rubbish: no .npz" convert npz "$data/rubbish" "$data/x"
wrong 2 "^weft inspect: missing PATH; see" inspect
wrong 2 "^weft inspect: unexpected argument 'c'; see" inspect a b c
wrong 2 "^weft convert: unknown conversion 'frob': there are mnist-tfrecords, checkpoint and npz$" convert frob a b
wrong 2 "^weft convert: missing OUT.npz; see" convert checkpoint a
wrong 2 "^weft version: unexpected argument 'x'; see" version x
wrong 2 "^weft run: missing SCRIPT.py; see" run
WEFT_PYTHON_PROGRAM=$data/none wrong 1 "cannot start $data/none: .*WEFT_PYTHON_PROGRAM" run "$data/rubbish"
if [ -e "$(dirname "$weft")/../python/weft/__init__.py" ]; then
  mkdir "$data/without" && echo 'raise ModuleNotFoundError' >"$data/without/numpy.py"
  PYTHONPATH=$data/without wrong 1 "has no numpy: install python3-numpy, .*WEFT_PYTHON_PROGRAM" run "$data/rubbish"
fi
echo "wrong.sh: $rows ways of wrong use"
exit $failed
