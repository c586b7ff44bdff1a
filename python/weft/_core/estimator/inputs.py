"""tf.estimator.inputs: arrays in memory as batches."""
import collections

import numpy as np

from weft._core.framework import dtypes, errors
from weft._core.ops.random_ops import get_seed
from weft._core.ops.script_ops import py_func

feeding = set()  # names of nodes that end by themselves (OutOfRange), for the warning of predict


class _Batches:
    """Rows of arrays of one length in batches, over a number of epochs; a batch may reach over the end of an epoch."""

    def __init__(self, arrays, batch_size, num_epochs, shuffle):
        self._arrays, self._size, self._epochs = arrays, batch_size, num_epochs
        # The program's own numpy.random is not drawn from; a graph with a seed counts this as one of its draws.
        seed = get_seed(None) if shuffle else None
        self._random = np.random.RandomState(None if seed == (None, None) else seed) if shuffle else None
        self._rows, self._left, self._done = len(arrays[0]), np.zeros(0, np.int64), 0

    def next(self):
        while len(self._left) < self._size and (self._epochs is None or self._done < self._epochs):
            order = np.arange(self._rows) if self._random is None else self._random.permutation(self._rows)
            self._left, self._done = np.concatenate([self._left, order]), self._done + 1
        now, self._left = self._left[:self._size], self._left[self._size:]
        if not len(now):
            raise errors.OutOfRangeError(None, None, "the arrays of the input_fn are at their end")
        return [a[now] for a in self._arrays]


def _tensors(arrays, batch_size, num_epochs, shuffle):
    batches = _Batches(arrays, batch_size, num_epochs, shuffle)
    types = [dtypes.as_dtype(a.dtype) if a.dtype.kind not in "OSU" else dtypes.string for a in arrays]
    made = py_func(batches.next, [], types, name="input_batch")
    rows = batch_size if num_epochs is None else None
    for tensor, array in zip(made, arrays):
        tensor.set_shape([rows] + list(array.shape[1:]))
        feeding.add(tensor.op.name)
    return made


def _check(shuffle):
    if not isinstance(shuffle, bool):
        raise ValueError("shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for "
                         "training); got %s" % shuffle)


def numpy_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1):
    """Batches of a dict of arrays (or of one array), with y as labels (an array, or a dict of them)."""
    _check(shuffle)
    features = collections.OrderedDict(sorted((k, np.asarray(v)) for k, v in x.items())) if isinstance(x, dict) else np.asarray(x)
    if isinstance(x, dict) and not x:
        raise ValueError("x cannot be an empty dict")
    labels = collections.OrderedDict(sorted((k, np.asarray(v)) for k, v in y.items())) if isinstance(y, dict) else \
        None if y is None else np.asarray(y)
    if isinstance(y, dict) and not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    one = [features] if not isinstance(features, dict) else list(features.values())
    two = [] if labels is None else [labels] if not isinstance(labels, dict) else list(labels.values())
    if len({len(a) for a in one + two}) > 1:
        raise ValueError("Length of tensors in x and y is mismatched. All elements in x and y must have the same length. "
                         "Shapes are: %s" % [a.shape for a in one + two])

    def input_fn():
        made = _tensors(one + two, batch_size, num_epochs, shuffle)
        found = made[:len(one)]
        features_out = collections.OrderedDict(zip(features, found)) if isinstance(features, dict) else found[0]
        if labels is None:
            return features_out
        rest = made[len(one):]
        return features_out, (collections.OrderedDict(zip(labels, rest)) if isinstance(labels, dict) else rest[0])
    return input_fn


def pandas_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1,
                    target_column="target"):
    """Batches of the columns of a DataFrame, with a Series (or DataFrame) as labels."""
    _check(shuffle)
    columns = {name: np.asarray(x[name]) for name in x.columns}
    if y is None:
        labels = None
    elif hasattr(y, "columns"):
        labels = {name: np.asarray(y[name]) for name in y.columns}
    else:
        labels = np.asarray(y)
    if y is not None and not np.array_equal(np.asarray(x.index), np.asarray(y.index)):
        raise ValueError("Index for x and y are mismatched.\nIndex for x: %s\nIndex for y: %s\n" % (x.index, y.index))
    return numpy_input_fn(columns, labels, batch_size, num_epochs, shuffle)
