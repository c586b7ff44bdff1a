#!/usr/bin/env bash
# install.sh - installs a build into a scratch folder and uses it as a stranger would: through pkg-config, through
# CMake's find_package, by running bin/weft, and from Python.
set -euo pipefail
build=$(realpath "${1:?usage: tests/install.sh BUILD-FOLDER}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/usr" >/dev/null
cat >"$scratch/main.c" <<'C'
#include <stdio.h>
#include <weft/weft.h>
int main(void) { return printf("weft %s\n", weft_version()) < 0; }
C
cat >"$scratch/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.25)
project(stranger C)
find_package(weft REQUIRED)
add_executable(stranger main.c)
target_link_libraries(stranger weft::weft)
C

expect() {
  local what=$1 want=$2 got
  shift 2
  got=$("$@") || { echo "install: $what: exit code $?" && exit 1; }
  [ "$got" = "$want" ] || { echo "install: $what: expected '$want', got '$got'" && exit 1; }
  echo "install: $what: $got"
}

version=$("$build/bin/weft" --version | head -1)
expect "bin/weft" "$("$build/bin/weft" --version)" "$scratch/usr/bin/weft" --version
for page in weft weft-launch weft-top; do
  gzip -t "$scratch/usr/share/man/man1/$page.1.gz" || { echo "install: no man page $page.1.gz" && exit 1; }
done
# shellcheck disable=SC2016 # for that bash to expand
expect "completion" "launch" bash -c 'source "$1" && COMP_WORDS=(weft lau) COMP_CWORD=1 && _weft && echo "${COMPREPLY[@]}"' \
  _ "$scratch/usr/share/bash-completion/completions/weft"

pc=$(dirname "$(find "$scratch/usr" -name weft.pc)")
read -ra flags < <(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs weft)
cc -std=c11 -Wall -Wextra -Wpedantic -Werror "$scratch/main.c" "${flags[@]}" -o "$scratch/by-pkg-config"
expect "pkg-config" "$version" env LD_LIBRARY_PATH="$(dirname "$pc")" "$scratch/by-pkg-config"
# The two lines of the README, for a prefix that the loader does not search.
libdir=$(PKG_CONFIG_PATH=$pc pkg-config --variable=libdir weft)
cc "$scratch/main.c" "${flags[@]}" -Wl,-rpath,"$libdir" -o "$scratch/by-rpath"
expect "rpath" "$version" env -u LD_LIBRARY_PATH "$scratch/by-rpath"

soname=$(objdump -p "$scratch/by-pkg-config" | awk '/NEEDED.*libweft/ {print $2}')
[ "$soname" = "libweft.so.$(cut -d. -f1,2 <<<"${version#weft }")" ] || { echo "install: the SONAME is $soname" && exit 1; }

# Statically: no libweft.so is needed then.
read -ra flags < <(PKG_CONFIG_PATH=$pc pkg-config --static --cflags --libs weft)
cc "$scratch/main.c" "${flags[@]/-lweft/-l:libweft.a}" -o "$scratch/static"
expect "libweft.a" "$version" "$scratch/static"
! objdump -p "$scratch/static" | grep -q 'NEEDED.*libweft' || { echo "install: libweft.a was not used" && exit 1; }

cmake -S "$scratch" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/usr" >/dev/null
cmake --build "$scratch/build" >/dev/null
expect "find_package" "$version" "$scratch/build/stranger"

# Each Debian package has a component: the library alone, what programs are built with, the tools, the Python package.
owns() {
  local component=$1 wanted=$2 unwanted=$3 files
  cmake --install "$build" --component "$component" --prefix "$scratch/$component" >/dev/null
  files=$(cd "$scratch/$component" && find . ! -type d)
  grep -Eq "$wanted" <<<"$files" || { echo "install: component $component has no $wanted" && exit 1; }
  ! grep -E "$unwanted" <<<"$files" || { echo "install: the files above do not belong to $component" && exit 1; }
  echo "install: component $component: $(wc -l <<<"$files") files"
}
owns library '/libweft[.]so[.][0-9]+[.][0-9]+$' '[.]so$|[.](a|h|pc|py|gz)$|/bin/'
owns development '/libweft[.]a$' '[.]so[.][0-9]|[.]py$|/bin/'
owns tools '/bin/weft$' '[.]so|[.](a|pc)$|dist-packages'
[ ! -e "$build/python/weft/_weft.abi3.so" ] || owns python3 '/_weft.abi3.so$' '/libweft|[.](a|h|pc)$|/bin/'

# Debian's own Python has numpy (scripts/setup); another one in front of it may not.
if /usr/bin/python3 -c 'import numpy' 2>/dev/null && [ -e "$build/python/weft/_weft.abi3.so" ]; then
  expect "weft run" "y = 3.000 x + 2.000" env -u PYTHONPATH WEFT_PYTHON_PROGRAM=/usr/bin/python3 "$scratch/usr/bin/weft" run \
    "$scratch/usr/share/doc/weft/examples/line.py"
fi
