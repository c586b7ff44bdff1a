"""Functions of tf.compat.v2 that do other things than those of tf.compat.v1."""
import math

import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import device as any_device, get_default_graph, name_scope as scope_of
from weft._core.ops import array_ops, math_ops, sparse
from weft._core.ops.resource_variables import ResourceVariable
from weft._core.ops.variable_methods import VariableAggregation, VariableSynchronization
from weft._core.ops.variables import Variable as AnyVariable, VariableType


class _Variable(VariableType):
    """The metaclass of tf.compat.v2.Variable: every variable is an instance of it, as in TensorFlow."""

    def __instancecheck__(cls, x):
        return isinstance(x, AnyVariable)

    def __subclasscheck__(cls, kind):
        return issubclass(kind, AnyVariable)

    def __call__(cls, initial_value=None, trainable=None, validate_shape=True, caching_device=None, name=None,
                 variable_def=None, dtype=None, import_scope=None, constraint=None,
                 synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE, shape=None):
        return AnyVariable(initial_value, trainable, None, validate_shape, caching_device, name, variable_def, dtype, None,
                           import_scope, constraint, True, synchronization, aggregation, shape)


class Variable(ResourceVariable, metaclass=_Variable):
    """A variable whose reads see the value at the time they run."""


class name_scope(metaclass=Named):
    """A context in which the names of ops begin with `name`; a name that ends in "/" is entered again."""

    def __init__(self, name):
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name, self._entered = name, []

    @property
    def name(self):
        return self._name

    def __enter__(self):
        scope = scope_of(self._name)
        entered = scope.__enter__()
        self._entered.append(scope)
        return entered

    def __exit__(self, *error):
        return self._entered.pop().__exit__(*error)


def device(device_name):
    """Returns a context in which ops are on a device, given by its name or as a tf.DeviceSpec."""
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return any_device(device_name)


def constant(value, dtype=None, shape=None, name="Const"):
    """Returns a constant; a value of one element fills the shape, any other must have as many elements as the shape."""
    if shape is not None:
        count = np.size(value)
        if count != 1 and count != math.prod(int(d) for d in np.atleast_1d(np.array(shape, object)).tolist()):
            raise TypeError("Expected Tensor's shape: %s, but got %s." % (tuple(shape), np.shape(value)))
    return array_ops.constant(value, dtype, shape, name)


def zeros_like(input, dtype=None, name=None):
    """Returns zeros in the shape of a tensor."""
    return array_ops.zeros_like(input, dtype, name)


def ones_like(input, dtype=None, name=None):
    """Returns ones in the shape of a tensor."""
    return array_ops.ones_like(input, dtype, name)


def get_current_name_scope():
    """Returns the full name of the scope in which ops are made now."""
    return get_default_graph().get_name_scope()


def gelu(features, approximate=False, name=None):
    """Returns features * P(X <= features) for a standard normal X, or its approximation by tanh."""
    with scope_of(name, "Gelu"):
        features = convert_to_tensor(features, name="features")
        if not features.dtype.is_floating:
            raise ValueError("`features.dtype` must be a floating point tensor. Received:features.dtype=%s" % features.dtype)
        if approximate:
            inner = features + math_ops.cast(0.044715, features.dtype) * math_ops.pow(features, 3)
            return 0.5 * features * (1.0 + math_ops.tanh(math.sqrt(2 / math.pi) * inner))
        return 0.5 * features * (1.0 + math_ops.erf(features / math_ops.cast(math.sqrt(2), features.dtype)))


def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """Returns the bytes of strings as numbers; with fixed_length, strings are cut or filled with zeros to that length."""
    if fixed_length is None:
        return op("DecodeRaw", name, bytes=convert_to_tensor(input_bytes, dtypes.string), out_type=dtypes.as_dtype(out_type),
                  little_endian=little_endian)
    return op("DecodePaddedRaw", name, input_bytes=convert_to_tensor(input_bytes, dtypes.string), fixed_length=fixed_length,
              out_type=dtypes.as_dtype(out_type), little_endian=little_endian)


def eig(tensor, name=None):
    """Returns the complex eigenvalues and eigenvectors of matrices."""
    out = op("Eig", name, input=convert_to_tensor(tensor), compute_v=True, Tout=_complex(tensor))
    return out[0], out[1]


