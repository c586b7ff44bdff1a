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
  step_names+=("$name") step_results+=("$result") step_seconds+=($((SECONDS - start))) step_reasons+=("$reason")
}

# skip NAME WHY: a step that cannot run here. In CI that is a failure unless tests/skips.txt lists step:NAME.
skip() {
  say "$1: skipped, $2"
  step_names+=("$1: $2") step_seconds+=(0) step_reasons+=("")
  if python3 tests/skips.py step "$1"; then step_results+=(skip); else step_results+=(FAIL); fi
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
