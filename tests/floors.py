#!/usr/bin/env python3
"""A folder stands on those below it: reads every #include and fails on an upward or sideways one.

Inside a floor no files include each other in a circle, a .c file counted with its header, unless the comment at the top
of one says why: "Include cycle with a/b, a/c: reason." names all the others. Passes and graphs know ops by what their rows
declare (graph/op.h): in exec/, graph/, kernels/ and state/ no op's name is compared with a literal or a list of them.

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
ENDINGS = ("*.[ch]", "*.inc", "*.cu", "*.cuh")
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
    if (target in ("tests/check.h", "tests/scratch.h", "tests/ports.h", "tests/fuzz_graph.h") and
            re.search("^test_|_(test|fuzz)$", source.stem)):
        return None
    if re.fullmatch(r"tests/fuzz_\w+\.h", target) and source.stem.endswith("_fuzz"):
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


def units(files):
    """The files of each floor without their endings, and which of the same floor each includes."""
    floors = {}
    for file in files:
        source = file.relative_to(ROOT)
        if source.parts[0] not in HEIGHT or re.search("_(test|fuzz|bench)$", source.stem):
            continue
        edges = floors.setdefault(source.parts[0], {}).setdefault(str(source.with_suffix("")), set())
        for line in file.read_text().splitlines():
            match = INCLUDE.match(line)
            if match and match.group(1).startswith(source.parts[0] + "/"):
                edges.add(match.group(1).rsplit(".", 1)[0])
    return floors


def reachable(graph, start):
    seen, todo = set(), [start]
    while todo:
        for unit in graph.get(todo.pop(), ()):
            if unit not in seen:
                seen.add(unit)
                todo.append(unit)
    return seen


def circles(graph):
    """Sets of units each of which includes all others, perhaps through others."""
    reach = {unit: reachable(graph, unit) for unit in graph}
    found = {frozenset(other for other in reach[unit] if unit in reach.get(other, ())) for unit in graph if unit in reach[unit]}
    return sorted((c for c in found if len(c) > 1), key=sorted)


def reasons(unit):
    """The units that the comment at the top of a unit's files names as its circle."""
    for end in (".h", ".c"):
        file = ROOT / (unit + end)
        top = " ".join(re.sub(r"^ ?/?\*+/? ?", "", line) for line in file.read_text().split("*/")[0].splitlines()) if file.exists() else ""
        match = re.search(r"Include cycle with ([\w/, ]+): \w", top)
        if match:
            yield {unit, *(name.strip() for name in match.group(1).split(","))}


def circle_complaints(files):
    excused = set()
    for graph in units(files).values():
        for circle in circles(graph):
            if any(circle == reason for unit in circle for reason in reasons(unit)):
                excused.add(circle)
            else:
                yield f"include each other in a circle, and no comment at the top of one says why: {', '.join(sorted(circle))}"
        for unit in graph:
            for reason in reasons(unit):
                if frozenset(reason) not in excused:
                    yield f"{unit}: the comment at the top speaks of a circle that is not there: {', '.join(sorted(reason))}"


def name_complaints(files):
    for file in files:
        source = file.relative_to(ROOT)
        if source.parts[0] not in ("exec", "graph", "kernels", "state") or source.stem.endswith("_test"):
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if re.search(r'str(n?cmp|str)\([^;]*op_name[^;)]*("|\w\[)', line):
                yield f"{source}:{number}: compares an op's name; let its row declare what is asked (graph/op.h)"


def main():
    files = [f for folder in [*HEIGHT, *PROGRAMS, "tests"] for end in ENDINGS for f in sorted((ROOT / folder).rglob(end))]
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
    for complaint in [*circle_complaints(files), *name_complaints(files)]:
        breaches += 1
        print(complaint)
    print(f"floors: {len(files)} files, {includes} includes, {breaches} breaches")
    return 1 if breaches or not includes else 0


if __name__ == "__main__":
    sys.exit(main())
