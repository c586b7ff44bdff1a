#!/usr/bin/env bash
# cplusplus.sh BUILD - a C++17 program against the headers and the library of a build tree; and the macros of the headers
# in a C program whose compiler warns of all it can.
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "$(dirname "$0")/..")
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"${CXX:-c++}" -std=c++17 -Wall -Wextra -Wpedantic -Werror -I "$root/include" -I "$build/include" "$root/tests/program.cpp" \
  -o "$made/program" -L "$build/lib" -lweft -Wl,-rpath,"$build/lib"
"$made/program"
cat >"$made/macros.c" <<'EOF'
#include <weft/ops.h>
#include <weft/weft.h>
int main(void) {
  weft_graph *g;
  weft_must(weft_graph_create(&g));
  weft_out x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(2, -1)), none = WEFT_NONE, given[] = {WEFT_NONE, x};
  weft_out y = weft_input(g, "y", WEFT_FLOAT, WEFT_SCALAR);
  weft_request request = {.n_fetch = 1, .fetches = given};
  weft_graph_destroy(g);
  return none.node == -1 && y.node >= 0 && request.n_fetch == 1 ? 0 : 1;
}
EOF
for compiler in gcc clang; do
  command -v "$compiler" >/dev/null || continue
  "$compiler" -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror -I "$root/include" -I "$build/include" \
    "$made/macros.c" -o "$made/macros" -L "$build/lib" -lweft -Wl,-rpath,"$build/lib"
  "$made/macros"
done
