#!/usr/bin/env python3
"""links.py BUILD: what the build links with what, read from its build.ninja.

A test program is linked with its own floor and the floors below it, never with one above. A changed C file relinks its
floor's library and libweft, and no program: none waits for one of our shared libraries except for its first link.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLOORS = (ROOT / "cmake/floors.txt").read_text().split()
OURS = re.compile(r"(?:floors/libweft_\w+|lib/libweft|python/weft/_weft)[\w.]*\.so[\w.]*")


def links(build):
    """(output, what makes it stale, libraries) of every program and shared library."""
    lines = (pathlib.Path(build) / "build.ninja").read_text().splitlines()
    for at, line in enumerate(lines):
        match = re.match(r"build ([^:|]*?)(?: \|[^:]*)?: C_(?:EXECUTABLE|SHARED_LIBRARY|SHARED_MODULE)_LINKER__\S+ (.*)", line)
        if match:
            rest = next((line for line in lines[at:at + 12] if line.startswith("  LINK_LIBRARIES")), "")
            yield match.group(1), match.group(2).split("||")[0], re.findall(r"floors/libweft_(\w+)\.so", rest)


def floor_of(output):
    """The floor whose rule an output obeys, or None: tests/base, tests/fuzz.io.idx, floors/libweft_base.so."""
    match = re.match(r"tests/(?:(?:fuzz|bench)\.)?([a-z]+)|floors/libweft_([a-z]+)", output)
    return next((name for name in match.groups() if name in FLOORS), None) if match else None


def complaints(build):
    found = list(links(build))
    programs = [output for output, _, _ in found if output.startswith("tests/")]
    if len(programs) < len(FLOORS):
        yield "build.ninja was not understood: it has only the test programs %s" % programs
    for output, stale, libraries in found:
        for library in OURS.findall(stale):
            yield "%s is relinked whenever %s changes: keep CMAKE_LINK_DEPENDS_NO_SHARED" % (output, library)
        floor = floor_of(output)
        for library in libraries if floor else ():
            if library in FLOORS and FLOORS.index(library) > FLOORS.index(floor):
                yield "%s, of the floor %s, is linked with %s, which is above it" % (output, floor, library)


if __name__ == "__main__":
    wrong = list(complaints(sys.argv[1]))
    print("\n".join([*wrong, "links: %d wrong" % len(wrong)]))
    sys.exit(1 if wrong else 0)
