#!/usr/bin/env python3
"""The README stays true: its C programs are examples that the build compiles, and what it names exists.

Every C block must stand, word for word, in a file of examples/; every path in backquotes must be in the tree;
every folder of C code must be in the drawing.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["base", "proto", "tensor", "device", "graph", "io", "state", "ops", "exec", "net", "dist", "train", "api",
           "cli", "examples", "bench"]


def complaints(text):
    examples = [f.read_text() for f in (ROOT / "examples").glob("*.c")]
    for block in re.findall(r"```c\n(.*?)```", text, re.S):
        if not any(block.strip() in example for example in examples):
            yield f"a C block is in no file of examples/: {block.strip().splitlines()[0]} ..."
    for path in re.findall(r"`([\w.]+/[\w./]*|[A-Z]+\.md)`", text):
        if not path.startswith(("build/", "weft/")) and not (ROOT / path).exists():
            yield f"{path} is not in the tree"
    for folder in FOLDERS:
        if any((ROOT / folder).glob("*.c")) and not re.search(rf"^(\S+/ +)*{folder}/", text, re.M):
            yield f"{folder}/ is not in the drawing"


def main():
    found = list(complaints((ROOT / "README.md").read_text()))
    for what in found:
        print(f"README.md: {what}")
    print(f"readme: {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
