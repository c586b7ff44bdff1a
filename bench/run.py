#!/usr/bin/env python3
"""run.py [JOB...] [--shape SHAPE] [--face c|python] [--json FILE] - the same jobs on Weft, TensorFlow and PyTorch,
interleaved.

For every job each system is a process of its own (or a cluster of them) that warms up and then, in turn, runs for a while;
the turns are repeated and the median counts, so that what else the machine does hits all alike.
Only ratios taken in one run mean anything.

A job with a shape (shapes.py) starts from the same values in all systems, and the losses of its first steps are compared:
a row whose systems computed different things says so, and the run fails.
"""
import argparse
import dataclasses
import json
import os
import platform
import statistics
import sys
import time
import typing

import figures
import rivals
import shapes
from net import Network
from rivals import COLUMNS

TORCH_ADAM_NEAR = 5e-3  # its SparseAdam leaves out the rows that a batch does not touch (torch_sparse.py)
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
    near: float = 2e-3  # the largest relative difference of the losses that are compared
    torch_near: float = None  # the same for PyTorch, where it draws random numbers of its own


JOBS = {
    "empty": Job("us", tf=20, most={"c": 1}),
    "add": Job("us", tf=20),
    "softmax": Job("steps/s", tf=5),
    "mlp": Job("steps/s", tf=1.5, torch=1.5),
    "cnn": Job("steps/s", tf=1.3, torch=1.3),
    "lstm": Job("steps/s", tf=1.5, torch=1.2),
    "static-lstm": Job("steps/s", tf=1.5, torch=1.2),
    "resnet": Job("steps/s", tf=1.5, torch=1.2, near=2e-2),
    "attention": Job("steps/s", tf=1.5, torch=1.2),
    "word2vec": Job("steps/s", tf=1.5, torch_near=0.3),
    "many-vars": Job("steps/s", tf=1.5),
    "while": Job("steps/s", tf=1.5),
    "bn-cnn": Job("steps/s", tf=1.5, torch=1.2),
    "records": Job("steps/s", tf=1.5),
    "jpeg": Job("steps/s", tf=1.2),
    "checkpoint": Job("steps/s", tf=1.5),
    "graph": Job("steps/s", tf=1.5),
    "dlrm": Job("steps/s", tf=2),
    "deepfm": Job("steps/s", tf=2),
    "wide-deep": Job("steps/s", tf=2),
    "dlrm-2ps-2w": Job("steps/s", tf=5, cluster=(2, 2), near=0.1),
    "deepfm-2ps-2w": Job("steps/s", tf=5, cluster=(2, 2), near=0.1),
    "wide-deep-2ps-2w": Job("steps/s", tf=5, cluster=(2, 2), near=0.1),
    "null": Job("us", tf=8, cluster=(1, 1), together=("torch",)),
    "linear": Job("steps/s", tf=8, cluster=(1, 1)),
    "softmax-2ps-2w": Job("steps/s", tf=5, cluster=(2, 2)),
    "mlp-async-1w": Job("steps/s", tf=2, cluster=(1, 1)),
    "mlp-async-2w": Job("steps/s", tf=2, cluster=(1, 2)),
    "mlp-sync-2w": Job("steps/s", tf=1.5, torch=1.5, cluster=(1, 2), together=("weft", "tf", "torch")),
    "mlp-ring-2w": Job("steps/s", tf=2, torch=2, cluster=(0, 2), together=("weft", "tf", "torch")),
    "recv4": Job("GB/s", cluster=(1, 1), bytes=4 << 20),
    "recv64": Job("GB/s", tf=1.2, cluster=(1, 1), bytes=64 << 20),
    "hello": Job("s", most={"c": 0.1, "python": 0.5}, watch=rivals.hello_seconds),
    "idle-ps": Job("MB", most={"c": 15}, watch=rivals.idle_ps_mb),
    "late-worker": Job("s", most={"c": 0.5, "python": 0.5}, watch=rivals.late_worker_seconds),
}
MOST_TORCH_RANKS = max(map(sum, rivals.TORCH_PROCESSES.values()))
SPARSE = ("dlrm", "deepfm", "wide-deep")  # the jobs that take --optimizer
NET_JOBS = ("null", "recv4", "recv64", "softmax-2ps-2w", "mlp-async-2w", "mlp-sync-2w", "mlp-ring-2w")
LESS_IS_BETTER = ("us", "s", "MB")


def value_of(job, rate):
    if job.bytes:
        return rate * job.bytes / 1e9
    return 1e6 / rate if job.unit == "us" else rate


def left_out(name, column, error):
    print(f"{name}: {column} left out: {error}", file=sys.stderr)


@dataclasses.dataclass
class Row:
    """A job at one shape."""
    name: str
    shape: str = None
    optimizer: str = None

    @property
    def job(self):
        return JOBS[self.name]

    @property
    def label(self):
        return " ".join(filter(None, (self.name, self.shape, self.optimizer)))

    def arguments(self):
        """What its programs are told besides the name of the job."""
        told = {"--shape": self.shape, "--optimizer": self.optimizer}
        return [f"{flag}={value}" for flag, value in told.items() if value]


