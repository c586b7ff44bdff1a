"""tf.io: files, records and examples."""
from weft._core.ops.data_flow import QueueBase
from weft._core.ops.io_ops import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    VarLenFeature,
    decode_base64,
    decode_csv,
    decode_raw,
    encode_base64,
    matching_files,
    parse_example,
    parse_single_example,
    parse_tensor,
    read_file,
    serialize_tensor,
    write_file,
)
from weft._core.public import publish as _publish

__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "QueueBase", "VarLenFeature", "decode_base64", "decode_csv",
    "decode_raw", "encode_base64", "matching_files", "parse_example", "parse_single_example", "parse_tensor",
    "read_file", "serialize_tensor", "write_file",
]
__getattr__ = _publish(__name__)
