#!/usr/bin/env bash
# cplusplus.sh BUILD - a C++17 program against the headers and the library of a build tree.
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "$(dirname "$0")/..")
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"${CXX:-c++}" -std=c++17 -Wall -Wextra -Wpedantic -Werror -I "$root/include" -I "$build/include" "$root/tests/program.cpp" \
  -o "$made/program" -L "$build/lib" -lweft -Wl,-rpath,"$build/lib"
"$made/program"
