#!/usr/bin/env python3
"""A folder stands on those below it: reads every #include and fails on an upward or sideways one.

A file may include its own folder's headers, headers of lower floors and the public header; the
programs (cli, examples, bench, tools) only the public header. internal.h never leaves its folder.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLOORS = [line.split() for line in (ROOT / "cmake/floors.txt").read_text().splitlines()]
HEIGHT = {folder: height for height, folders in enumerate(FLOORS) for folder in folders}
PROGRAMS = ["cli", "python", "examples", "bench", "tools"]
GENERATED = {f"{proto.stem}.pb-c.h": "proto" for proto in (ROOT / "proto").glob("*.proto")}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def breach(source, target):
    """Says what is wrong with one include of a file in the tree, or None."""
    folder = source.parts[0]
    if target.startswith("weft/"):
        return None
    if folder in PROGRAMS:
        beside = source.parent / target
        if target == "tests/fuzz_file.h" and source.stem.endswith("_fuzz"):
            return None
        return None if beside.parts[0] == folder and (ROOT / beside).exists() else "a program includes only weft/*.h"
    if target in ("tests/check.h", "tests/scratch.h", "tests/ports.h", "tests/fuzz_graph.h") and re.search("^test_|_(test|fuzz)$", source.stem):
        return None
    if re.fullmatch(r"tests/fuzz_(file|op|table)\.h", target) and source.stem.endswith("_fuzz"):
        return None
    owner = GENERATED.get(target, target.split("/")[0])
    if owner not in HEIGHT and not owner == folder == "tests":
        return "not a path from the root of the tree, or not a floor"
    if folder == "tests" or owner == folder:
        return None
    if target.endswith("/internal.h"):
        return f"internal.h belongs to {owner}/"
    if HEIGHT[owner] > HEIGHT[folder]:
        return f"{owner}/ stands above {folder}/"
    if HEIGHT[owner] == HEIGHT[folder]:
        return f"{owner}/ stands beside {folder}/"
    return None


def main():
    files = [f for folder in [*HEIGHT, *PROGRAMS, "tests"] for f in sorted((ROOT / folder).rglob("*.[ch]"))]
    includes = breaches = 0
    for file in files:
        source = file.relative_to(ROOT)
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            includes += 1
            why = breach(source, match.group(1))
            if why:
                breaches += 1
                print(f'{source}:{number}: includes "{match.group(1)}": {why}')
    print(f"floors: {len(files)} files, {includes} includes, {breaches} breaches")
    return 1 if breaches or not includes else 0


if __name__ == "__main__":
    sys.exit(main())
