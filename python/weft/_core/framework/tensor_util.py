"""tf.make_tensor_proto and tf.make_ndarray: constants as messages."""
import numpy as np

from weft._core.framework import protos
from weft._core.framework.attrs import shape_proto
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.tensor_shape import TensorShape
from weft._core.framework.values import triple

_WHOLE = ("float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "qint8", "quint8",
          "qint16", "quint16", "qint32")
_LISTS = {"float16": "half_val", "bfloat16": "half_val", "float32": "float_val", "float64": "double_val", "int64": "int64_val",
          "bool": "bool_val", "complex64": "scomplex_val", "complex128": "dcomplex_val", "uint32": "uint32_val", "uint64": "uint64_val"}


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False):
    """Returns a constant as a message. As in TensorFlow, several numbers are bytes, and a few are a list of a field of the type."""
    if isinstance(values, protos.TensorProto):
        return values
    # TensorFlow does not look at Python's values for an empty shape.
    if shape is not None and 0 in tuple(shape) and values is not None and not isinstance(values, (np.ndarray, np.generic)):
        return protos.TensorProto(dtype=as_dtype(dtype or "float32").as_datatype_enum, tensor_shape=shape_proto(TensorShape(shape)))
    (_, natural, data), kind = triple(values, None if dtype is None else as_dtype(dtype))
    shape = natural if shape is None else tuple(int(d) for d in shape)
    count, wanted = int(np.prod(natural, dtype=np.int64)), int(np.prod(shape, dtype=np.int64))
    if verify_shape and shape != natural:
        raise TypeError("Expected Tensor's shape: %s, but got %s." % (shape, natural))
    if count > wanted:
        raise ValueError("Too many elements provided. Takes at most %d, but got %d." % (wanted, count))
    made = protos.TensorProto(dtype=kind.as_datatype_enum, tensor_shape=shape_proto(TensorShape(shape)))
    if kind.name == "string":
        made.string_val.extend([v.encode() if isinstance(v, str) else bytes(v) for v in data])
    elif kind.name.startswith("float8"):
        made.float8_val = data.tobytes()
    elif kind.name in _WHOLE and count == wanted > 1:
        made.tensor_content = data.tobytes()
    else:
        field = _LISTS.get(kind.name, "int_val")
        kinds = {"half_val": np.uint16, "scomplex_val": np.float32, "dcomplex_val": np.float64}
        flat = data.ravel()
        getattr(made, field).extend((flat.view(kinds[field]) if field in kinds else flat.astype(np.int32) if "int4" in kind.name
                                     else flat).tolist())
    return made


_FIELDS = {**_LISTS, "string": "string_val",
           **dict.fromkeys(("int32", "uint8", "int8", "int16", "uint16", "int4", "uint4", "qint8", "quint8", "qint16", "quint16", "qint32"),
                           "int_val")}
_PAIRS = {"complex64": np.float32, "complex128": np.float64}


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
    if kind.name in _PAIRS:
        values = np.array(values, _PAIRS[kind.name]).view(kind.as_numpy_dtype).tolist()
    elif kind.name == "bfloat16":
        values = (np.array(values, np.uint32) << np.uint32(16)).view(np.float32).tolist()
    elif kind.name == "float16":
        values = np.array(values, np.uint16).view(np.float16).tolist()
    values += values[-1:] * (count - len(values)) if values else [b"" if kind.name == "string" else 0] * count
    return np.array(values, kind.as_numpy_dtype).reshape(shape)
