#!/usr/bin/env python3
"""The pages stay true: their programs are compiled, what the pages name exists, every lock is listed.

Every C block of the README and of getting-started.md must stand, word for word, in a file of examples/; every path in
backquotes and every relative link must be in the tree; every folder of C code must be in the README's drawing; every
file that declares a lock in threads.md.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = [*(ROOT / "cmake/floors.txt").read_text().split(), "cli", "examples", "bench"]


PAGES = ["README.md", "CONTRIBUTING.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))]


def missing_programs(text):
    examples = [f.read_text() for f in (ROOT / "examples").glob("*.c")]
    for block in re.findall(r"```c\n(.*?)```", text, re.S):
        if not any(block.strip() in example for example in examples):
            yield f"a C block is in no file of examples/: {block.strip().splitlines()[0]} ..."


def missing_folders(text):
    for folder in FOLDERS:
        if any((ROOT / folder).rglob("*.c")) and not re.search(rf"^(\S+/ +)*{folder}/", text, re.M):
            yield f"{folder}/ is not in the drawing"


def missing_paths(text):
    for path in re.findall(r"`([\w.]+/[\w./]*|[A-Z]+\.md)`", text):
        if not path.startswith(("build/", "weft/")) and not (ROOT / path).exists():
            yield f"{path} is not in the tree"


def missing_links(page, text):
    for target in re.findall(r"\]\(([^)#:\s]+)\)", text):
        if not ((ROOT / page).parent / target).exists():
            yield f"the link {target} leads nowhere"


def missing_locks(text):
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.[ch]")):
            is_lock = re.search(r"^\s*(static )?pthread_(mutex|rwlock|spinlock)_t \w+( =|;)", file.read_text(), re.M)
            name = str(file.relative_to(ROOT))
            if is_lock and not re.search("^test_|_(test|fuzz)$", file.stem) and f"`{name}`" not in text:
                yield f"the lock of {name} is not listed"


def complaints():
    texts = {page: (ROOT / page).read_text() for page in PAGES}
    for page, text in texts.items():
        yield from ((page, what) for what in [*missing_paths(text), *missing_links(page, text)])
    for check, page in ((missing_programs, "README.md"), (missing_programs, "docs/getting-started.md"),
                        (missing_folders, "README.md"), (missing_locks, "docs/threads.md")):
        yield from ((page, what) for what in check(texts[page]))


def main():
    found = list(complaints())
    for page, what in found:
        print(f"{page}: {what}")
    print(f"docs: {len(PAGES)} pages, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
