"""Runs a function of Keras on values whose shapes are not those that its inputs declare, such as a smaller last batch.

Keras feeds its functions without comparing shapes, so that a model of a fixed batch size also predicts other batches.  The
nodes of the graph have the shapes that follow from the declared ones, and the executor relies on them.  Such values are
therefore fed to a copy of the nodes that depend on the inputs.  The inputs of the copy leave the sizes open that differ;
variables and all else are shared.  A node in which a declared size is a constant fails in the copy as it does in
TensorFlow.
"""
import numpy as np

import weft as tf
from weft._core.framework.node_copies import copy_operations


def _open(declared, given):
    """Returns the declared shape with None for the sizes that differ from the given ones, or None if it fits or the ranks differ."""
    if declared.ndims is None or declared.ndims != len(given):
        return None
    dims = declared.as_list()
    made = [d if d == g else None for d, g in zip(dims, given)]
    return None if made == dims else made


def _opened(feeds):
    """Returns {input: its shape in a copy} of the feeds that do not fit."""
    found = {}
    for key, value in feeds.items():
        if isinstance(key, tf.Tensor) and key.op.type in ("Placeholder", "PlaceholderWithDefault"):
            shape = _open(key.shape, np.shape(value))
            if shape is not None:
                found[key] = shape
    return found


def _between(inputs, fetches):
    """Returns the operations on the way from inputs to fetches, in the order in which they were made."""
    readers, waiting, seen = {}, [f if isinstance(f, tf.Operation) else f.op for f in fetches], set()
    while waiting:
        op = waiting.pop()
        if op not in seen:
            seen.add(op)
            for before in [*(t.op for t in op.inputs), *op.control_inputs]:
                readers.setdefault(before, []).append(op)
                waiting.append(before)
    starts, found, waiting = {t.op for t in inputs}, set(), [t.op for t in inputs]
    while waiting:
        more = [op for op in readers.get(waiting.pop(), ()) if op not in found and op not in starts]
        found.update(more)
        waiting += more
    return sorted(found, key=lambda op: op._id)


def _copy(fetch, made, inputs):
    """Returns the copy of an operation, tensor or input; a fetch that was not copied is returned as it is."""
    if isinstance(fetch, tf.Operation):
        return made.get(fetch, fetch)
    if isinstance(fetch, tf.Tensor) and fetch.op in made:
        return made[fetch.op].outputs[fetch.value_index]
    return inputs.get(fetch, fetch)


def _copies(graph, shapes, fetches):
    """Returns ({input: its copy}, the fetches, of which those that depend on the inputs are replaced by copies)."""
    with graph.as_default(), graph.control_dependencies(None), tf.name_scope(None):
        inputs = {key: tf.placeholder(key.dtype.base_dtype, shape, name=key.op.name + "_open") for key, shape in shapes.items()}
    made = copy_operations(_between(inputs, fetches), inputs, graph, "", "", False)
    return inputs, [_copy(f, made, inputs) for f in fetches]


class OtherShapes:
    """The copies of one function, made when they are first needed."""

    def __init__(self):
        self._made = {}

    def chosen(self, fetches, feeds):
        """Returns the fetches and feeds to run: the given ones, or those of a copy that takes these shapes."""
        shapes = _opened(feeds)
        if not shapes:
            return fetches, feeds
        key = tuple((t.name, tuple(shape)) for t, shape in shapes.items())
        if key not in self._made:
            self._made[key] = _copies(next(iter(shapes)).graph, shapes, fetches)
        inputs, fetches = self._made[key]
        return fetches, {inputs.get(k, k): v for k, v in feeds.items()}
