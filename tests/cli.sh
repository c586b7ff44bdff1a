#!/usr/bin/env bash
# cli.sh - the `weft` program as a shell sees it: what it prints where, and its exit codes.
set -euo pipefail
weft=$(realpath "${1:?usage: tests/cli.sh PATH-OF-WEFT}")
cd "$(dirname "$0")/.."
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
expect 0 '^  protobuf-c +[0-9.]+ +messages' version
expect 0 '^usage: weft' --help
expect 2 '^usage: weft'
expect 2 "unknown command 'opz'; did you mean 'ops'\?" opz
expect 2 "unknown command 'frobnicate'" frobnicate
expect 2 "unknown option '--frob'" --frob
expect 0 '^MatMul +The product' ops
expect 0 '^MatMul\(a:T, b:T\) -> \(product:T\)' ops MatMul
expect 0 '^  ops/math/reduce.c$' ops Sum # whose row is made by a macro
expect 0 '^\{"name": "MatMul".*"cases": \[' ops --json MatMul
expect 2 "unknown op 'Matmul'; did you mean 'MatMul'" ops Matmul
expect 1 "^weft run: /nonexistent.py: No such file" run /nonexistent.py --job_name=ps
# A python3 without numpy, in front of the system's own, which has it.  Not in a sanitizer build (ctest sets UBSAN_OPTIONS
# there): Python itself is not instrumented and cannot load the library.
if [ -z "${UBSAN_OPTIONS:-}" ] && [ -e "$(dirname "$weft")/../python/weft/__init__.py" ] && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  without=$(mktemp -d)
  trap 'rm -rf "$without"' EXIT
  printf '#!/bin/sh\nexec /usr/bin/python3 -S "$@"\n' >"$without/python3" && chmod +x "$without/python3"
  echo 'import tensorflow as tf; print("ran", tf.VERSION)' >"$without/program.py"
  PATH=$without:$PATH expect 0 '^ran 1\.15' run "$without/program.py"
  echo 'import tensorflow as tf; assert 7 / 2 == 3; print "old", tf.VERSION' >"$without/old.py"
  WEFT_PYTHON_PROGRAM=/usr/bin/python3 expect 0 'old.* 1\.15' run --python2 "$without/old.py"
  # A build whose Python part was not built, as after scripts/demo: one line says what to do, from every way in.
  mkdir -p "$without/bin" "$without/python/weft"
  cp "$weft" "$without/bin/" && ln -s "$(realpath "$(dirname "$weft")/../lib")" "$without/lib"
  ln -s "$PWD"/python/weft/* "$without/python/weft/"
  for command in "run" "launch --" "exec --"; do
    read -ra words <<<"$command"
    weft=$without/bin/weft expect 1 "^weft ${words[0]}: .*/_weft.abi3.so: the Python part is not built; run scripts/setup" "${words[@]}" "$without/program.py"
  done
  said=$(PYTHONPATH=$without/python /usr/bin/python3 -B -c 'import weft' 2>&1 | tail -1) || true
  [[ $said == "ImportError: weft: the compiled part is not in "*": run scripts/setup"* ]] || { echo "import weft says: $said" && failed=1; }
fi
expect 0 '^usage: weft exec' exec --help
expect 2 "missing PROGRAM" exec
expect 2 "exec: unknown option '--frob'" exec --frob -- true
expect 2 "unknown --style 'mpi'" exec --style mpi -- true
expect 1 "/nonexistent: No such file" exec -- /nonexistent
expect 0 '^alone$' exec -- echo alone
expect 0 '^usage: weft manifest' manifest --help
expect 2 "missing kubernetes, tfjob" manifest
expect 2 "unknown kind 'helm'" manifest helm
expect 2 "missing --image IMAGE" manifest kubernetes
expect 2 "--workers: invalid value 'none'" manifest slurm --workers none
expect 2 "--name: invalid value 'UPPER'" manifest slurm --name=UPPER
expect 2 "--volume: invalid value 'here'" manifest compose --volume here
expect 0 '^#SBATCH --ntasks=4$' manifest slurm --workers 3 -- train
expect 0 '^#SBATCH --gpus-per-task=2$' manifest slurm --gpus 2 -- train
expect 0 "weft exec --style '?task_id'? -- '?train" manifest slurm --style task_id -- train
expect 2 "missing FILE" trace
expect 2 "trace: unknown option '--frob'" trace --frob
expect 2 "unknown option '--worker'; did you mean '--workers'" launch --worker 2
expect 2 "top: --every: missing SECONDS" top --every
# Every command refuses an option it does not have, in one line of one style; a suggestion is close to what was written.
for command in $("$weft" help | sed -n -e '/^Topics/q' -e 's/^  \([a-z]*\) .*/\1/p'); do
  expect 2 "^weft $command: unknown option '--frob'; see 'weft $command --help'$" "$command" --frob
  expect 2 "^weft $command: unknown option '--hlp'; did you mean '--help'\?$" "$command" --hlp
done
for command in check serve top version; do
  expect 2 "^weft $command: unexpected argument 'here'; see 'weft $command --help'$" "$command" here