def eigvals(tensor, name=None):
    """Returns the complex eigenvalues of matrices."""
    return op("Eig", name, input=convert_to_tensor(tensor), compute_v=False, Tout=_complex(tensor))[0]


def _complex(tensor):
    kind = convert_to_tensor(tensor).dtype.base_dtype
    return dtypes.complex64 if kind in (dtypes.float32, dtypes.complex64) else dtypes.complex128


def reduce_sum_sparse(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """Returns the sums of a sparse tensor along axes."""
    if output_is_sparse:
        return sparse.sparse_reduce_sum_sparse(sp_input, axis=axis, keepdims=keepdims)
    return sparse.sparse_reduce_sum(sp_input, axis=axis, keepdims=keepdims)


def reduce_max_sparse(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """Returns the largest elements of a sparse tensor along axes."""
    if output_is_sparse:
        return sparse.sparse_reduce_max_sparse(sp_input, axis=axis, keepdims=keepdims)
    return sparse.sparse_reduce_max(sp_input, axis=axis, keepdims=keepdims)


def _channels_last(data_format):
    if data_format != "NHWC":
        raise ValueError("`data_format` values other  than 'NHWC' are not supported. Received: data_format=%s" % data_format)


def dilation2d(input, filters, strides, padding, data_format, dilations, name=None):
    """Returns the gray-scale dilation of images by filters."""
    from weft import nn
    _channels_last(data_format)
    return nn.dilation2d(input, filters, strides=strides, rates=dilations, padding=padding, name=name)


def erosion2d(value, filters, strides, padding, data_format, dilations, name=None):
    """Returns the gray-scale erosion of images by filters."""
    from weft import nn
    _channels_last(data_format)
    return nn.erosion2d(value, filters, strides=strides, rates=dilations, padding=padding, name=name)


def _four(sizes):
    """Returns the sizes along batch, height, width and channels, of which one, two or four are given."""
    sizes = [sizes] if isinstance(sizes, int) else list(sizes)
    if len(sizes) not in (1, 2, 4):
        raise ValueError("ksize and strides should be of length 1, 2 or 4 but were %d" % len(sizes))
    return sizes if len(sizes) == 4 else [1, sizes[0], sizes[-1], 1]


def max_pool_with_argmax(input, ksize, strides, padding, data_format="NHWC", output_dtype=dtypes.int64,
                         include_batch_in_index=False, name=None):
    """Returns the largest element of each window, and its position."""
    from weft import nn
    if data_format != "NHWC":
        raise ValueError("`data_format` values other  than 'NHWC' are not supported. Received: data_format=%s" % data_format)
    return nn.max_pool_with_argmax(input, _four(ksize), _four(strides), padding, output_dtype=output_dtype, name=name,
                                   include_batch_in_index=include_batch_in_index)


def huber(y_true, y_pred, delta=1.0):
    """Returns a loss that is squared for errors up to delta, and linear beyond it."""
    from weft._core.keras import losses
    return losses.huber(y_true, y_pred, delta)


class Reduction(metaclass=Named):
    """The kinds of reduction of a Keras loss."""

    AUTO, NONE, SUM, SUM_OVER_BATCH_SIZE = "auto", "none", "sum", "sum_over_batch_size"

    @classmethod
    def all(cls):
        """Returns all kinds of reduction."""
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key):
        """Raises ValueError if key is not one of all()."""
        if key not in cls.all():
            raise ValueError('Invalid Reduction Key: %s. Expected keys are "%s"' % (key, cls.all()))


FUNCTIONS = {
    "Variable": Variable, "constant": constant, "device": device, "eig": eig, "eigvals": eigvals,
    "get_current_name_scope": get_current_name_scope, "io.decode_raw": decode_raw, "keras.losses.Reduction": Reduction,
    "keras.losses.huber": huber, "linalg.eig": eig, "linalg.eigvals": eigvals, "losses.Reduction": Reduction,
    "losses.huber": huber, "name_scope": name_scope, "nn.dilation2d": dilation2d, "nn.erosion2d": erosion2d, "nn.gelu": gelu,
    "nn.max_pool_with_argmax": max_pool_with_argmax,
    "ones_like": ones_like, "sparse.reduce_max": reduce_max_sparse, "sparse.reduce_sum": reduce_sum_sparse,
    "zeros_like": zeros_like,
}
