"""tf.IndexedSlices: rows of a larger tensor."""
import collections

from weft._core.framework import tensor_shape

IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])


class IndexedSlices:
    """Rows of a larger tensor, such as the gradient of a gather."""

    def __init__(self, values, indices, dense_shape=None):
        self.values, self.indices, self.dense_shape = values, indices, dense_shape

    @property
    def name(self):
        return self.values.name

    @property
    def op(self):
        return self.values.op

    @property
    def graph(self):
        return self.values.graph

    @property
    def dtype(self):
        return self.values.dtype

    @property
    def device(self):
        return self.values.device

    @property
    def shape(self):
        from weft._core.framework.build import constant_value
        known = None if self.dense_shape is None else constant_value(self.dense_shape)
        return tensor_shape.TensorShape(None if known is None else list(known))

    def get_shape(self):
        return self.shape

    def consumers(self):
        """Returns the operations that read the values."""
        return self.values.consumers()

    def _parts(self):
        return [t for t in (self.values, self.indices, self.dense_shape) if t is not None]

    def _with_parts(self, parts):
        return IndexedSlices(*parts)

    def _part_shapes(self, shape):
        """Returns the shapes of the parts if the values have this shape."""
        of = tensor_shape.TensorShape
        whole = [of([shape.ndims])] if self.dense_shape is not None else []
        return [shape, of([None]) if shape.ndims is None else of(shape.as_list()[:1])] + whole

    def __neg__(self):
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def __str__(self):
        return "IndexedSlices(indices=%s, values=%s)" % (self.indices, self.values)
