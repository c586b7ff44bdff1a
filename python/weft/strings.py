"""tf.strings: tensors of text."""
from weft._core.ops.io_ops import (
    as_string,
    reduce_join,
    regex_replace,
    string_to_hash_bucket as to_hash_bucket,
    string_to_number as to_number,
    substr,
)
from weft._core.ops.string_ops import (
    format,
    join,
    length,
    lower,
    regex_full_match,
    split,
    strip,
    to_hash_bucket_fast,
    to_hash_bucket_strong,
    upper,
)
from weft._core.ops.unicode_ops import (
    bytes_split,
    ngrams,
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_script,
    unicode_split,
    unicode_split_with_offsets,
    unicode_transcode,
    unsorted_segment_join,
)
from weft._core.public import publish as _publish

__all__ = [
    "as_string", "bytes_split", "format", "join", "length", "lower", "ngrams", "reduce_join", "regex_full_match",
    "regex_replace", "split", "strip", "substr", "to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong",
    "to_number", "unicode_decode", "unicode_decode_with_offsets", "unicode_encode", "unicode_script", "unicode_split",
    "unicode_split_with_offsets", "unicode_transcode", "unsorted_segment_join", "upper",
]
__getattr__ = _publish(__name__)
