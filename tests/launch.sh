#!/usr/bin/env bash
# launch.sh - `weft launch` with small programs in the tasks: flags, prefixes, logs, restarts, signals, exit codes.
set -euo pipefail
weft=${1:?usage: tests/launch.sh PATH-OF-WEFT PATH-OF-LINEAR} linear=${2:?}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "launch.sh: $*"
  exit 1
}

# program TEXT: a shell script to be launched.
program() {
  printf '#!/usr/bin/env bash\n%s\n' "$1" >"$folder/program"
  chmod +x "$folder/program"
}

# shellcheck disable=SC2016 # for the program to expand
program 'echo "$@"; echo "$TF_CONFIG" >&2'
"$weft" launch --ps 1 --workers 2 --log-dir "$folder/logs" -- "$folder/program" --mine=1 >"$folder/out" 2>"$folder/err" ||
  fail "a program that ends well gave $?"
grep -Eq '^worker1  \| --mine=1 --ps_hosts=localhost:[0-9]+ --worker_hosts=localhost:[0-9]+,localhost:[0-9]+ --job_name=worker --task_index=1$' \
  "$folder/out" || fail "no flags behind a prefix in: $(cat "$folder/out")"
grep -q '"task": {"type": "ps", "index": 0}' "$folder/err" || fail "no TF_CONFIG in: $(cat "$folder/err")"
python3 - "$folder/logs/worker-0.err" <<'P' || fail "TF_CONFIG is no JSON"
import json, sys
assert len(json.loads(open(sys.argv[1]).read())["cluster"]["worker"]) == 2
P
grep -q -- --task_index=0 "$folder/logs/ps-0.out" || fail "standard output was not kept"

# style NAME FLAG: the program gets the flag.
style() {
  "$weft" launch --style "$1" -- "$folder/program" >"$folder/out" 2>/dev/null || fail "style $1 gave $?"
  grep -q -e "$2" "$folder/out" || fail "no $2 in: $(cat "$folder/out")"
}
style task_id --task_id=0
style parameter_servers --workers=localhost

program 'case "$*" in *=worker*) echo before; exit 7 ;; esac; sleep 60'
code=0
"$weft" launch -- "$folder/program" >"$folder/out" 2>"$folder/err" || code=$?
[ "$code" = 7 ] || fail "the failing task ended with 7, launch with $code"
grep -q 'worker0 ended with 7; its last lines:' "$folder/err" || fail "no last lines in: $(cat "$folder/err")"

program "case \"\$*\" in *=worker*) [ -e $folder/again ] || { touch $folder/again; exit 9; } ;; esac"
"$weft" launch --restart 1 -- "$folder/program" 2>"$folder/err" || fail "a task that was started again gave $?"
grep -q 'starting it again (0 left)' "$folder/err" || fail "nothing was said of the restart"

# exec: a signal that the shell waits to deliver would not end a sleep.
program 'exec sleep 60'
export XDG_RUNTIME_DIR=$folder/run
mkdir "$XDG_RUNTIME_DIR"
"$weft" launch --workers 2 --events "$folder/events" -- "$folder/program" 2>"$folder/err" &
pid=$! began=$SECONDS
for _ in $(seq 200); do
  [ "$(grep -c '"start"' "$folder/events" 2>/dev/null)" = 3 ] && break
  sleep 0.05
done
grep -Eq "^weft launch: ps=localhost:[0-9]+;worker=localhost:[0-9]+,localhost:[0-9]+; 'weft top' shows it$" "$folder/err" ||
  fail "the cluster is not told in: $(cat "$folder/err")"
