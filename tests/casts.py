#!/usr/bin/env python3
"""No size is narrowed by a bare cast: (int)x keeps the low 32 bits, and 2^32 + 5 elements become 5.

-Wconversion makes the compiler refuse an implicit narrowing, so a wrap can only hide behind an explicit cast. base/cast.h
has what to write instead: weft__int_of fails with the value, weft__int_sat saturates. The rule is about the form and needs
no types, so that it runs in a second and its answer is plain from the line: every cast to int or int32_t is refused, but for

  - what is not a size: an enum (a dtype against WEFT_REF_BASE) or a handle (NOT_SIZES), sizeof, a number made from a float (FROM_FLOAT);
  - the store into an int32 output, TENSOR_DATA(y, int32_t)[i] = (int32_t)v: the op's definition chose the type;
  - a line, or the one above it, that says why it cannot wrap: /* fits: below the rank */.

Tests, the tools and python/ext (whose numbers PyArg_ParseTuple checks) are left out.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = (ROOT / "cmake/floors.txt").read_text().split()
CAST = re.compile(r"(?<![\w.]sizeof)(?<!list)(?<!\w)\((int|int32_t)\)\s*(?!\{|;|,|\))(?=[\w(\-~*&])")
NOT_SIZES = re.compile(r"""(?x) (\w+(\[\w+\])?(->|\.))* (
    (\w*_)?d?types?(\[[^\]]*\])? | \w*type\(.*\) | weft__dtype_\w+\(.*\) | \w*kind | err | code | level | reuse | reduction | fan |
    spread | state | send | node | slot | weft__out_type\(.*\) | weft_\w+_(dtype|reuse)\(.*\) | pid | getpid\(\) )$""")
FROM_FLOAT = re.compile(r"lrintf\(|float|double|philox_below|\bvbits\(")
STORE = re.compile(r"TENSOR_DATA\(.*int32_t\)\[[^=]*\] = \(int32_t\)|\(\(int32_t \*\)\S+\)\[\w+\] = \(int32_t\)")


def operand(text, at):
    """The expression a cast at the end of text[:at] applies to: a prefix, a name or parentheses, then calls and members."""
    start = at
    while at < len(text) and text[at] in "-~*&! ":
        at += 1
    if text[at:at + 1] == "(":
        at = closing(text, at)
    else:
        at += len(re.match(r"\w*", text[at:]).group())
    while at < len(text):
        if text[at] in "([":
            at = closing(text, at)
        elif match := re.match(r"(->|\.)\w+", text[at:]):
            at += match.end()
        else:
            break
    return text[start:at]


def closing(text, at):
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([") - (text[i] in ")]")
        if depth == 0:
            return i + 1
    return len(text)


def bare_casts(lines):
    """Yields (line number, column of the cast, column of its operand, operand) of what is refused."""
    for number, line in enumerate(lines, 1):
        before = lines[number - 2] if number > 1 else ""
        if (STORE.search(line) or "WEFT_REF_BASE" in line or "/* fits: " in line or "/* fits: " in before or
                re.match(r"\s*(\*( |/|$)|/\*)", line)):
            continue
        for match in CAST.finditer(line):
            what = operand(line, match.end())
            inside_string = line[:match.start()].count('"') % 2 == 1
            if not inside_string and not re.match(r"\(?sizeof\b", what) and not NOT_SIZES.match(what) and not FROM_FLOAT.search(line):
                yield number, match.start(), match.end(), what


def files():
    for folder in FOLDERS:
        for file in sorted([*(ROOT / folder).rglob("*.[ch]"), *(ROOT / folder).rglob("*.inc")]):
            if not re.search(r"_(test|fuzz)$|^test_", file.stem) and file.name not in ("cast.h", "cast.c"):
                yield file


def main():
    bad = count = 0
    for file in files():
        count += 1
        for number, _, _, what in bare_casts(file.read_text().splitlines()):
            bad += 1
            print(f"{file.relative_to(ROOT)}:{number}: bare cast of {what} to 32 bits: use weft__int_of or weft__int_sat (base/cast.h)")
    print(f"casts: {count} files, {bad} bare casts")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
