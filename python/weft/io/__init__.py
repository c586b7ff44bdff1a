"""tf.io: files, records and examples."""
from weft._core.files.graph_io import write_graph
from weft._core.files.python_io import TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator
from weft._core.ops.data_flow import PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
from weft._core.ops.image import decode_gif, decode_jpeg, decode_png, encode_jpeg, encode_png
from weft._core.ops.image_functions import decode_and_crop_jpeg, decode_bmp, decode_image, extract_jpeg_shape, is_jpeg
from weft._core.ops.io_ops import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    VarLenFeature,
    decode_base64,
    decode_compressed,
    decode_csv,
    decode_json_example,
    decode_proto,
    decode_raw,
    encode_base64,
    encode_proto,
    matching_files,
    parse_tensor,
    read_file,
    serialize_tensor,
    write_file,
)
from weft._core.ops.parsing import (
    RaggedFeature,
    SparseFeature,
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
from weft._core.ops.sparse_more import deserialize_many_sparse, serialize_many_sparse, serialize_sparse
from weft._core.public import publish as _publish
from weft._core.train.input import match_filenames_once
from weft.io import gfile

__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RaggedFeature",
    "RandomShuffleQueue", "SparseFeature", "TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter",
    "VarLenFeature", "decode_and_crop_jpeg", "decode_base64", "decode_bmp", "decode_compressed", "decode_csv",
    "decode_gif", "decode_image", "decode_jpeg", "decode_json_example", "decode_png", "decode_proto",
    "decode_raw", "deserialize_many_sparse", "encode_base64", "encode_jpeg", "encode_png", "encode_proto",
    "extract_jpeg_shape", "gfile", "is_jpeg",
    "match_filenames_once", "matching_files", "parse_example", "parse_sequence_example", "parse_single_example",
    "parse_single_sequence_example", "parse_tensor", "read_file", "serialize_many_sparse", "serialize_sparse",
    "serialize_tensor", "tf_record_iterator", "write_file", "write_graph",
]
__getattr__ = _publish(__name__)
