#!/usr/bin/env python3
"""abi.py BUILD [--write]: what programs that were compiled against a released Weft rely on (docs/abi.md).

The shared library exports exactly the functions of the public headers: nothing of its own (weft__...), nothing of what is
linked into it.  Every public struct has the layout that tests/abi_layouts.txt records for this minor version.  --write
records the layouts anew, after the minor version in CMakeLists.txt was raised.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYOUTS = ROOT / "tests" / "abi_layouts.txt"
HEADERS = sorted((ROOT / "include" / "weft").glob("*.h"))


def plain(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return "\n".join(line for line in text.split("\n") if not line.startswith("#"))


def declared():
    return {name for h in HEADERS for name in re.findall(r"WEFT_(?:API|CHECKED)\b[^;{]*?(\w+)\s*\(", plain(h))}


def exported(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return {line.split()[2] for line in done.stdout.splitlines()}


def wrong_symbols(build):
    there, wanted = exported(os.path.join(build, "lib", "libweft.so")), declared()
    yield from ("libweft.so exports %s, which no public header declares" % n for n in sorted(there - wanted))
    yield from ("libweft.so does not export %s, which a public header declares" % n for n in sorted(wanted - there))


def fields(body):
    """The names of the fields, whatever their types."""
    for declaration in body.split(";"):
        pointer = re.match(r"[^()]*\(\*\s*(\w+)\)", declaration)
        if pointer:
            yield pointer.group(1)
        elif declaration.strip():
            for part in declaration.split(","):
                yield re.search(r"(\w+)(\s*\[[^\]]*\])?\s*$", part).group(1)


def layouts(build):
    """A line per struct: its size, and each field with its offset."""
    lines = ["#include <stdio.h>", "#include <weft/weft.h>", "int main(void) {"]
    for h in HEADERS:
        for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\n\} \1;", plain(h), re.S):
            lines.append('  printf("%s %%zu:", sizeof(%s));' % (name, name))
            lines += ['  printf(" %s@%%zu", offsetof(%s, %s));' % (f, name, f) for f in fields(body)]
            lines.append('  printf("\\n");')
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
        pathlib.Path(source).write_text("\n".join(lines + ["}"]))
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-I", str(ROOT / "include"), "-I",
                        os.path.join(build, "include"), source, "-o", binary], check=True)
        return subprocess.run([binary], capture_output=True, text=True, check=True).stdout


def version():
    return re.search(r"project\(weft VERSION (\d+\.\d+)\.", (ROOT / "CMakeLists.txt").read_text()).group(1)


def wrong_layouts(build):
    first, _, recorded = LAYOUTS.read_text().partition("\n")
    if first != "# version " + version():
        yield "%s is of another version than CMakeLists.txt: run tests/abi.py BUILD --write" % LAYOUTS.name
        return
    is_now = dict(line.split(" ", 1) for line in layouts(build).splitlines())
    for line in recorded.splitlines():
        name, was = line.split(" ", 1)
        if is_now.get(name) != was:
            yield "%s was '%s' and is '%s': keep it, or raise the minor version" % (name, was, is_now.get(name))


def main(build, write):
    if write:
        LAYOUTS.write_text("# version %s\n%s" % (version(), layouts(build)))
    wrong = [*wrong_symbols(build), *wrong_layouts(build)]
    for line in wrong:
        print(line)
    print("abi: %d functions, %d structs, %d wrong" % (len(declared()), LAYOUTS.read_text().count("\n") - 1, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--write" in sys.argv))
