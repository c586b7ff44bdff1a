#!/usr/bin/env python3
"""figures.py [--write] - the tables of README.md and docs/performance.md that hold measurements of scripts/bench.

bench/figures.json is their one source; `scripts/bench --json bench/figures.json JOB...` writes it. In a page, a table
stands between the comments <!-- figures: NAME --> and <!-- end of figures -->. Without --write this program says which
tables differ from the file (tests/docs.py asks it); with --write it makes them anew.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "bench/figures.json"

# What the pages call the jobs, in the order of their tables.
README_ROWS = {"softmax": "Softmax regression, steps/s", "mlp": "Network with one hidden layer, steps/s",
               "cnn": "Convolutional network, steps/s", "null": "One update of a variable on a ps (PyTorch: an all-reduce)",
               "mlp-async-2w": "Network, 1 ps and 2 asynchronous workers, steps/s",
               "mlp-sync-2w": "Network, 1 ps and 2 synchronous workers, steps/s", "idle-ps": "Memory of an idle ps"}
PERFORMANCE_ROWS = {"softmax": "softmax", "mlp": "mlp", "cnn": "cnn", "null": "null, 1 ps and 1 worker",
                    "linear": "linear, 1 ps and 1 worker", "softmax-2ps-2w": "softmax, 2 ps and 2 workers",
                    "mlp-async-2w": "mlp, asynchronous, 2 workers", "mlp-sync-2w": "mlp, synchronous, 2 workers",
                    "recv4": "recv4", "recv64": "recv64", "hello": "hello", "idle-ps": "memory of an idle ps",
                    "late-worker": "late worker"}
COLUMNS = (("weft", "c"), ("weft", "python"), ("tf", "python"), ("torch", "python"))
LESS_IS_BETTER = ("us", "s", "MB")
VECTORS = {"avx512f": "with AVX-512", "avx2": "with AVX2", "sve": "with SVE", "asimd": "with NEON"}


class Figures:
    """The lines of the file: what was measured, by job and column."""

    def __init__(self, lines):
        self.head, *measured = map(json.loads, lines)
        self.units, self.values = {}, {}
        for one in measured:
            if "shape" in one or "optimizer" in one:
                continue
            unit = self.units.setdefault(one["job"], one["unit"])  # the first is the job's own; memory and time follow
            if one["unit"] == unit:
                self.values.setdefault((one["job"], one["system"], one["face"]), one["value"])

    def value(self, job, column):
        return self.values.get((job, *column))

    def number(self, job, column, with_unit):
        value = self.value(job, column)
        if value is None:
            return ""
        text = f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.1 else f"{value:.2f}"
        return f"{text} {self.units[job]}" if with_unit else text

    def ratio(self, job, column, rival):
        """How many times better the column is than the rival; nothing if one of them was not measured."""
        ours, theirs = self.value(job, column), self.value(job, rival)
        if ours is None or theirs is None:
            return ""
        times = theirs / ours if self.units[job] in LESS_IS_BETTER else ours / theirs
        return f"{times:.0f}x" if times >= 20 else f"{times:.1f}x" if times >= 2 else f"{times:.2f}x"

    def machine(self):
        """Where and when, as a sentence."""
        cores = {1: "one", 2: "two", 4: "four"}.get(self.head["cores"], str(self.head["cores"]))
        return f"Measured on {self.head['date']} on {cores} {self.head['machine']} cores {self.head['vectors']}."


def table(head, rows):
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]


def readme(figures):
    rows = [[label, *(figures.number(job, column, not label.endswith("/s")) for column in COLUMNS)]
            for job, label in README_ROWS.items()]
    return [*table(["Job", "Weft, from C", "Weft, from Python", "TensorFlow 2.15, v1 mode", "PyTorch"], rows), "",
            figures.machine()]


def performance(figures):
    rows = []
    for job, label in PERFORMANCE_ROWS.items():
        ratios = [figures.ratio(job, column, COLUMNS[2]) for column in COLUMNS[:2]]
        rows.append([label, figures.units[job], *(figures.number(job, column, False) for column in COLUMNS),
                     " / ".join(filter(None, ratios)),
                     " / ".join(filter(None, (figures.ratio(job, column, COLUMNS[3]) for column in COLUMNS[:2])))])
    head = ["Job", "Unit", "Weft, C", "Weft, Python", "TensorFlow", "PyTorch", "Times TensorFlow, C / Python",
            "Times PyTorch, C / Python"]
    return [*table(head, rows), "", figures.machine()]


PAGES = {"README.md": {"readme": readme}, "docs/performance.md": {"performance": performance}}


def rewritten(text, tables, figures):
    """The page with its tables as the figures say."""
    for name, make in tables.items():
        pattern = rf"(<!-- figures: {name} -->\n).*?(<!-- end of figures -->)"
        text, found = re.subn(pattern, lambda at: at[1] + "\n".join(make(figures)) + "\n" + at[2], text, flags=re.S)  # noqa: B023
        if found != 1:
            raise SystemExit(f"figures: a page has the table {name} {found} times, not once")
    return text


def stale_pages(write=False):
    """The pages whose tables differ from the file; `write` makes them anew."""
    figures = Figures(FILE.read_text().splitlines())
    for page, tables in PAGES.items():
        path = ROOT / page
        text = path.read_text()
        fresh = rewritten(text, tables, figures)
        if fresh != text:
            yield page
            if write:
                path.write_text(fresh)


if __name__ == "__main__":
    write = sys.argv[1:] == ["--write"]
    if sys.argv[1:] and not write:
        sys.exit("usage: bench/figures.py [--write]")
    stale = list(stale_pages(write))
    for page in stale:
        print(f"{page}: {'written' if write else 'differs from bench/figures.json; run bench/figures.py --write'}")
    sys.exit(1 if stale and not write else 0)
