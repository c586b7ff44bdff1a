#!/usr/bin/env python3
"""run.py [JOB...] [--face c|python] [--json FILE] - the same jobs on Weft, TensorFlow and PyTorch, in one go, interleaved.

For every job each system is a process of its own (or a cluster of them) that warms up and then, in turn, runs for a while;
the turns are repeated and the median counts, so that what else the machine does hits all alike.
Only ratios taken in one run mean anything.
"""
import argparse
import dataclasses
import json
import statistics
import sys
import typing

import rivals
from rivals import COLUMNS

LONG = 10  # seconds; a measurement that takes so long is not repeated


@dataclasses.dataclass
class Job:
    unit: str
    tf: float = None  # the least ratios to TensorFlow and to PyTorch that we want
    torch: float = None
    most: dict = dataclasses.field(default_factory=dict)  # face -> the most that we want
    cluster: tuple = None  # ps and workers
    together: tuple = ()  # the systems whose workers step together
    watch: typing.Callable = None  # column -> value, for a job without turns
    bytes: int = None  # that a step moves


JOBS = {
    "empty": Job("us", tf=20, most={"c": 1}),
    "add": Job("us", tf=20),
    "softmax": Job("steps/s", tf=5),
    "mlp": Job("steps/s", tf=1.5, torch=1.5),
    "cnn": Job("steps/s", tf=1.3, torch=1.3),
    "null": Job("us", tf=8, cluster=(1, 1), together=("torch",)),
    "linear": Job("steps/s", tf=8, cluster=(1, 1)),
    "softmax-2ps-2w": Job("steps/s", tf=5, cluster=(2, 2)),
    "mlp-async-1w": Job("steps/s", tf=2, cluster=(1, 1)),
    "mlp-async-2w": Job("steps/s", tf=2, cluster=(1, 2)),
    "mlp-sync-2w": Job("steps/s", tf=1.5, torch=1.5, cluster=(1, 2), together=("weft", "tf", "torch")),
    "recv4": Job("GB/s", cluster=(1, 1), bytes=4 << 20),
    "recv64": Job("GB/s", tf=1.2, cluster=(1, 1), bytes=64 << 20),
    "hello": Job("s", most={"c": 0.1, "python": 0.5}, watch=rivals.hello_seconds),
    "idle-ps": Job("MB", most={"c": 25}, watch=rivals.idle_ps_mb),
    "late-worker": Job("s", most={"c": 0.5, "python": 0.5}, watch=rivals.late_worker_seconds),
}
LESS_IS_BETTER = ("us", "s", "MB")


def value_of(job, rate):
    if job.bytes:
        return rate * job.bytes / 1e9
    return 1e6 / rate if job.unit == "us" else rate


def left_out(name, column, error):
    print(f"{name}: {column} left out: {error}", file=sys.stderr)


def start_rivals(name, columns):
    """Those that have a part in the job, started one after the other and ready; one that fails is told and left out."""
    job, started = JOBS[name], []
    for column in columns:
        commands = rivals.cluster(column, name, *job.cluster) if job.cluster else rivals.alone(column, name)
        if commands[1] is None:
            continue
        rival = rivals.Rival(column, commands, COLUMNS[column][0] in job.together)
        try:
            rival.get_ready()
            started.append(rival)
        except (RuntimeError, OSError) as error:
            left_out(name, column, error)
            rival.leave()
    return started


def measure_turns(name, columns, rounds, seconds):
    """column -> (value, peak MB)"""
    started = start_rivals(name, columns)
    try:
        for _ in range(rounds):
            for rival in started:
                rival.turn(seconds)
        return {rival.column: (value_of(JOBS[name], rival.rate()), rival.peak_mb()) for rival in started}
    finally:
        for rival in started:
            rival.leave()


def measure_watched(name, columns, rounds, _):
    """column -> (value, None)"""
    values = {column: [] for column in columns if COLUMNS[column][0] != "torch"}
    for _ in range(rounds):
        for column, seen in list(values.items()):
            try:
                if not seen or JOBS[name].unit != "s" or seen[-1] < LONG:
                    seen.append(JOBS[name].watch(column))
            except (RuntimeError, OSError) as error:
                left_out(name, column, error)
                del values[column]
    return {column: (statistics.median(seen), None) for column, seen in values.items()}


