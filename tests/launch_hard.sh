#!/usr/bin/env bash
# launch_hard.sh - `weft launch` with programs that crash, that ignore signals, that print a gigabyte, 32 at once, and
# on a terminal.
# shellcheck disable=SC2016 # programs in quotes are for their shell to expand
set -euo pipefail
weft=${1:?usage: tests/launch_hard.sh PATH-OF-WEFT}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "launch_hard.sh: $*"
  exit 1
}

# program TEXT: a shell script to be launched.
program() {
  printf '#!/usr/bin/env bash\n%s\n' "$1" >"$folder/program"
  chmod +x "$folder/program"
}

# launch CODE OPTION...: runs the program, and ends with that exit code.
launch() {
  local code=$1 got=0
  shift
  timeout 100 "$weft" launch "$@" -- "$folder/program" >"$folder/out" 2>"$folder/err" </dev/null || got=$?
  [ "$got" = "$code" ] || fail "launch $*: exit code $got, expected $code: $(tail -5 "$folder/err")"
}

program 'case "$*" in *=worker*) echo "about to crash"; kill -SEGV $$ ;; esac; exec sleep 100'
launch 139
grep -q 'worker0 ended with 139 (Segmentation fault); its last lines:' "$folder/err" || fail "a crash went unnamed"
grep -q '    about to crash' "$folder/err" || fail "the crash came without its last lines"

# One fails; another ignores being told to end, and is killed once its time is up.  Nothing stays behind.
program "case \"\$*\" in *=worker*) until [ -s $folder/ps ]; do sleep 0.05; done; exit 3 ;; esac
trap '' TERM INT; echo \$\$ >$folder/ps; while :; do sleep 0.1; done"
launch 3 --grace 1
if kill -0 "$(cat "$folder/ps")" 2>/dev/null; then fail "a task that ignores SIGTERM was left behind"; fi

# The first Ctrl-C is passed on, which these ignore; the second kills.
program "trap '' TERM; trap 'touch $folder/int\$\$' INT; touch $folder/up\$\$; while :; do sleep 0.1; done"
"$weft" launch --workers 2 --grace 1000 -- "$folder/program" >/dev/null 2>&1 &
pid=$!
until [ "$(find "$folder" -name 'up*' | wc -l)" = 3 ]; do sleep 0.05; done
kill -INT $pid
until [ "$(find "$folder" -name 'int*' | wc -l)" = 3 ]; do sleep 0.05; done
sleep 0.5 # the launch does not end meanwhile
kill -0 $pid || fail "one Ctrl-C ended tasks that ignore it"
kill -INT $pid
code=0
wait $pid || code=$?
[ $code = 130 ] || fail "two Ctrl-C gave $code"

# A gigabyte, in lines of every length, passes through; none of it is kept.
program 'case "$*" in *=worker*) head -c 900000000 /dev/zero | tr "\0" x; echo; yes "$(printf %0200d 7)" | head -c 100000000 ;; esac'
python3 - "$weft" "$folder/program" <<'P' || fail "a gigabyte"
import os, subprocess, sys
out = open(os.devnull, "w")
pid = subprocess.Popen([sys.argv[1], "launch", "--", sys.argv[2]], stdout=out).pid
_, status, used = os.wait4(pid, 0)
assert status == 0, f"it ended with {status}"
assert used.ru_maxrss < 400_000, f"it took {used.ru_maxrss} kB"
P

# 32 tasks, each of them a task of its own.
program 'echo "$@"'
launch 0 --ps 2 --workers 30 --log-dir "$folder/of/many/logs"
[ "$(grep -c -- '--job_name=' "$folder/out")" = 32 ] || fail "32 tasks printed $(wc -l <"$folder/out") lines"
[ "$(grep -o -- '--job_name=.*' "$folder/out" | sort -u | wc -l)" = 32 ] || fail "two processes are the same task"
[ "$(head -1 "$folder/out" | grep -o 'localhost:[0-9]*' | sort -u | wc -l)" = 32 ] || fail "two tasks have one port"
[ "$(find "$folder/of/many/logs" -name '*.out' -size +0 | wc -l)" = 32 ] || fail "32 tasks left other than 32 logs"

# On a terminal: colored prefixes, and at the bottom a line for each worker that is drawn again.
program 'case "$*" in *=worker*) for i in 10 20; do echo "step $i loss 0.5"; sleep 0.4; done
  echo "After 9 training steps (30 global steps), loss on training batch is 0.25.  (0.005 sec/batch)"; sleep 0.4 ;; esac'
python3 - "$weft" "$folder/program" <<'P' >"$folder/tty" || fail "a terminal"
import os, pty, sys
def read(fd):
    return os.read(fd, 65536)
sys.exit(os.waitstatus_to_exitcode(pty.spawn([sys.argv[1], "launch", "--steps", "40", "--workers", "2", "--", sys.argv[2]], read)))
P
grep -qP '\x1b\[3[0-9]mworker1 +\|\x1b\[0m step 20 loss 0.5' "$folder/tty" || fail "no colored prefix: $(cat -v "$folder/tty")"
grep -qP 'worker0 +\[##\.+\] +25 % +step 10, [0-9.]+ steps/s, loss 0\.5' "$folder/tty" || fail "no live line: $(cat -v "$folder/tty")"
grep -qP 'worker1 +\[#+\.+\] +75 % +step 30, .*loss 0\.25' "$folder/tty" || fail "no live line of a sentence: $(cat -v "$folder/tty")"
grep -q 'weft launch: all 3 tasks have ended, after [0-9.]* s' "$folder/tty" || fail "no word at the end: $(cat -v "$folder/tty")"
grep -qP '\x1b\[J' "$folder/tty" || fail "the live lines were not taken away"
