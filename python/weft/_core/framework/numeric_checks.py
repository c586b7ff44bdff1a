"""tf.debugging.enable_check_numerics: the numbers that new ops compute are checked for infinities and NaN when they run.

The readers of an op get the output of a CheckNumericsV2 that is added behind it.  A placeholder stays what it is, since
programs feed it; its readers wait for its check.  Of the nodes that the library adds, those that were added at the same
time read the checks, and so does the program.
"""
import threading

from weft._core.framework import tensor_shape
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.stack import made_at

# These only move or choose elements that were checked before; as in TensorFlow.
UNCHECKED = frozenset([
    "Concat", "ConcatV2", "Enter", "Exit", "ExpandDims", "Fill", "Identity", "LoopCond", "Maximum", "Merge", "Minimum",
    "NextIteration", "RefEnter", "RefExit", "RefIdentity", "RefMerge", "RefNextIteration", "RefSwitch", "Reshape", "Slice",
    "Squeeze", "StridedSlice", "Switch", "TensorListGetItem", "TensorListStack", "Transpose", "Unpack",
])
_FLOATS = frozenset(as_dtype(t)._number for t in ("bfloat16", "float16", "float32", "float64"))
_thread = threading.local()
on = False  # whether any thread has ever asked for checks: a quick test for all others


def enable_check_numerics(stack_height_limit=30, path_length_limit=50):
    """Lets the ops that this thread adds from now on fail when they compute an infinity or NaN.

    The error names the op, its inputs, and the lines of the program that made it.  Ops that are there already are not checked,
    and neither are variables that ops change through references.  A second call has no effect.

    Args:
      stack_height_limit: how many lines of the stack the error has at most; the outer ones are left out.
      path_length_limit: of longer paths, the error has only that many characters at the end.
    """
    global on
    if _limits() is None:
        _thread.limits = (stack_height_limit, path_length_limit)
        on = True


def disable_check_numerics():
    """Turns the checks off for the ops that this thread adds from now on; see `tf.debugging.enable_check_numerics`."""
    _thread.limits = None


def _limits():
    return getattr(_thread, "limits", None)


def _stack(frames):
    most, width = _limits()
    lines = []
    if len(frames) > most:
        lines.append("    + ... (Omitted %d frames)" % (len(frames) - most))
        frames = frames[len(frames) - most:]
    for path, line, function in frames:
        path = path if len(path) <= width else "..." + path[len(path) - width:]
        lines.append("    + %s (L%s) %s\n -> |   " % (path, line, function))
    return "\n".join(lines)


def _message(graph, node, slot, frames):
    _, kind, count = graph._c.node(node)
    out = node << 16 | slot
    inputs = [graph._tensor(graph._numeric_checks.original.get(o, o)) for o in graph._c.inputs(node)]
    shape = graph._tensor(out).shape
    lines = ["", "", '!!! Detected Infinity or NaN in output %d of graph op "%s" (# of outputs: %d) !!!' % (slot, kind, count),
             "  dtype: %s" % as_dtype(graph._c.dtype(out)),
             "  shape: %s" % ("<unknown>" if shape.ndims is None else tensor_shape.TensorShape(shape)), ""]
    if len(inputs) == 1:
        lines += ["  Input tensor: %s" % inputs[0], ""]
    elif inputs:
        lines += ["  Input tensors (%d):" % len(inputs)] + ["         %d: %s" % row for row in enumerate(inputs)] + [""]
    return "\n".join(lines + ["  Stack trace of op's creation (\"->\": inferred user code):", _stack(frames), "", ""])


class Checks:
    """The checks of one graph."""

    def __init__(self):
        self.original = {}      # the output of a check -> what it checks
        self.checked = set()    # those
        self.replaced = {}      # an output of a node that the library added -> its check's output
        self.placeholders = {}  # the output of a placeholder -> its check's output


def _checked_slots(graph, node, kind, count):
    """Returns the outputs that are checked: of batch normalizations only the first one, as in TensorFlow."""
    if kind in UNCHECKED:
        return []
    count = min(count, 1) if kind.startswith("FusedBatchNorm") else count
    return [slot for slot in range(count) if graph._c.dtype(node << 16 | slot) in _FLOATS]


def _add(graph, node, slot, scope, frames):
    """Adds the check of an output, and gives its output."""
    from weft._core.framework import build
    held, _thread.limits, message = _limits(), None, _message(graph, node, slot, frames)
    try:
        with graph.name_scope(scope):
            made = build.add_op("CheckNumericsV2", tensor=graph._tensor(node << 16 | slot), message=message)
    finally:
        _thread.limits = held
    graph._numeric_checks.original[made._out] = node << 16 | slot
    graph._numeric_checks.checked.add(node << 16 | slot)
    return made._out


def _wait(graph, node):
    """Makes a node wait for the checks of the placeholders that it reads."""
    waits = [graph._numeric_checks.placeholders.get(o) for o in graph._c.inputs(node)]
    for out in dict.fromkeys(o for o in waits if o is not None):
        graph._c.add_control(node, out)


def outputs_of(op):
    """Returns the outputs of a new node as its readers get them."""
    if _limits() is None or op.type in UNCHECKED:
        return op.outputs
    graph, made = op.graph, list(op.outputs)
    _wait(graph, op._id)
    scope = graph.get_name_scope() if op.type == "Const" else op.name
    for slot in _checked_slots(graph, op._id, op.type, len(made)):
        out = _add(graph, op._id, slot, scope + "/" if scope else None, op._at or ())
        if op.type == "Placeholder":
            graph._numeric_checks.placeholders[op._id << 16 | slot] = out
        else:
            made[slot] = graph._tensor(out)
    return made


def check_added(graph, first, end):
    """Checks what the nodes from `first` on, which the library added, compute."""
    if _limits() is None:
        return
    frames, replaced = made_at(), {}
    for node in range(first, end):
        name, kind, count = graph._c.node(node)
        if kind in UNCHECKED or node << 16 in graph._numeric_checks.original:
            continue
        _wait(graph, node)
        scope = name.rpartition("/")[0] if kind == "Const" else name
        for slot in _checked_slots(graph, node, kind, count):
            if node << 16 | slot in graph._numeric_checks.checked:  # a gradient that is written in Python added it
                continue
            replaced[node << 16 | slot] = _add(graph, node, slot, scope + "/" if scope else None, frames)
    for node in range(first, end):
        for index, out in enumerate(graph._c.inputs(node)):
            if out in replaced and replaced[out] >> 16 != node:
                graph._set_input(node, index, replaced[out])
    graph._numeric_checks.replaced.update(replaced)