def start_rival(row, column, net):
    """A rival that is ready; None if it has no part in the job or fails, which is told."""
    job = row.job
    network = Network(max(MOST_TORCH_RANKS, sum(job.cluster)), net) if net else None
    if job.cluster:
        commands = rivals.cluster(column, row.name, *job.cluster, row.arguments(), network)
    else:
        commands = rivals.alone(column, row.name, row.arguments())
    if commands[1] is None:
        if network:
            network.end()
        return None
    rival = rivals.Rival(column, commands, COLUMNS[column][0] in job.together, network)
    try:
        rival.get_ready()
        return rival
    except (RuntimeError, OSError) as error:
        left_out(row.label, column, error)
        rival.leave()
        return None


@dataclasses.dataclass
class Result:
    value: float
    peak: float = None  # MB
    cpu: float = None  # ms of processor time of a step, over all processes
    check: list = dataclasses.field(default_factory=list)


def result_of(row, rivals_of_column):
    """What the rivals of one column measured, one after the other."""
    rate = statistics.median(rate for rival in rivals_of_column for rate in rival.rates)
    used = sum(rival.processor_used for rival in rivals_of_column)
    return Result(value_of(row.job, rate), max(rival.peak for rival in rivals_of_column),
                  1e3 * used / sum(rival.steps_done for rival in rivals_of_column), rivals_of_column[0].check)


def measure_turns(row, columns, options):
    """column -> Result. All rivals are resident and take turns."""
    started = list(filter(None, (start_rival(row, column, options.net) for column in columns)))
    try:
        for _ in range(options.rounds):
            for rival in started:
                rival.turn(options.seconds)
        for rival in started:
            rival.peak = rival.peak_mb()
        return {rival.column: result_of(row, [rival]) for rival in started}
    finally:
        for rival in started:
            rival.leave()


def measure_one_resident(row, columns, options):
    """The same, but a rival leaves before the next one starts: for tables that do not fit into memory together."""
    done = {}
    for _ in range(options.rounds):
        for column in columns:
            rival = start_rival(row, column, options.net)
            if rival is None:
                continue
            try:
                rival.turn(options.seconds)
                rival.peak = rival.peak_mb()
                done.setdefault(column, []).append(rival)
            finally:
                rival.leave()
    return {column: result_of(row, those) for column, those in done.items()}


def measure_watched(row, columns, options):
    """column -> Result"""
    values = {column: [] for column in columns if COLUMNS[column][0] in ("weft", "tf")}
    for _ in range(options.rounds):
        for column, seen in list(values.items()):
            try:
                if not seen or row.job.unit != "s" or seen[-1] < LONG:
                    seen.append(row.job.watch(column))
            except (RuntimeError, OSError) as error:
                left_out(row.label, column, error)
                del values[column]
    return {column: Result(statistics.median(seen)) for column, seen in values.items()}


def differences(row, results):
    """The columns whose losses differ from those of Weft from Python, with both."""
    ours = results.get("weft py")
    for column, theirs in results.items():
        near = row.job.near
        if COLUMNS[column][0] == "torch":
            near = row.job.torch_near or (TORCH_ADAM_NEAR if row.optimizer == "adam" else near)
        if not ours or not ours.check or not theirs.check:
            continue
        if any(abs(a - b) > near * max(abs(a), abs(b)) for a, b in zip(ours.check, theirs.check)):
            yield f"{row.label}: {column} computed {theirs.check}, weft py {ours.check}"


# ---- what is told ----

def ratio(row, results, ours, theirs):
    """How many times better the first column is; None if either is absent."""
    if ours not in results or theirs not in results:
        return None
    us, them = results[ours].value, results[theirs].value
    return them / us if row.job.unit in LESS_IS_BETTER else us / them


def torch_column(row, results):
    """PyTorch counts with the faster of its two ways."""
    columns = [c for c in results if COLUMNS[c][0] == "torch"]
    return max(columns, key=lambda c: ratio(row, results, c, columns[0]), default=None)


def verdict(value, bar):
    if value is None:
        return "-"
    return f"{value:.2f}x" + ("" if bar is None else f" ({'ok' if value >= bar else 'BELOW'} {bar}x)")


def ceiling(job, results):
    """Whether each face of Weft stays below what it may take."""
    told = [f"{face} {'ok' if results[column].value <= job.most[face] else 'ABOVE'} {job.most[face]}"
            for column, (system, face) in COLUMNS.items() if system == "weft" and column in results and face in job.most]
    return ", ".join(told) or "-"


def number(results, column):
    return "-" if column not in results else f"{results[column].value:,.{0 if results[column].value >= 1000 else 2}f}"


def more(results, column, what, digits):
    """The peak memory or the processor time of a column."""
    value = getattr(results[column], what) if column in results else None
    return "-" if value is None else f"{value:,.{digits}f}"