"$weft" check --timeout 0.2 >"$folder/out" && fail "weft check took tasks for servers that only sleep"
grep -q '^0 of 3 tasks are up' "$folder/out" || fail "weft check did not find the cluster by itself: $(cat "$folder/out")"
code=0
"$weft" top --json >"$folder/out" || code=$?
[ "$code" = 1 ] || fail "weft top gave $code where nobody answers"
python3 -c 'import json, sys; v = json.load(open(sys.argv[1])); assert (v["up"], v["total"]) == (0, 3), v' "$folder/out" ||
  fail "weft top --json: $(cat "$folder/out")"
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[ "$code" = 130 ] || fail "Ctrl-C gave $code"
grep -q '^weft launch: Ctrl-C: told 3 running tasks to end' "$folder/err" || fail "Ctrl-C is not told in: $(cat "$folder/err")"
grep -q '^weft launch: all 3 tasks have ended' "$folder/err" || fail "the end is not told in: $(cat "$folder/err")"
python3 - "$folder/events" <<'P' || fail "the events are wrong: $(cat "$folder/events")"
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
assert [e["event"] for e in events] == 3 * ["start"] + ["interrupt"] + 3 * ["end"] + ["finish"], events
assert all(e["code"] == 130 for e in events[4:]), events
P
"$weft" check 2>"$folder/err" && fail "weft check found a cluster that has ended"
grep -q 'missing --cluster' "$folder/err" || fail "weft check said: $(cat "$folder/err")"
[ $((SECONDS - began)) -lt 8 ] || fail "Ctrl-C took $((SECONDS - began)) s"

# A job of C programs: nobody is said to have failed while it runs, although worker1 ran before worker0 had initialized the
# variables; and Ctrl-C ends it without an error of any task.
"$weft" launch --ps 1 --workers 2 -- "$linear" --steps=1000000 >"$folder/out" 2>"$folder/err" &
pid=$!
for _ in $(seq 400); do
  if grep -q '^worker0.*step: ' "$folder/out" && grep -q '^worker1.*step: ' "$folder/out"; then break; fi
  sleep 0.05
done
"$weft" top --json >"$folder/top" || fail "weft top gave $?"
python3 -c 'import json, sys; v = json.load(open(sys.argv[1]))["tasks"]; assert not any(t["last_error"] for t in v), v' "$folder/top" ||
  fail "weft top shows an error of a job that runs"
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[ "$code" = 130 ] || fail "Ctrl-C gave $code"
! grep -hE 'CANCELLED|UNAVAILABLE|ABORTED|rror' "$folder/out" "$folder/err" || fail "Ctrl-C makes tasks print the errors above"

# The same of Python programs, whose tracebacks are left to --verbose.  Not in a sanitizer build, as in cli.sh.
if [ -z "${UBSAN_OPTIONS:-}" ] && [ -e "$(dirname "$weft")/../python/weft/_weft.abi3.so" ] && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  sed 's/last_step=300/last_step=10**9/; s/sess.run(\[w, b, train\])/sess.run([w, b, train]); print("trained")/' "$(dirname "$0")/../examples/line.py" >"$folder/line.py"
  for option in --ps --verbose; do
    WEFT_PYTHON_PROGRAM=/usr/bin/python3 "$weft" launch --workers 2 --ps 1 "${option/--ps/--ps=1}" -- "$folder/line.py" >"$folder/out" 2>"$folder/err" &
    pid=$!
    for _ in $(seq 600); do
      if grep -q '^worker0.*trained' "$folder/out" && grep -q '^worker1.*trained' "$folder/out"; then break; fi
      sleep 0.05
    done
    kill -INT "$pid"
    code=0
    wait "$pid" || code=$?
    [ "$code" = 130 ] || fail "Ctrl-C of Python tasks gave $code: $(cat "$folder/err")"
    if [ "$option" = --verbose ]; then
      grep -q 'KeyboardInterrupt' "$folder/err" || fail "--verbose leaves the traceback out: $(cat "$folder/err")"
    else
      ! grep -v '^weft launch: ' "$folder/err" || fail "Ctrl-C makes Python tasks print the lines above"
    fi
  done
fi

"$weft" launch --ps 1 --workers 2 --quiet -- "$linear" --steps=5 >"$folder/out" 2>"$folder/err" || fail "the linear example gave $?"
[ ! -s "$folder/err" ] || fail "--quiet: a normal job has lines that are not the program's: $(cat "$folder/err")"
"$weft" launch --verbose -- "$linear" --steps=1 >/dev/null 2>"$folder/err" || fail "the linear example gave $?"
grep -q '^weft launch: worker0 is process [0-9]* on port' "$folder/err" || fail "--verbose does not tell processes: $(cat "$folder/err")"
grep -q 'Started server with target' "$folder/err" || fail "--verbose does not show the tasks' information: $(cat "$folder/err")"
grep -q '^weft launch: ps0 ended with 0' "$folder/err" || fail "--verbose does not tell how tasks end: $(cat "$folder/err")"
[ "$(grep -c '=> step: 4' "$folder/out")" = 2 ] || fail "two workers did not finish: $(cat "$folder/out")"
