"""tf.make_tensor_proto and tf.make_ndarray: constants as messages."""
import numpy as np

from weft._core.framework import protos
from weft._core.framework.attrs import shape_proto
from weft._core.framework.dtypes import as_dtype, bfloat16_bits
from weft._core.framework.tensor_shape import TensorShape

_INT4 = ("int4", "uint4")


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False):
    kind = None if dtype is None else as_dtype(dtype)
    array = np.asarray(values) if kind is None or kind.name == "string" else np.asarray(values, kind.as_numpy_dtype)
    if kind is None and not isinstance(values, (np.ndarray, np.generic)):
        array = array.astype({"float64": np.float32, "int64": np.int32}.get(array.dtype.name, array.dtype))
    kind = as_dtype(array.dtype) if kind is None else kind
    if shape is not None:
        array = np.broadcast_to(array, shape) if array.size == 1 else array.reshape(shape)
    made = protos.TensorProto(dtype=kind.as_datatype_enum, tensor_shape=shape_proto(TensorShape(array.shape)))
    if kind.name == "string":
        made.string_val.extend([v.encode() if isinstance(v, str) else bytes(v) for v in array.ravel().tolist()])
    elif kind.name in _INT4:
        made.int_val.extend(array.astype(np.int32).ravel().tolist())
    else:
        made.tensor_content = np.ascontiguousarray(bfloat16_bits(array) if kind.name == "bfloat16" else array).tobytes()
    return made


_FIELDS = {"float32": "float_val", "float64": "double_val", "int32": "int_val", "int64": "int64_val", "bool": "bool_val",
           "uint8": "int_val", "int8": "int_val", "int16": "int_val", "uint16": "int_val",
           "int4": "int_val", "uint4": "int_val", "string": "string_val"}


def make_ndarray(tensor):
    kind = as_dtype(tensor.dtype)
    shape = [d.size for d in tensor.tensor_shape.dim]
    if tensor.tensor_content and kind.name == "bfloat16":
        bits = np.frombuffer(tensor.tensor_content, np.uint16).astype(np.uint32) << np.uint32(16)
        return bits.view(np.float32).astype(kind.as_numpy_dtype).reshape(shape)
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, kind.as_numpy_dtype).reshape(shape).copy()
    if kind.name.startswith("float8"):
        values = np.frombuffer(tensor.float8_val or b"\0", kind.as_numpy_dtype)
        return np.concatenate([values, np.repeat(values[-1:], max(int(np.prod(shape)) - values.size, 0))]).reshape(shape)
    if kind.name not in _FIELDS:
        raise TypeError("Unsupported tensor type: %s" % kind.name)
    values = list(getattr(tensor, _FIELDS[kind.name]))
    count = int(np.prod(shape))
    values += values[-1:] * (count - len(values)) if values else [b"" if kind.name == "string" else 0] * count
    return np.array(values, kind.as_numpy_dtype).reshape(shape)