# ---- what is told ----

def ratio(name, results, ours, theirs):
    """How many times better the first column is; None if either is absent."""
    if ours not in results or theirs not in results:
        return None
    us, them = results[ours][0], results[theirs][0]
    return them / us if JOBS[name].unit in LESS_IS_BETTER else us / them


def torch_column(name, results):
    """PyTorch counts with the faster of its two ways."""
    columns = [c for c in results if COLUMNS[c][0] == "torch"]
    return max(columns, key=lambda c: ratio(name, results, c, columns[0]), default=None)


def verdict(value, bar):
    if value is None:
        return "-"
    return f"{value:.2f}x" + ("" if bar is None else f" ({'ok' if value >= bar else 'BELOW'} {bar}x)")


def ceiling(job, results):
    """Whether each face of Weft stays below what it may take."""
    told = [f"{face} {'ok' if results[column][0] <= job.most[face] else 'ABOVE'} {job.most[face]}"
            for column, (system, face) in COLUMNS.items() if system == "weft" and column in results and face in job.most]
    return ", ".join(told) or "-"


def number(results, column, of=0):
    value = results.get(column, (None, None))[of]
    return "-" if value is None else f"{value:,.{0 if value >= 1000 or of else 2}f}"


def print_table(rows):
    head = ["job", "unit", "weft", "weft py", "tf", "torch", "weft vs tf", "py vs tf", "weft vs torch", "py vs torch",
            "at most", "MB weft", "py", "tf", "torch"]
    lines = [head]
    for name, results in rows:
        job, torch = JOBS[name], torch_column(name, results)
        shown = ("weft", "weft py", "tf", torch)
        lines.append([name, job.unit, *(number(results, c) for c in shown),
                      *(verdict(ratio(name, results, ours, "tf"), job.tf) for ours in shown[:2]),
                      *(verdict(ratio(name, results, ours, torch), job.torch) for ours in shown[:2]),
                      ceiling(job, results), *(number(results, c, 1) for c in shown)])
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(cell.rjust(width) if i > 1 else cell.ljust(width)
                        for i, (cell, width) in enumerate(zip(line, widths))), flush=True)


def json_lines(name, results):
    for column in ("weft", "weft py", "tf", torch_column(name, results)):
        if column not in results:
            continue
        system, face = COLUMNS[column]
        value, peak = results[column]
        yield {"job": name, "system": system, "face": face, "value": round(value, 4), "unit": JOBS[name].unit}
        if peak is not None:
            yield {"job": name, "system": system, "face": face, "value": round(peak, 1), "unit": "MB"}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"of {', '.join(JOBS)}; default: all")
    parser.add_argument("--face", choices=("c", "python"), help="of Weft; default: both")
    parser.add_argument("--json", metavar="FILE", help="write one object a line")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of one turn")
    options = parser.parse_args()
    unknown = [job for job in options.jobs if job not in JOBS]
    if unknown:
        parser.error(f"unknown job {unknown[0]}; there are {', '.join(JOBS)}")
    return options


def main():
    options = parse()
    columns = [column for column, (system, face) in COLUMNS.items()
               if rivals.is_installed(system) and (system != "weft" or options.face in (None, face))]
    rows = []
    for name in options.jobs or JOBS:
        print(f"bench: {name}, {options.rounds} turns of {options.seconds:g} s each", file=sys.stderr)
        measure = measure_watched if JOBS[name].watch else measure_turns
        rows.append((name, measure(name, columns, options.rounds, options.seconds)))
    print_table(rows)
    if options.json:
        with open(options.json, "w") as out:
            for name, results in rows:
                for line in json_lines(name, results):
                    out.write(json.dumps(line) + "\n")
    return 0 if all(any(COLUMNS[c][0] == "weft" for c in results) for _, results in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
