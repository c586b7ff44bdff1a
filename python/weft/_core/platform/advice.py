"""tf.profiler.advise: reports what costs most in a measured run, and what to change on accelerators."""
import collections
import os

import weft as tf
from weft._core.platform.profiler import AdviceProto, _figures, _short_time

ALL_ADVICE = {"ExpensiveOperationChecker": {}, "AcceleratorUtilizationChecker": {}, "JobChecker": {}, "OperationChecker": {}}
_SHOWN = 3  # the number of types and nodes that a report names
_LINES = 2  # the number of lines of code that a report names
_IDLE = 0.5  # An accelerator that is busy for a smaller fraction of a step is reported.


def _cost(own):
    return "cpu: %s, accelerator: %s, total: %s" % tuple(
        _short_time(own[key]) for key in ("cpu_exec_micros", "accelerator_exec_micros", "exec_micros"))


def _sums(groups):
    """Returns {name: the summed times of its members}, the most expensive first; those that took no time are left out.
    """
    keys = ("cpu_exec_micros", "accelerator_exec_micros", "exec_micros")
    found = {name: {k: sum(own[k] for own in members) for k in keys} for name, members in groups.items()}
    return sorted(((n, own) for n, own in found.items() if own["exec_micros"]), key=lambda pair: (-pair[1]["exec_micros"], pair[0]))


def _grouped(pairs):
    groups = collections.defaultdict(list)
    for name, own in pairs:
        groups[name].append(own)
    return _sums(groups)


def _frames(op):
    """Returns FILE:LINE:FUNCTION of the calls that made an op, the outermost first."""
    return ["%s:%d:%s" % (os.path.basename(frame[0]), frame[1], frame[2]) for frame in op.traceback or ()]


def _by_line(graph, figures):
    """Returns the most expensive lines of the program, each with the most expensive call inside it."""
    of = [(_frames(op), figures[op.name][1]) for op in graph.get_operations()]
    of = [(frames, own) for frames, own in of if frames and own["exec_micros"]]
    lines = []
    for outer, own in _grouped((frames[0], own) for frames, own in of)[:_LINES]:
        lines.append("%s, %s" % (outer, _cost(own)))
        inner = _grouped((frames[1], own) for frames, own in of if frames[0] == outer and len(frames) > 1)
        lines += ["  %s, %s" % (name, _cost(own)) for name, own in inner[:1]]
    return lines


def _expensive(graph, run_meta, figures):
    if run_meta is None:
        print("Missing RunMetadata info. Skip ExpensiveOperationChecker")
        return []
    types = _grouped((types[0], own) for types, own in figures.values())
    total = sum(own["exec_micros"] for _, own in types)
    reports = [["top %d operation type: %s, %s (%.2f%%)" % (i, name, _cost(own), 100 * own["exec_micros"] / total)
                for i, (name, own) in enumerate(types[:_SHOWN], 1)]]
    nodes = _grouped((name, own) for name, (_, own) in figures.items())
    reports.append(["top %d graph node: %s, %s" % (i, name, _cost(own)) for i, (name, own) in enumerate(nodes[:_SHOWN], 1)])
    reports.append(_by_line(graph, figures))
    return ["\n".join(lines) for lines in reports if lines]


def _on_accelerators(run_meta):
    """Returns {device: (microseconds in which it computed, microseconds of the step)}"""
    found = {}
    for device in run_meta.step_stats.dev_stats if run_meta is not None else ():
        stats = device.node_stats
        if "gpu" in device.device.lower() and stats:
            begin, end = min(n.all_start_micros for n in stats), max(n.all_start_micros + n.all_end_rel_micros for n in stats)
            found[device.device] = sum(n.all_end_rel_micros for n in stats), max(1, end - begin)
    return found


def _utilization(graph, run_meta, figures):
    return ["device: %s utilization: %.2f" % (device, busy / whole) for device, (busy, whole) in _on_accelerators(run_meta).items()
            if busy / whole < _IDLE]


def _operations(graph, run_meta, figures):
    slow = [op for op in graph.get_operations() if figures[op.name][1]["accelerator_exec_micros"]
            and "data_format" in op.node_def.attr and op.node_def.attr["data_format"].s == b"NHWC"]
    return ["Found operation using NHWC data_format on GPU. Maybe NCHW is faster."] if slow else []


_CHECKERS = {"ExpensiveOperationChecker": _expensive, "OperationChecker": _operations, "AcceleratorUtilizationChecker": _utilization}


def advise(graph=None, run_meta=None, options=0):
    """Finds what to improve in a graph, and prints it.

    Args:
      graph: a tf.Graph; None is the default one.
      run_meta: the RunMetadata of a run with trace_level=FULL_TRACE; without it there are no times.
      options: {name of a checker: {}}; all of them if it is left out.  Checkers take no options.
    Returns:
      an AdviceProto: the reports of each checker.
    """
    graph = graph or tf.get_default_graph()
    asked = dict(ALL_ADVICE) if options == 0 else dict(options.items())
    for name, given in asked.items():
        if dict(given.items()):
            raise TypeError("tf.profiler.advise(options): the checker %s takes no options, got %r" % (name, given))
    figures, made = _figures(graph, run_meta), AdviceProto()
    for name, check in _CHECKERS.items():
        if name in asked:
            reports = check(graph, run_meta, figures)
            made.checkers[name].reports.extend(reports)
            print("\n%s:" % name, *reports, sep="\n")
    return made
