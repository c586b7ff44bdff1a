"""tf.GradientTape in a graph: remembers which nodes were made while it recorded, and differentiates through them alone.

A tape holds ranges of node numbers.  What it tracks (watched tensors, and what recorded nodes compute of them) is found
when a gradient is asked for; tf.gradients then stops at every tensor that the tape does not track.
"""
import contextlib

from weft._core.framework.absent import Named
from weft._core.framework.build import constant_value, convert_to_tensor
from weft._core.framework.graph import IndexedSlices, Tensor, get_default_graph, name_scope
from weft._core.framework.nest import flatten, map_structure, pack_like
from weft._core.ops.gradients import UnconnectedGradients, gradients
from weft._core.ops.variables import Variable

_READS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "PartitionedCall", "StatefulPartitionedCall")


def _handle(variable):
    """Returns the tensor by which a tape knows a variable."""
    if not hasattr(variable, "_handle"):
        raise AttributeError("tf.GradientTape: %s is a reference variable, which a tape cannot watch: make it with use_resource=True, "
                             "or use tf.gradients" % variable.name)
    return variable._handle


def _element(x):
    """Returns the tensor that stands for a source or a target."""
    if isinstance(x, Variable):
        return _handle(x)
    if hasattr(x, "nested_row_splits"):
        return x.flat_values
    if isinstance(x, IndexedSlices):
        return x.values
    if hasattr(x, "_parts"):
        raise ValueError("Type %s is not supported as a gradient source or gradient target." % type(x).__name__)
    if not isinstance(x, Tensor):
        raise TypeError("tf.GradientTape: sources and targets must be tensors or variables, not %r" % (x,))
    return x


def _differentiable(dtype):
    return dtype.is_floating or dtype.is_complex or dtype.name in ("resource", "variant")


def _outer(tensor):
    """Returns the tensor of the outer graph that an argument of a function's body stands for, or the tensor itself."""
    while getattr(tensor.graph, "captured", None):
        found = next((out for out, inner in tensor.graph.captured.values() if inner is tensor), None)
        if found is None:
            return tensor
        tensor = found
    return tensor


def _variable(tensor):
    """Returns the variable whose handle a tensor is, or None."""
    tensor = _outer(tensor)
    return tensor.graph._variables.get(tensor.name) if tensor.op.type == "VarHandleOp" else None


class _Recording:
    """What a tape has recorded since it was made or reset."""

    def __init__(self, accessed):
        self.accessed = accessed
        self.ranges = []     # [graph, first node, end or None while it records]
        self.watched = {}    # tensor -> the number of nodes in its graph when it was watched
        self.variables = {}  # name -> variable that watch() was called with

    def has(self, graph, node):
        """Returns whether a node was recorded. Bodies of functions that are built meanwhile are recorded as a whole."""
        own = [r for r in self.ranges if r[0] is graph]
        if not own and graph.outer is not None:
            return bool(self.ranges) and self.ranges[-1][2] is None
        return any(first <= node and (end is None or node < end) for _, first, end in own)

    def is_watched(self, tensor, node):
        """Returns whether a tensor is watched, or is a trainable variable's handle, when a node reads it."""
        outer = _outer(tensor)
        since = self.watched.get(outer)
        if since is not None:
            return outer is not tensor or since <= node
        variable = _variable(outer) if self.accessed else None
        return variable is not None and variable.trainable

    def needed(self, graph, targets):
        """Returns the recorded nodes that the targets depend on, in the order in which they were made."""
        found, ask = set(), [t._out >> 16 for t in targets]
        while ask:
            node = ask.pop()
            if node not in found and self.has(graph, node):
                found.add(node)
                ask += [out >> 16 for out in graph._c.inputs(node)]
        return sorted(found)

    def tracked(self, graph, nodes):
        """Returns those of the nodes that depend on what is watched. A loop may need several rounds."""
        known, before = set(), -1
        while len(known) != before:
            before = len(known)
            for node in nodes:
                if node not in known and any(self._tracks(graph, out, node, known) for out in graph._c.inputs(node)):
                    known.add(node)
        return known

    def _tracks(self, graph, out, node, known):
        tensor = graph._tensor(out)
        return _differentiable(tensor.dtype.base_dtype) and (out >> 16 in known or self.is_watched(tensor, node))

    def accessed_variables(self):
        found = dict(self.variables)
        for graph, first, end in self.ranges if self.accessed else ():
            for node in range(first, graph._c.size() if end is None else end):
                operation = graph._operation(node)
                for t in operation.inputs if operation.type in _READS else ():
                    variable = _variable(t)
                    if variable is not None and variable.trainable and operation is not variable._element.op:
                        found.setdefault(variable.name, variable)
        return tuple(found.values())


