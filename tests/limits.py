#!/usr/bin/env python3
"""The tree stays small: a function has at most 80 lines, a file 800, and a file says what it is.

Functions are found by the formatter's habit: a definition starts in the first column and its
closing brace stands there alone.
"""
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["include", *(ROOT / "cmake/floors.txt").read_text().split(), "cli", "python", "examples", "bench", "tests", "tools"]
FUNCTION_LINES, FILE_LINES = 80, 800
NAME = re.compile(r"(\w+)\(")


def functions(lines):
    """Yields (name, first line, number of lines) of each function defined."""
    start = None  # where the definition being read begins
    for number, line in enumerate(lines, 1):
        if start is None:
            if re.match(r"[A-Za-z_]", line) and not line.rstrip().endswith((";", ":", "\\")):
                start = number
            elif re.match(r"[A-Za-z_].*\{.*\}$", line):
                start = number
        if start is None:
            continue
        head = " ".join(lines[start - 1:number])
        if line.startswith("}") or (number == start and line.rstrip().endswith("}")):
            before = head.split("{")[0]
            name = NAME.search(before)
            if name and "=" not in before:
                yield name.group(1), start, number - start + 1
            start = None
        elif line.rstrip().endswith(";") and "{" not in head:
            start = None


def complaints(file, lines, lengths):
    if len(lines) > FILE_LINES:
        yield 1, f"{len(lines)} lines, the limit is {FILE_LINES}"
    if not file.stem.endswith("_test") and (not lines or not lines[0].startswith("/* " + file.name)):
        yield 1, f'does not open with "/* {file.name} - what it is"'
    for number, line in enumerate(lines, 1):
        if re.search(r"\b(TODO|FIXME|XXX)\b", line):
            yield number, "an issue, or nothing: no TODO in the tree"
    for name, number, length in functions(lines):
        lengths.append(length)
        if length > FUNCTION_LINES:
            yield number, f"{name} has {length} lines, the limit is {FUNCTION_LINES}"


def main():
    files = [f for folder in FOLDERS for f in sorted((ROOT / folder).rglob("*.[ch]"))]
    bad, lengths = 0, []
    for file in files:
        for number, what in complaints(file, file.read_text().splitlines(), lengths):
            bad += 1
            print(f"{file.relative_to(ROOT)}:{number}: {what}")
    for file in sorted((ROOT / "python").rglob("*.py")) + sorted((ROOT / "tests").rglob("*.py")):
        count = len(file.read_text().splitlines())
        if count > FILE_LINES:
            bad += 1
            print(f"{file.relative_to(ROOT)}:1: {count} lines, the limit is {FILE_LINES}")
    middle = statistics.median(lengths) if lengths else 0
    print(f"limits: {len(files)} files, {len(lengths)} functions, median {middle:g} lines, {bad} complaints")
    return 1 if bad or not lengths else 0


if __name__ == "__main__":
    sys.exit(main())