def print_table(rows):
    head = ["job", "unit", "weft", "weft py", "tf", "torch", "weft vs tf", "py vs tf", "weft vs torch", "py vs torch",
            "socket", "weft vs socket", "py vs socket", "at most", "MB weft", "py", "tf", "torch", "ms cpu weft", "py", "tf", "torch"]
    lines = [head]
    for row, results in rows:
        job, torch = row.job, torch_column(row, results)
        shown = ("weft", "weft py", "tf", torch)
        lines.append([row.label, job.unit, *(number(results, c) for c in shown),
                      *(verdict(ratio(row, results, ours, "tf"), job.tf) for ours in shown[:2]),
                      *(verdict(ratio(row, results, ours, torch), job.torch) for ours in shown[:2]),
                      number(results, "socket"), *(verdict(ratio(row, results, ours, "socket"), None) for ours in shown[:2]),
                      ceiling(job, results), *(more(results, c, "peak", 0) for c in shown), *(more(results, c, "cpu", 3) for c in shown)])
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(cell.rjust(width) if i > 1 else cell.ljust(width)
                        for i, (cell, width) in enumerate(zip(line, widths))), flush=True)


def json_lines(row, results):
    for column in ("weft", "weft py", "tf", torch_column(row, results), "socket"):
        if column not in results:
            continue
        system, face = COLUMNS[column]
        found = results[column]
        same = {"job": row.name, **({"shape": row.shape} if row.shape else {}),
                **({"optimizer": row.optimizer} if row.optimizer else {}), "system": system, "face": face}
        yield {**same, "value": round(found.value, 4), "unit": row.job.unit}
        if found.peak is not None:
            yield {**same, "value": round(found.peak, 1), "unit": "MB"}
        if found.cpu is not None:
            yield {**same, "value": round(found.cpu, 4), "unit": "ms cpu"}


def vectors():
    """The widest vectors of this processor, in words."""
    with open("/proc/cpuinfo") as info:
        has = set(info.read().split())
    return next((words for flag, words in figures.VECTORS.items() if flag in has), "without vectors")


def write_json(path, rows, options):
    """One object a line; the first says when, where and how the others were measured."""
    with open(path, "w") as out:
        head = {"date": time.strftime("%Y-%m-%d"), "machine": platform.machine(), "cores": os.cpu_count(),
                "vectors": vectors(), "rounds": options.rounds, "seconds": options.seconds, "net": options.net}
        for line in (head, *(line for row, results in rows for line in json_lines(row, results))):
            out.write(json.dumps(line) + "\n")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"of {', '.join(JOBS)}; default: all")
    parser.add_argument("--face", choices=("c", "python"), help="of Weft; default: both")
    parser.add_argument("--json", metavar="FILE", help="write one object a line")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of one turn")
    parser.add_argument("--shape", metavar="KEY=VALUE,...", help="of the jobs named; default: each of a job's shapes")
    parser.add_argument("--optimizer", choices=("adagrad", "adam"), help=f"of {', '.join(SPARSE)}; default: both")
    parser.add_argument("--net", choices=("plain", "10gbit"), help="each task of a cluster in a network namespace of its own")
    parser.add_argument("--one-resident", action="store_true", help="a system leaves before the next starts")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out: it takes minutes")
    options = parser.parse_args()
    unknown = [job for job in options.jobs if job not in JOBS]
    if unknown:
        parser.error(f"unknown job {unknown[0]}; there are {', '.join(JOBS)}")
    try:
        for job in options.jobs if options.shape else []:
            shapes.Shape(job, options.shape)
    except ValueError as error:
        parser.error(f"--shape: {error}")
    if options.net and any(not JOBS[job].cluster for job in options.jobs):
        parser.error(f"--net is for jobs on clusters, such as {', '.join(NET_JOBS)}")
    if options.shape and not options.jobs:
        parser.error("--shape: name the jobs that it is for")
    return options


def rows_of(options):
    for name in options.jobs or (NET_JOBS if options.net else JOBS):
        optimizers = [options.optimizer] if options.optimizer else ["adagrad", "adam"]
        for shape in [options.shape] if options.shape else shapes.of(name):
            for optimizer in optimizers if shapes.base(name) in SPARSE else [None]:
                yield Row(name, shape, optimizer)


def measure(row, columns, options):
    print(f"bench: {row.label}, {options.rounds} turns of {options.seconds:g} s each", file=sys.stderr)
    if row.job.watch:
        return measure_watched(row, columns, options)
    return (measure_one_resident if options.one_resident else measure_turns)(row, columns, options)


def main():
    options = parse()
    columns = [column for column, (system, face) in COLUMNS.items()
               if rivals.is_installed(system) and (system != "weft" or options.face in (None, face))
               and not (options.no_compile and column == "torch compiled")]
    rows = [(row, measure(row, columns, options)) for row in rows_of(options)]
    print_table(rows)
    if options.json:
        write_json(options.json, rows, options)
    wrong = [each for row, results in rows for each in differences(row, results)]
    for each in wrong:
        print(f"bench: different results: {each}", file=sys.stderr)
    return 0 if not wrong and all(any(COLUMNS[c][0] == "weft" for c in results) for _, results in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