class GradientTape(metaclass=Named):
    """Records the ops of a `with` block, so that results can be differentiated by what it watches.

    In a graph its gradients are those of tf.gradients, of recorded ops only.  It also differentiates tf.cond and
    tf.while_loop, for which TensorFlow's tape raises NotImplementedError in a graph.

    Args:
      persistent: whether gradients may be asked for more than once.
      watch_accessed_variables: whether trainable variables are watched when they are read.
    """

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._persistent, self._accessed = bool(persistent), bool(watch_accessed_variables)
        self._tape, self._last, self._recording = None, None, False

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *error):
        if self._recording:
            self._stop()

    def _start(self):
        if self._recording:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        if self._tape is None:
            self._tape = self._last = _Recording(self._accessed)
        graph = get_default_graph()
        self._tape.ranges.append([graph, graph._c.size(), None])
        self._recording = True

    def _stop(self):
        if not self._recording:
            raise ValueError("Tape is not recording.")
        last = self._tape.ranges[-1]
        last[2], self._recording = last[0]._c.size(), False

    def watch(self, tensor):
        """Follows tensors or variables: gradients by them can be asked for."""
        for t in flatten(tensor):
            if not (isinstance(t, (Tensor, Variable)) or hasattr(t, "_parts")):
                raise ValueError("Passed in object %r of type %r, not tf.Tensor or tf.Variable or ExtensionType." % (
                    t, type(t).__name__))
            if self._tape is None:
                raise AttributeError("tf.GradientTape.watch: the tape does not record: call it in `with tape:`")
            if isinstance(t, Variable):
                self._tape.variables.setdefault(t.name, t)
            for part in [_handle(t)] if isinstance(t, Variable) else t._parts() if hasattr(t, "_parts") else [t]:
                outer = _outer(part)
                self._tape.watched.setdefault(outer, outer.graph._c.size())

    @contextlib.contextmanager
    def stop_recording(self):
        """Opens a `with` block whose ops are not recorded."""
        if self._tape is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self):
        """Forgets all that was recorded and watched, and goes on recording."""
        self._stop()
        self._tape = None
        self._start()

    def watched_variables(self):
        """Returns the variables that were watched, in the order in which they were first read."""
        return () if self._last is None else self._last.accessed_variables()

    def _used(self):
        """Returns what was recorded; a tape that is not persistent ends with it."""
        if self._tape is None:
            raise RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)")
        tape = self._tape
        if not self._persistent:
            if self._recording:
                self._stop()
            self._tape = None
        return tape

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
        """Returns the derivatives of the sum of the targets by each source, in the structure of the sources.

        Args:
          target: tensors, or a structure of them.
          sources: tensors or variables, or a structure of them.
          output_gradients: a gradient for each target; ones by default.
          unconnected_gradients: what to return for a source on which no target depends: "none" or "zero".
        """
        if target is None:
            raise TypeError("Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to "
                            "be differentiated, but received None.")
        unconnected = _unconnected(unconnected_gradients)
        targets, given = flatten(target), None
        if output_gradients is not None:
            given = [convert_to_tensor(g, name="output_gradients") for g in flatten(output_gradients)]
            if len(given) < len(targets):
                raise ValueError("tf.GradientTape.gradient: %d output_gradients are given for %d targets" % (len(given), len(targets)))
        return self._derive(self._used(), targets, sources, given, unconnected)

    def _derive(self, tape, targets, sources, given, unconnected):
        leaves = flatten(sources)
        xs = [_element(x) for x in leaves]
        for x in xs:
            if not _differentiable(x.dtype.base_dtype):
                _log("The dtype of the source tensor must be floating (e.g. tf.float32) when calling GradientTape.gradient, got %s",
                     x.dtype.name)
        made = _recorded_gradients(tape, [_element(t) for t in targets], xs, given)
        if unconnected is UnconnectedGradients.ZERO:
            from weft._core.ops.array_ops import zeros_like
            made = [zeros_like(s) if d is None else d for s, d in zip(leaves, made)]
        return pack_like(sources, [d if d is None or not hasattr(s, "nested_row_splits") else s.with_flat_values(d)
                                   for s, d in zip(leaves, made)])

    def jacobian(self, target, sources, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
                 experimental_use_pfor=True):
        """Returns the derivative of each element of the target by each source: shape(target) + shape(source).

        Args:
          target: a tensor.
          sources: tensors or variables, or a structure of them.
          unconnected_gradients: what to return for a source on which the target does not depend: "none" or "zero".
          parallel_iterations: how many elements may be differentiated at the same time.
          experimental_use_pfor: no effect: a loop computes the rows, and the result is the same.
        """
        unconnected, tape = _unconnected(unconnected_gradients), self._used()

        def one(x):
            return _jacobian(tape, target, x, unconnected, parallel_iterations)
        return map_structure(one, sources)

    def batch_jacobian(self, target, source, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
                       experimental_use_pfor=True):
        """Returns the derivative of target[b] by source[b] for each row b, where no row depends on another.

        Args:
          target: a tensor of at least two dimensions.
          source: a tensor with the same first dimension.
          unconnected_gradients: what to return if the target does not depend on the source: "none" or "zero".
          parallel_iterations: how many elements may be differentiated at the same time.
          experimental_use_pfor: no effect: a loop computes the rows, and the result is the same.
        """
        _unconnected(unconnected_gradients)
        for x in (target, source):
            if x.shape.ndims is not None and x.shape.ndims < 2:
                raise ValueError("Shape %s must have rank at least 2" % (x.shape,))
        if not target.shape[:1].is_compatible_with(source.shape[:1]):
            raise ValueError("Need first dimension of target shape (%s) and source shape (%s) to match." % (target.shape, source.shape))
        return _batch_jacobian(self._used(), target, source, parallel_iterations)