done
expect 2 "^weft: unknown option '--versoin'; did you mean '--version'\?$" --versoin
expect 2 "^weft launch: unknown option '-workers'; did you mean '--workers'\?$" launch -workers 2
expect 2 "--nodes: invalid count 'many'" trace --nodes many FILE
expect 1 "/nonexistent: No such file" trace /nonexistent
expect 1 "no step stats" trace /dev/null
expect 0 '^usage: weft serve' serve --help
expect 2 "missing --cluster" serve
expect 2 "missing --job NAME" serve --cluster 'ps=localhost:1'
expect 2 "^weft serve: --task: invalid index 'x'$" serve --task x
expect 2 "unknown option '--frob'" serve --frob
expect 1 'INVALID_ARGUMENT: .*host-port pair' serve --cluster 'ps=localhost' --job ps
expect 1 'Job "worker" was not defined in cluster' serve --cluster 'ps=localhost:1' --job worker
expect 1 'PERMISSION_DENIED|Could not|cannot listen' serve --cluster 'ps=192.0.2.1:1' --job ps --bind 192.0.2.1:1

# ---- help: topics, and the completion of every shell
for topic in clusters security environment; do
  expect 0 "^  $topic +" help
  expect 0 'WEFT_|weft' help $topic
done
# Every variable that the sources read is explained, and no other.
mapfile -t sources < <(xargs -n1 <cmake/floors.txt && echo cli && echo python)
read_here=$(grep -rhoE 'getenv\("WEFT_[A-Z0-9_]+"|environ[^"]*"WEFT_[A-Z0-9_]+"' --include='*.c' --include='*.py' --include='*.cu' \
  "${sources[@]}" | grep -oE 'WEFT_[A-Z0-9_]+' | sort -u)
explained=$("$weft" help environment | grep -oE 'WEFT_[A-Z0-9_]+' | sort -u)
for name in $read_here; do
  grep -qx "$name" <<<"$explained" || { echo "weft help environment does not explain $name" && failed=1; }
done
for name in $explained; do
  grep -rqF "\"$name\"" "${sources[@]}" || { echo "weft help environment explains $name, which nobody reads" && failed=1; }
done
# A flag that no test gives to this command, or that the command's row of docs/commands.md lacks, is one that nobody checks.
given=$(grep -rhv '^ *#' tests/*.sh tests/cluster tests/interop tests/deploy tests/campaigns tests/python scripts --include='*.py' \
  --include='*.sh' --include='[a-z_-]*' | grep -E -- '--[a-z]')
# So is one that the man page or the completion of a shell lacks.
pages=$(mktemp -d)
"$weft" help --man-pages "$pages"
for shell in bash zsh fish; do "$weft" help --completion "$shell" >"$pages/$shell"; done
for command in $("$weft" help | sed -n -e '/^Topics/q' -e 's/^  \([a-z]*\) .*/\1/p'); do
  sed -n "s/^ *$command) words=/&/p" "$pages/bash" >"$pages/bash.own"
  sed -n "/^ *$command)$/,/;;/p" "$pages/zsh" >"$pages/zsh.own"
  sed -n "s/.*seen_subcommand_from $command' -l /--/p" "$pages/fish" >"$pages/fish.own"
  sed -e 's/\\f[BIR]//g' -e 's/\\//g' "$pages/weft-$command.1" >"$pages/man.own"
  for flag in $("$weft" "$command" --help 2>/dev/null | grep -oE '^  --[a-z0-9-]+' || true); do
    grep -qE -- "\\b$command\\b.*$flag([^a-z-]|$)" <<<"$given" || { echo "weft $command $flag: no test gives it" && failed=1; }
    grep -qE -- "^\\| .weft $command\\b.*$flag([^a-z-]|$)" docs/commands.md ||
      { echo "weft $command $flag: its row of docs/commands.md lacks it" && failed=1; }
    mapfile -t lacking < <(cd "$pages" && grep -LE -- "(^|[^a-z-])$flag([^a-z-]|$)" ./*.own)
    [ ${#lacking[@]} = 0 ] || { echo "weft $command $flag: not in ${lacking[*]}" && failed=1; }
  done
done
rm -rf "$pages"
expect 0 'complete -F _weft weft' help --completion bash
expect 0 '^#compdef weft' help --completion zsh
expect 0 "^complete -c weft -n '__fish_seen_subcommand_from launch' -l workers" help --completion fish
for shell in bash zsh fish; do
  if command -v "$shell" >/dev/null; then
    "$weft" help --completion "$shell" | "$shell" -n /dev/stdin || { echo "the completion of $shell is no program of $shell" && failed=1; }
  fi
done
# ---- --json
"$weft" version --json | python3 -c 'import json, sys; v = json.load(sys.stdin); assert v["version"] and v["libraries"][0]["version"], v' || failed=1
{ "$weft" check --json --timeout 0.2 --cluster 'ps=localhost:1' || true; } | python3 -c '
import json, sys
v = json.load(sys.stdin)
task = v["tasks"][0]
assert (v["up"], v["total"], task["job"], task["task"], task["ok"], task["version"]) == (0, 1, "ps", 0, False, None), v
assert "the port cannot be reached" in task["problem"], v' || failed=1

# A bare task starts, says so, and leaves with 0 at the first SIGTERM.
log=$(mktemp)
"$weft" serve --cluster 'ps=localhost:0' --job ps --task 0 2>"$log" &
server=$!
for _ in $(seq 100); do
  grep -q 'Started server with target: grpc://localhost:' "$log" && break
  sleep 0.05
done
kill -TERM "$server"
got=0
wait "$server" || got=$?
if [ "$got" != 0 ] || ! grep -q 'Started server' "$log"; then
  printf 'weft serve: exit code %s after SIGTERM, expected 0:\n%s\n' "$got" "$(cat "$log")"
  failed=1
fi
rm -f "$log"
if [ -w /dev/full ] && "$weft" ops >/dev/full 2>/dev/null; then
  echo "weft ops: a full disk went unnoticed"
  failed=1
fi
exit $failed
