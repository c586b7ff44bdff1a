#!/usr/bin/env python3
"""Checks that the pages are true: their programs are compiled, the names in them exist, and locks and state are listed.

Every C block of the README and of getting-started.md must be, word for word, in a file of examples/.  Every path in
backquotes and every relative link must be in the tree.  Every folder of C code must be in the README's drawing.  Every
file that declares a lock must be in the table of threads.md, which lists only such files, in ascending order.  Every
file of the floors with a static variable that is not constant must be in its table of process-wide state, which lists
only such files.  The measured figures are those of bench/figures.json.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import figures  # noqa: E402

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


def stale_locks(text):
    before = 0
    for order, lock in re.findall(r"^\| (\d+) \|([^|]*)\|", text, re.M):
        if int(order) < before:
            yield f"the lock{lock.rstrip()} has order {order}, but follows a lock of order {before}"
        before = int(order)
        for name in re.findall(r"`([\w/]+\.(?:c|h|cu))`", lock):
            if (ROOT / name).exists() and "pthread_" not in (ROOT / name).read_text():
                yield f"{name} has no lock, but is listed:{lock.rstrip()}"


def is_state(line):
    """Returns True if the line declares a static variable that can change."""
    line = re.sub(r"/\*.*?(\*/|$)|//.*", "", line)
    name = re.match(r"\s*(?:static|_Thread_local|thread_local)\b(?! inline)([^=;{]*)", line)
    if not name:
        return False
    name = re.sub(r"\b(_Atomic|__typeof__|__attribute__|_Alignas)\s*\((\(.*?\)|[^()]*)\)|\(\*", "*", name[1]).rstrip()
    return "(" not in name and not re.search(r"\bconst(expr)?\b" + (r" \w+(\[.*\])*$" if "*" in name else ""), name)


def files_with_state():
    for folder in (ROOT / "cmake/floors.txt").read_text().split():
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".c", ".h", ".cu", ".cuh") and not re.search("^test_|_(test|fuzz|bench)$", file.stem):
                if any(map(is_state, file.read_text().splitlines())):
                    yield str(file.relative_to(ROOT))


def wrong_state(text):
    table = text.partition("## Process-wide state")[2].partition("\n## ")[0]
    cells = " ".join(re.findall(r"^\|[^|]*\|([^|]*)\|", table, re.M))
    listed, there = set(re.findall(r"`([\w/]+\.(?:c|h|cu|cuh))`", cells)), set(files_with_state())
    yield from (f"the process-wide state of {name} is not listed" for name in sorted(there - listed))
    yield from (f"{name} has no process-wide state, but is listed" for name in sorted(listed - there))


def complaints():
    texts = {page: (ROOT / page).read_text() for page in PAGES}
    for page, text in texts.items():
        yield from ((page, what) for what in [*missing_paths(text), *missing_links(page, text)])
    for check, page in ((missing_programs, "README.md"), (missing_programs, "docs/getting-started.md"),
                        (missing_folders, "README.md"), (missing_locks, "docs/threads.md"),
                        (stale_locks, "docs/threads.md"), (wrong_state, "docs/threads.md")):
        yield from ((page, what) for what in check(texts[page]))
    for page in figures.stale_pages():
        yield page, "a table differs from bench/figures.json (bench/figures.py --write makes it anew)"


def main():
    found = list(complaints())
    for page, what in found:
        print(f"{page}: {what}")
    print(f"docs: {len(PAGES)} pages, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
