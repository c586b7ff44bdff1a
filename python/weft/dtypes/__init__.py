"""tf.dtypes: types of tensors."""
from weft._core.framework.dtypes import (
    QUANTIZED_DTYPES,
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from weft._core.ops.io_ops import as_string
from weft._core.ops.math_ops import cast, complex, saturate_cast
from weft._core.public import publish as _publish
from weft.dtypes import experimental

__all__ = [
    "DType", "QUANTIZED_DTYPES", "as_dtype", "as_string", "bfloat16", "bool", "cast", "complex", "complex128",
    "complex64", "double", "experimental", "float16", "float32", "float64", "half", "int16", "int32", "int64", "int8", "qint16",
    "qint32", "qint8", "quint16", "quint8", "resource", "saturate_cast", "string", "uint16", "uint32", "uint64",
    "uint8", "variant",
]
__getattr__ = _publish(__name__)
