"""tf.profiler.write_op_log: writes float operations, types and lines of code of a graph's ops to a file for profilers.
"""
import os

from weft._core.files import gfile
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.framework.tensor_shape import TensorShape
from weft._core.platform.profiler import OpLogProto, _float_ops


def _set_shapes(graph, run_meta):
    """Sets the shapes of the graph's outputs to those of a run."""
    held = {op.name: op.outputs for op in graph.get_operations()}
    for device in run_meta.step_stats.dev_stats:
        for node in device.node_stats:
            outputs = held.get(node.node_name.partition(":")[0], ())
            for made in node.output:
                if made.slot < len(outputs):
                    outputs[made.slot].set_shape(TensorShape([d.size for d in made.tensor_description.shape.dim]))


class _Strings:
    """Numbers strings, as the file format requires."""

    def __init__(self, table):
        self._table, self._ids = table, {}

    def __call__(self, text):
        if text not in self._ids:
            self._ids[text] = len(self._ids) + 1
            self._table[self._ids[text]] = text
        return self._ids[text]


def _trace(entry, op, number):
    for frame in op.traceback:
        entry.code_def.traces.add(file_id=number(frame.filename), lineno=frame.lineno, function_id=number(frame.name),
                                  func_start_line=-1)


def _merge(into, given):
    """Adds entries of the caller's log that the graph's log lacks."""
    held = {e.name: e for e in into.log_entries}
    for entry in given.log_entries:
        mine = held.get(entry.name)
        if mine is None:
            into.log_entries.add().CopyFrom(entry)
            continue
        mine.types.extend(t for t in entry.types if t not in mine.types)
        mine.float_ops = mine.float_ops or entry.float_ops


def write_op_log(graph, log_dir, op_log=None, run_meta=None, add_trace=True):
    """Writes the file tfprof_log to a folder: an OpLogProto of the graph, with the additional data of op_log."""
    graph = get_default_graph() if graph is None else graph
    if run_meta is not None:
        _set_shapes(graph, run_meta)
    made = OpLogProto()
    made.id_to_string[0] = "none"
    number = _Strings(made.id_to_string)
    trainable = {v.op.name for v in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    rows = [(op, _float_ops(op), op.name in trainable) for op in graph.get_operations()]
    for op, count, is_trainable in rows:
        if not (count or is_trainable or add_trace):
            continue
        entry = made.log_entries.add(name=op.name, float_ops=count)
        entry.types.extend(["_trainable_variables"] if is_trainable else [])
        if add_trace:
            _trace(entry, op, number)
    if op_log is not None:
        _merge(made, op_log)
    with gfile.GFile(os.path.join(log_dir, "tfprof_log"), "wb") as file:
        file.write(made.SerializeToString())
