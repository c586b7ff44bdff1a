"""tensorflow.python.framework.composite_tensor: tells which values consist of several tensors."""
import weft as tf


class _Composite(type):
    def __instancecheck__(cls, x):
        return isinstance(x, (tf.SparseTensor, tf.RaggedTensor, tf.IndexedSlices)) or type.__instancecheck__(cls, x)

    def __subclasscheck__(cls, kind):
        return issubclass(kind, (tf.SparseTensor, tf.RaggedTensor, tf.IndexedSlices)) or type.__subclasscheck__(cls, kind)


class CompositeTensor(metaclass=_Composite):
    """Sparse and ragged tensors and indexed slices are instances of it."""
