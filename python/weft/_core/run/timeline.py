"""tensorflow.python.client.timeline: step stats as the JSON of Chrome's trace viewer.

The library writes a span for each node.  This module adds on request: arrows from the node that makes a tensor to the
ones that read it, and a curve of the bytes that the tensors of a device take.
"""
import collections
import json
import re

import numpy as np

from weft import _weft
from weft._core.framework import protos, tensor_shape
from weft._core.framework.dtypes import as_dtype

# pid, tid: the row of the node; begin, end: microseconds; inputs: names of nodes; stats: its NodeExecStats.
_Span = collections.namedtuple("_Span", "name pid tid begin end inputs stats")


def _inputs(label):
    """Returns the names of the nodes that a label such as "c = Add(a, b:1)" lists as inputs."""
    found = re.search(r"\((.*)\)$", label)
    names = found.group(1).split(", ") if found and found.group(1) else []
    return list(dict.fromkeys(n.lstrip("^").partition(":")[0] for n in names))


def _bytes(stats):
    """Returns the bytes of a node's outputs."""
    total = 0
    for output in stats.output:
        about = output.tensor_description
        if about.allocation_description.requested_bytes:
            total += about.allocation_description.requested_bytes
        elif about.dtype:
            elements = tensor_shape.as_shape(about.shape).num_elements()
            total += (elements or 0) * (as_dtype(about.dtype).size or 0)
    return int(total)


class Timeline:
    def __init__(self, step_stats, graph=None):
        self._step_stats = step_stats

    def generate_chrome_trace_format(self, show_dataflow=True, show_memory=False, op_time="schedule"):
        """Returns the JSON of Chrome's trace viewer.

        Args:
          show_dataflow: adds an arrow for each tensor that one row of the picture makes and another one reads.
          show_memory: adds for each device a curve of the bytes of the tensors that are still to be read.
          op_time: how spans are placed; they are placed by their times, whatever it is.
        """
        made = json.loads(_weft.trace_json(protos.RunMetadata(step_stats=self._step_stats).SerializeToString()))
        spans = list(self._spans())
        by_name = {s.name: s for s in spans}
        if show_dataflow:
            made["traceEvents"] += _arrows(spans, by_name)
        if show_memory:
            made["traceEvents"] += _memory(spans, by_name)
        return json.dumps(made, indent=1)

    def _spans(self):
        for pid, device in enumerate(self._step_stats.dev_stats, 1):
            for stats in device.node_stats:
                begin = stats.all_start_micros
                yield _Span(stats.node_name, pid, stats.thread_id, begin, begin + max(stats.all_end_rel_micros, 1),
                            _inputs(stats.timeline_label), stats)


def _arrows(spans, by_name):
    events = []
    for span in spans:
        for source in filter(None, map(by_name.get, span.inputs)):
            if (source.pid, source.tid) == (span.pid, span.tid):
                continue  # The order within a row is already visible.
            for kind, at, when in (("s", source, source.end), ("t", span, span.begin)):
                events.append({"ph": kind, "cat": "DataFlow", "name": source.name, "pid": at.pid, "tid": at.tid, "ts": when,
                               "id": len(events) // 2})
    return events


def _memory(spans, by_name):
    last = {s.name: s.end for s in spans}
    for span in spans:
        for name in span.inputs:
            last[name] = max(last.get(name, 0), span.end)
    events = []
    for pid in sorted({s.pid for s in spans}):
        changes = [(when, sign * _bytes(s.stats)) for s in spans if s.pid == pid
                   for when, sign in ((s.begin, 1), (last[s.name], -1))]
        changes = sorted(c for c in changes if c[1])
        for (when, _), total in zip(changes, np.cumsum([size for _, size in changes])):
            events.append({"ph": "C", "cat": "Memory", "name": "bytes", "pid": pid, "tid": 0, "ts": when, "args": {"bytes": int(total)}})
    return events
