"""tf.keras.Input and InputLayer, the inputs of a model."""
from weft._core.framework.absent import where
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Tensor
from weft._core.framework.tensor_shape import TensorShape
from weft._core.keras import backend
from weft._core.keras.base_layer import Layer
from weft._core.keras.node import Node
from weft._core.ops import array_ops
from weft._core.ops.sparse import SparseTensor


class InputLayer(Layer):
    """A layer without inputs whose output is a placeholder or a given tensor."""

    def __init__(self, input_shape=None, batch_size=None, dtype=None, input_tensor=None, sparse=None, name=None, ragged=None,
                 type_spec=None, **kwargs):
        if ragged or type_spec is not None:
            raise NotImplementedError("tf.keras.layers.InputLayer(%s=...) is not in Weft%s: give shape and dtype" % (
                "ragged" if ragged else "type_spec", where()))
        self._sparse, self._ragged = bool(sparse), False
        batch_shape = _one_shape(input_shape, batch_size, kwargs)
        if not name:
            name = "input_%d" % backend.get_uid("input")
        dtype = as_dtype(dtype).name if dtype else backend.floatx() if input_tensor is None else input_tensor.dtype.base_dtype.name
        super().__init__(dtype=dtype, name=name)
        self.built, self.supports_masking, self.sparse, self.ragged = True, True, self._sparse, False
        self.batch_size, self.is_placeholder = batch_size, input_tensor is None
        if input_tensor is None:
            input_tensor = self._placeholder(batch_shape)
        elif input_tensor.shape.ndims is not None:
            batch_shape = tuple(input_tensor.shape.as_list())
        self._batch_input_shape = None if batch_shape is None else tuple(batch_shape)
        self._init_input_shape = None if batch_shape is None else tuple(batch_shape[1:])
        input_tensor._keras_mask = None
        Node(self, outputs=input_tensor)

    def _placeholder(self, batch_shape):
        if self._sparse:
            return array_ops.sparse_placeholder(as_dtype(self.dtype), shape=batch_shape, name=self.name)
        return array_ops.placeholder(as_dtype(self.dtype), batch_shape, name=self.name)

    def get_config(self):
        return {"batch_input_shape": self._batch_input_shape, "dtype": self.dtype, "sparse": self.sparse, "ragged": self.ragged,
                "name": self.name}


def _one_shape(shape, batch_size, kwargs):
    """Returns the shape with the batch from the arguments, or None if they give none."""
    batch_shape = kwargs.pop("batch_input_shape", None)
    if kwargs:
        raise ValueError("Unrecognized keyword arguments: %s" % list(kwargs))
    if batch_shape is not None and shape is not None:
        raise ValueError("Only provide the input_shape OR batch_input_shape argument to InputLayer, not both at the same time.")
    if batch_shape is not None:
        return tuple(TensorShape(batch_shape).as_list())
    if shape is None:
        return None
    shape = (shape,) if isinstance(shape, int) else tuple(TensorShape(shape).as_list())
    return (batch_size, *shape)


def Input(shape=None, batch_size=None, name=None, dtype=None, sparse=None, tensor=None, ragged=None, type_spec=None, **kwargs):
    """Makes an input of a model: a placeholder, or the given tensor as a Keras tensor."""
    batch_shape = kwargs.pop("batch_shape", None)
    if kwargs:
        raise ValueError("Unrecognized keyword arguments: %s" % list(kwargs))
    if batch_shape is not None and shape is not None:
        raise ValueError("Only provide the `shape` OR `batch_input_shape` argument to Input, not both at the same time.")
    if batch_shape is None and shape is None and tensor is None and type_spec is None:
        raise ValueError("Please provide to Input a `shape` or a `tensor` or a `type_spec` argument. Note that `shape` does not "
                         "include the batch dimension.")
    if tensor is not None and not isinstance(tensor, (Tensor, SparseTensor)):
        raise AttributeError("tf.keras.Input(tensor=...) takes a tensor; got %r of type %s" % (tensor, type(tensor).__name__))
    given = {} if batch_shape is None else {"batch_input_shape": batch_shape}
    layer = InputLayer(shape, batch_size, dtype, tensor, sparse, name, ragged, type_spec, **given)
    return layer._inbound_nodes[0].output_tensors[0]