def _unconnected(given):
    try:
        return UnconnectedGradients(given)
    except ValueError:
        raise ValueError("Unknown value for unconnected_gradients: %r" % (given,)) from None


def _log(message, *args):
    from weft._core.platform import logging
    logging.warning(message, *args)


def _recorded_gradients(tape, targets, xs, given=None):
    """Returns the gradients by tensors of the sum of the targets, through recorded nodes; None where there is none."""
    graph = get_default_graph()
    if graph.outer is not None:
        targets, xs = [graph.capture(t) for t in targets], [graph.capture(x) for x in xs]
    nodes = tape.needed(graph, targets)
    tracked = tape.tracked(graph, nodes)
    end = graph._c.size()

    def follows(t):
        return _differentiable(t.dtype.base_dtype) and (t._out >> 16 in tracked or tape.is_watched(t, end))
    asked = [i for i, x in enumerate(xs) if follows(x) or any(x is t for t in targets)]
    held = [i for i, t in enumerate(targets) if follows(t) or any(t is xs[j] for j in asked)]
    made = [None] * len(xs)
    if not asked or not held:
        return made
    stops = {out for node in tracked for out in graph._c.inputs(node) if out >> 16 not in tracked}
    stops.update(targets[i]._out for i in held if targets[i]._out >> 16 not in tracked)
    found = gradients([targets[i] for i in held], [xs[i] for i in asked], None if given is None else [given[i] for i in held],
                      name="gradient_tape", stop_gradients=[graph._tensor(out) for out in sorted(stops)])
    for i, d in zip(asked, found):
        made[i] = d
    return made


def _one_hot(i, like, batch=False):
    """Returns zeros in the shape of a tensor, with a one at flat place i, of each row of the batch if asked."""
    from weft._core.ops import array_ops
    shape = array_ops.shape(like)
    rows = shape[0] if batch else 1
    size = array_ops.size(like) if not batch else _row_size(like)
    row = array_ops.one_hot(i, size, dtype=like.dtype.base_dtype)
    made = array_ops.reshape(array_ops.tile(array_ops.expand_dims(row, 0), [rows, 1]), shape)
    made.set_shape(like.shape)
    return made


def _row_size(like):
    from weft._core.ops import array_ops, math_ops
    return math_ops.reduce_prod(array_ops.shape(like)[1:])


def _rows(tape, target, source, count, parallel_iterations, batch=False):
    """Returns the gradient by the source for each of `count` elements of the target, stacked."""
    from weft._core.ops.functional_ops import map_fn
    from weft._core.ops.math_ops import range as range_of

    def row(i):
        return convert_to_tensor(_recorded_gradients(tape, [target], [_element(source)], [_one_hot(i, target, batch)])[0])
    return map_fn(row, range_of(count), dtype=source.dtype.base_dtype, parallel_iterations=parallel_iterations or 10)


def _connected(tape, target, source):
    """Returns whether the target depends on the source; the nodes that were made to find it out are never run."""
    with name_scope("connected"):
        return _recorded_gradients(tape, [target], [_element(source)])[0] is not None


def _jacobian(tape, target, source, unconnected, parallel_iterations):
    from weft._core.ops import array_ops
    with name_scope("jacobian"):
        y = _element(target)
        whole = y.shape.concatenate(source.shape)
        sizes = array_ops.concat([array_ops.shape(y), array_ops.shape(source)], 0)
        if not _connected(tape, y, source):
            return array_ops.zeros(sizes, source.dtype.base_dtype) if unconnected is UnconnectedGradients.ZERO else None
        made = array_ops.reshape(_rows(tape, y, source, array_ops.size(y), parallel_iterations), sizes)
        made.set_shape(whole)
        return made


def _batch_jacobian(tape, target, source, parallel_iterations):
    from weft._core.ops import array_ops, check_ops, math_ops
    graph = get_default_graph()
    with name_scope("batch_jacobian"):
        outer, inner = array_ops.shape(target), array_ops.shape(source)
        sizes = array_ops.concat([outer, inner[1:]], 0)
        if not _connected(tape, target, source):
            return array_ops.zeros(sizes, target.dtype.base_dtype)
        known = constant_value(outer[0]), constant_value(inner[0])
        checks = [] if None not in known else [check_ops.assert_equal(outer[0], inner[0])]
        with graph.control_dependencies(checks):
            rows = _rows(tape, target, source, _row_size(target), parallel_iterations, batch=True)
        order = array_ops.concat([[1, 0], math_ops.range(2, array_ops.rank(rows))], 0)
        made = array_ops.reshape(array_ops.transpose(rows, order), sizes)
        made.set_shape(target.shape.concatenate(source.shape[1:]))
        return made


__all__ = ["GradientTape"]
