#!/usr/bin/env python3
"""A skip in CI is a failure unless tests/skips.txt lists it with its reason.

    skips.py ctest FILE   the results that ctest wrote with --output-junit; entries that did not run are skips
    skips.py step NAME    a step of scripts/test

Prints each skip with the reason listed for it.  Exits with 1 if one is not listed and CI=true; tests/conftest.py asks the
same for pytest.
"""
import fnmatch
import os
import pathlib
import sys
import xml.etree.ElementTree as tree

FILE = pathlib.Path(__file__).with_name("skips.txt")


def listed():
    """[(pattern, reason)] of the file."""
    lines = [line for line in FILE.read_text().splitlines() if line and not line.startswith("#")]
    pairs = [tuple(part.strip() for part in line.split("  ", 1)) for line in lines]
    bad = [line for line, pair in zip(lines, pairs) if len(pair) != 2 or not all(pair)]
    if bad:
        raise SystemExit(f"{FILE.name}: a line without a reason: {bad[0]}")
    return pairs


def reason_for(name):
    """Why `name` may be skipped; None if it is not listed."""
    return next((why for pattern, why in listed() if fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))), None)


def in_ci():
    return os.environ.get("CI") == "true"


def describe(name):
    """(whether it is listed, a line for people)."""
    why = reason_for(name)
    return why is not None, f"skipped: {name}: {why or f'NOT LISTED in tests/{FILE.name}'}"


def not_run(file):
    """The entries of ctest that have no result."""
    for case in tree.parse(file).getroot().iter("testcase"):
        if case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None:
            yield "ctest:" + case.get("name")


def main():
    kind, what = sys.argv[1:]
    names = list(not_run(what)) if kind == "ctest" else [f"step:{what}"]
    good = True
    for name in names:
        known, line = describe(name)
        good = good and known
        print(line)
    sys.exit(0 if good or not in_ci() else 1)


if __name__ == "__main__":
    main()
