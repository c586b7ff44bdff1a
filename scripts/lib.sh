# lib.sh - shared by the scripts: steps that say what they do, are timed, and end in a table.
# Sourced, never run. Each script starts in the root of the tree.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=$(nproc 2>/dev/null || echo 2)
# shellcheck disable=SC2034 # read by the scripts that source this
venv=${WEFT_VENV:-.venv}
step_names=() step_results=() step_seconds=() step_reasons=()

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# What the head of the script says, for --help.
usage() {
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit 0
}

# reasons FILE: the lines of a step's output that name what failed, for the end of the table: those of pytest, ctest and the
# compilers, else the last ones.
reasons() {
  local found
  found=$(grep -aE '^(FAILED|ERROR)[ :]|\*\*\*(Failed|Timeout|Exception)|(error|warning|finding): ' "$1" | tail -n 8) || found=$(tail -n 4 "$1")
  cut -c 1-200 <<<"$found" | sed 's/^/      /'
}

# record NAME RESULT SECONDS REASONS: a row of the table.  A second lane writes it as a command for join_lane.
record() {
  if [ -n "${lane_rows:-}" ]; then
    printf 'record %q %q %q %q\n' "$@" >>"$lane_rows"
  else
    step_names+=("$1") step_results+=("$2") step_seconds+=("$3") step_reasons+=("$4")
  fi
}

# step NAME COMMAND...: runs it and remembers how it went; the script goes on.  The output is copied by a process that the
# step does not wait for, since a task that a test left behind would hold a pipe open.
step() {
  local name=$1 start=$SECONDS result=pass reason="" log
  shift
  say "$name"
  log=$(mktemp)
  "$@" > >(tee "$log") 2>&1 || result=FAIL
  if [ "$result" = FAIL ]; then
    sleep 1 # for the copy
    reason=$(reasons "$log")
  fi
  rm -f "$log"
  record "$name" "$result" $((SECONDS - start)) "$reason"
}

# beside COMMAND...: runs a function of steps as a second lane, beside the steps that follow.  The lane is a process group,
# which does not outlive this script.
beside() {
  lane_folder=$(mktemp -d)
  set -m
  (lane_rows=$lane_folder/rows && "$@") >"$lane_folder/log" 2>&1 </dev/null &
  lane=$!
  set +m
  trap 'kill -- "-$lane" 2>/dev/null || true; rm -rf "$lane_folder"' EXIT
}

# Waits for the second lane, shows its output and adds its rows to the table.
join_lane() {
  local code=0
  wait "$lane" || code=$?
  say "the second lane"
  cat "$lane_folder/log"
  # shellcheck disable=SC1091 # the file is made by record
  [ ! -f "$lane_folder/rows" ] || source "$lane_folder/rows"
  [ $code = 0 ] || record "the second lane" FAIL 0 "$(reasons "$lane_folder/log")"
  rm -rf "$lane_folder"
  trap - EXIT
}

# skip NAME WHY: a step that cannot run here. In CI that is a failure unless tests/skips.txt lists step:NAME.
skip() {
  local result=FAIL
  say "$1: skipped, $2"
  if python3 tests/skips.py step "$1"; then result=skip; fi
  record "$1: $2" "$result" 0 ""
}

# step_with PROGRAM NAME COMMAND...: a step that needs a program which may not be here.
step_with() {
  if command -v "$1" >/dev/null; then step "${@:2}"; else skip "$2" "$1 is not installed"; fi
}

# Prints the table and, under it, what failed in each step that did; the exit code says whether every step passed.
summary() {
  local i failed=0
  say "summary"
  for i in "${!step_names[@]}"; do
    printf '%-5s %5d s  %s\n' "${step_results[$i]}" "${step_seconds[$i]}" "${step_names[$i]}"
    if [ "${step_results[$i]}" = FAIL ]; then failed=$((failed + 1)); fi
  done
  if [ "$failed" -gt 0 ]; then
    for i in "${!step_names[@]}"; do
      [ -z "${step_reasons[$i]}" ] || printf '%s:\n%s\n' "${step_names[$i]}" "${step_reasons[$i]}"
    done
    echo "$failed of ${#step_names[@]} steps failed, $SECONDS s"
    return 1
  fi
  echo "all steps passed, $SECONDS s"
}

# The folders of C code that exist so far, and the sources in them.
c_folders() {
  local folder
  for folder in include $(cat cmake/floors.txt) cli python/ext examples bench tests tools; do
    [ ! -d "$folder" ] || echo "$folder"
  done
}
c_sources() { c_folders | xargs -I{} find {} -name '*.[ch]'; }

# configure_and_build FOLDER [TARGET...] [-- CMAKE-OPTION...]
configure_and_build() {
  local folder=$1 targets=() options=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do targets+=("$1") && shift; done
  [ $# -eq 0 ] || { shift && options=("$@"); }
  [ -f "$folder/build.ninja" ] || options+=(-G Ninja)
  cmake -S . -B "$folder" -DWEFT_WERROR=ON "${options[@]}" || return 1
  cmake --build "$folder" -j "$jobs" ${targets:+--target "${targets[@]}"}
}
