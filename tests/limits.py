#!/usr/bin/env python3
"""The tree stays small: a function has at most 80 lines and 8 parameters, a macro 40 lines, a file 800, a line 120
columns, and a file says what it is. A folder of a floor has at most 60 sources. No function body and no 15 lines of code stand twice;
tests, benches and examples may repeat themselves, and short bodies may. The name of a static function stands in at most two files, so
that a backtrace shows which one it was.

Functions are found by the formatter's habit: a definition starts in the first column and its
closing brace stands there alone.  Functions of the public header may have more parameters.
"""
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["include", *(ROOT / "cmake/floors.txt").read_text().split(), "cli", "python", "examples", "bench", "tests", "tools"]
FUNCTION_LINES, FILE_LINES, MACRO_LINES, PARAMETERS, COLUMNS = 80, 800, 40, 8, 120
FOLDER_SOURCES, BODY_LENGTH, RUN_LINES = 60, 100, 15  # a body of up to 100 characters may stand twice
SAME_NAMES = 2  # files that may each have a static function of one name
NAME = re.compile(r"(\w+)\(")
MACRO = re.compile(r"\s*#\s*define\s+(\w+)")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STATIC = re.compile(r"^static (?!inline\b)(?:\w+[ *]+)+?(\w+)\(", re.MULTILINE)
HEAD = re.compile(r"^[ \t]*(?!return\b|else\b|case\b)(?:\w+[ \t*]+)+((?:\w|##)+)\(", re.MULTILINE)  # of a function


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


def macros(lines):
    """Yields (name, first line, number of lines) of each macro."""
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and (match := MACRO.match(line)):
            name, start = match.group(1), number
        if start is not None and not line.endswith("\\"):
            yield name, start, number - start + 1
            start = None


def parameters(text):
    """Yields (name, first line, number of parameters) of each function defined, those that a macro defines included."""
    text = COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment.group()), text)
    for head in HEAD.finditer(text):
        depth, count, at = 1, 1, head.end()
        while at < len(text) and depth and text[at] not in ";{":
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            count += text[at] == "," and depth == 1
            at += 1
        if depth == 0 and text[at:at + 200].lstrip(" \\\n").startswith("{"):
            yield head.group(1), text.count("\n", 0, head.start()) + 1, count


def signature_complaints(text):
    """The limits that hold for CUDA's sources too."""
    for number, line in enumerate(text.splitlines(), 1):  # clang-format leaves comments as they are
        if len(line) > COLUMNS:
            yield number, f"{len(line)} columns, the limit is {COLUMNS}"
    for name, number, length in macros(text.splitlines()):
        if length > MACRO_LINES:
            yield number, f"the macro {name} has {length} lines, the limit is {MACRO_LINES}"
    for name, number, count in parameters(text):
        if count > PARAMETERS and not re.match("weft_(?!_)", name):
            yield number, f"{name} has {count} parameters, the limit is {PARAMETERS}"


def complaints(file, lines, lengths):
    if len(lines) > FILE_LINES:
        yield 1, f"{len(lines)} lines, the limit is {FILE_LINES}"
    if not lines or not lines[0].startswith("/* " + file.name):
        yield 1, f'does not open with "/* {file.name} - what it is"'
    for number, line in enumerate(lines, 1):
        if re.search(r"\b(TODO|FIXME|XXX)\b", line):
            yield number, "an issue, or nothing: no TODO in the tree"
    for name, number, length in functions(lines):
        lengths.append(length)
        if length > FUNCTION_LINES:
            yield number, f"{name} has {length} lines, the limit is {FUNCTION_LINES}"


def is_product(file):
    """Whether a source is part of what is installed, and no test."""
    return file.relative_to(ROOT).parts[0] not in ("tests", "bench", "examples") and not re.search("_(test|fuzz|bench)$", file.stem)


def folder_complaints(files):
    counts = {}
    for file in filter(is_product, files):
        counts[file.parent] = counts.get(file.parent, 0) + 1
    for folder, count in counts.items():
        if count > FOLDER_SOURCES:
            yield folder, 1, f"{count} sources in one folder, the limit is {FOLDER_SOURCES}"


def code_lines(text):
    """Yields (number, line) of the lines that are code: no comments, no includes, no lone punctuation."""
    text = COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        line = " ".join(line.split("//")[0].split())
        if re.search(r"\w", line) and not line.startswith("#include"):
            yield number, line


def twins(text):
    """Yields (what, first line, key) of what may stand only once: function bodies, and runs of lines of code."""
    lines = text.splitlines()
    for name, start, length in functions(lines):
        head, brace, body = "\n".join(lines[start - 1:start - 1 + length]).partition("{")
        body = " ".join(COMMENT.sub("", body).split())
        if len(body) > BODY_LENGTH:
            yield f"the body of {name}", start, body
    code = list(code_lines(text))
    for at in range(len(code) - RUN_LINES + 1):
        yield f"{RUN_LINES} lines of code", code[at][0], hash(tuple(line for _, line in code[at:at + RUN_LINES]))


def twin_complaints(files):
    seen = {}
    for file in filter(is_product, files):
        for what, number, key in twins(file.read_text()):
            first = seen.setdefault(key, (file.relative_to(ROOT), number))
            if first != (file.relative_to(ROOT), number):
                yield file, number, f"{what} also stand{'s' if what.startswith('the') else ''} at {first[0]}:{first[1]}"


def name_complaints(files):
    """Static functions whose name stands in too many files. An included body (.inc) has its includer's names."""
    seen = {}
    for file in filter(is_product, files):
        if file.suffix != ".inc":
            for name in set(STATIC.findall(file.read_text())) - {"__attribute__"}:
                seen.setdefault(name, []).append(file)
    for name, where in sorted(seen.items()):
        if len(where) > SAME_NAMES:
            others = " ".join(str(f.relative_to(ROOT)) for f in where[1:])
            yield where[0], 1, f"the static function {name} has namesakes in {others}: give each its file's name"


def main():
    files = [f for folder in FOLDERS for end in ("*.[ch]", "*.inc") for f in sorted((ROOT / folder).rglob(end))]
    cuda = [f for folder in FOLDERS for end in ("*.cu", "*.cuh") for f in sorted((ROOT / folder).rglob(end))]
    bad, lengths = 0, []
    for file in files + cuda:
        text = file.read_text()
        own = complaints(file, text.splitlines(), lengths) if file.suffix not in (".cu", ".cuh") else ()
        for number, what in [*own, *signature_complaints(text)]:
            bad += 1
            print(f"{file.relative_to(ROOT)}:{number}: {what}")
    for file, number, what in [*folder_complaints(files + cuda), *twin_complaints(files + cuda),
                               *name_complaints(files + cuda)]:
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
