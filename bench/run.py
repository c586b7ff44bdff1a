#!/usr/bin/env python3
"""run.py [JOB...] [--json FILE] - the same jobs on Weft, TensorFlow and PyTorch, in one go, interleaved.

For every job each system is a process of its own that warms up and then, in turn, runs for a while;
the turns are repeated and the median counts, so that what else the machine does hits all alike.
Only ratios taken in one run mean anything.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("WEFT_BUILD", HERE.parent / "build"))

# job -> unit, and the least ratios to TensorFlow and to PyTorch that we want (None: no bar)
JOBS = {
    "empty": ("us", 20, None),
    "add": ("us", 20, None),
    "softmax": ("steps/s", 5, None),
    "mlp": ("steps/s", 1.5, 1.5),
    "cnn": ("steps/s", 1.3, 1.3),
}
# column -> system, face, command; a column whose command returns None for a job is left out of it
COLUMNS = {
    "weft": ("weft", "c", lambda job: [str(BUILD / "bench" / "jobs"), job]),
    "tf": ("tf", "python", lambda job: python("tensorflow", "tf_jobs.py", job)),
    "torch": ("torch", "python", lambda job: job in ("softmax", "mlp", "cnn") and python("torch", "torch_jobs.py", job)),
    "torch compiled": ("torch", "python",
                       lambda job: job in ("softmax", "mlp", "cnn") and python("torch", "torch_jobs.py", job, "compiled")),
}


def python(module, program, *arguments):
    if importlib.util.find_spec(module) is None:
        return None
    return [sys.executable, str(HERE / program), *arguments]


class Rival:
    """A running program of one column, ready to be asked for a turn."""

    def __init__(self, column, job):
        self.column, self.rates = column, []
        self.process = subprocess.Popen(COLUMNS[column][2](job), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.expect("ready")

    def expect(self, what):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.column} ended: {self.process.stderr.read()[-2000:]}")
        if what and line.strip() != what:
            raise RuntimeError(f"{self.column} said {line!r}, expected {what!r}")
        return line

    def turn(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        steps, elapsed = self.expect(None).split()
        self.rates.append(int(steps) / float(elapsed))

    def peak_mb(self):
        """The most memory it ever held; asked before it leaves."""
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        return None

    def leave(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def measure(job, rounds, seconds):
    """column -> (value, peak MB); a system that fails is told and left out."""
    rivals = []
    for column, (_, _, command) in COLUMNS.items():
        if not command(job):
            continue
        try:
            rivals.append(Rival(column, job))
        except (RuntimeError, OSError) as error:
            print(f"{job}: {column} left out: {error}", file=sys.stderr)
    for _ in range(rounds):
        for rival in rivals:
            rival.turn(seconds)
    results = {}
    for rival in rivals:
        rate = statistics.median(rival.rates)
        results[rival.column] = (1e6 / rate if JOBS[job][0] == "us" else rate, rival.peak_mb())
        rival.leave()
    return results


def ratio(job, results, column):
    """How many times faster Weft is than the column's system; None if either is absent."""
    if "weft" not in results or column not in results:
        return None
    ours, theirs = results["weft"][0], results[column][0]
    return theirs / ours if JOBS[job][0] == "us" else ours / theirs


def torch_column(job, results):
    """PyTorch counts with the faster of its two ways."""
    columns = [c for c in ("torch", "torch compiled") if c in results]
    return max(columns, key=lambda c: results[c][0], default=None)


def verdict(value, bar):
    if value is None:
        return "-"
    return f"{value:.2f}x" + ("" if bar is None else f" ({'ok' if value >= bar else 'below'} {bar}x)")


def print_table(rows):
    head = ["job", "unit", *COLUMNS, "vs tf", "vs torch", "MB weft", "MB tf", "MB torch"]
    lines = [head]
    for job, results in rows:
        unit, tf_bar, torch_bar = JOBS[job]
        best = torch_column(job, results)
        lines.append([job, unit, *(f"{results[c][0]:,.2f}" if c in results else "-" for c in COLUMNS),
                      verdict(ratio(job, results, "tf"), tf_bar), verdict(best and ratio(job, results, best), torch_bar),
                      *(f"{results[c][1]:,.0f}" if c in results else "-" for c in ("weft", "tf", "torch"))])
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(cell.rjust(width) if i > 1 else cell.ljust(width)
                        for i, (cell, width) in enumerate(zip(line, widths))))


def json_lines(job, results):
    columns = [c for c in ("weft", "tf", torch_column(job, results)) if c in results]
    for column in columns:
        system, face, _ = COLUMNS[column]
        value, peak = results[column]
        yield {"job": job, "system": system, "face": face, "value": round(value, 4), "unit": JOBS[job][0]}
        yield {"job": job, "system": system, "face": face, "value": round(peak, 1), "unit": "MB"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"of {', '.join(JOBS)}; default: all")
    parser.add_argument("--json", metavar="FILE", help="write one object a line")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of one turn")
    options = parser.parse_args()
    unknown = [job for job in options.jobs if job not in JOBS]
    if unknown:
        parser.error(f"unknown job {unknown[0]}; there are {', '.join(JOBS)}")
    rows = []
    for job in options.jobs or JOBS:
        print(f"bench: {job}, {options.rounds} turns of {options.seconds:g} s each", file=sys.stderr)
        rows.append((job, measure(job, options.rounds, options.seconds)))
    print_table(rows)
    if options.json:
        with open(options.json, "w") as out:
            for job, results in rows:
                for line in json_lines(job, results):
                    out.write(json.dumps(line) + "\n")
    return 0 if all("weft" in results for _, results in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
