"""tf.ragged.RaggedTensorValue: the value of a RaggedTensor that a session returns."""
import numpy as np


class RaggedTensorValue:
    """The values and the row splits of a ragged tensor as numpy arrays."""

    def __init__(self, values, row_splits):
        if not isinstance(row_splits, (np.ndarray, np.generic)) or row_splits.dtype not in (np.int32, np.int64):
            raise TypeError("Row splits must be a numpy array of int32 or int64, got %r" % (row_splits,))
        if len(row_splits.shape) != 1:
            raise ValueError("Expected row_splits to be one-dimensional, got shape %s" % (row_splits.shape,))
        self._values, self._row_splits = values, row_splits

    @property
    def values(self):
        return self._values

    @property
    def row_splits(self):
        return self._row_splits

    @property
    def flat_values(self):
        return self._values.flat_values if isinstance(self._values, RaggedTensorValue) else self._values

    @property
    def nested_row_splits(self):
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self):
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensorValue) else 0)

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def shape(self):
        return (self._row_splits.shape[0] - 1, None) + tuple(self._values.shape[1:])

    def to_list(self):
        """Returns the rows as nested lists."""
        values = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        return [values[a:b] for a, b in zip(self._row_splits[:-1], self._row_splits[1:])]

    def __str__(self):
        return "<tf.RaggedTensorValue %s>" % self.to_list()

    def __repr__(self):
        return "tf.RaggedTensorValue(values=%r, row_splits=%r)" % (self._values, self._row_splits)


def nested(flat, splits):
    """Returns a RaggedTensorValue from flat values and splits, the outermost first."""
    for s in reversed(splits):
        flat = RaggedTensorValue(flat, s)
    return flat
