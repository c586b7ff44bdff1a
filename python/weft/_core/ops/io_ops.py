"""Input: readers, records, parsing of Examples, and decoding."""
import collections

from weft._core.framework import dtypes, tensor_shape, wrap
from weft._core.framework.absent import Named
from weft._core.framework.build import constant, convert_to_tensor, either, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ops.data_flow import QueueBase
from weft._core.ops.sparse import SparseTensor

wrap.functions("""
decode_raw_op DecodeRaw bytes out_type little_endian=True
read_file ReadFile filename
write_file WriteFile filename contents
matching_files MatchingFiles pattern
string_to_number_op StringToNumber string_tensor out_type=1
as_string AsString input precision=-1 scientific=False shortest=False width=-1 fill=''
string_to_hash_bucket_fast StringToHashBucketFast input num_buckets
string_to_hash_bucket_strong StringToHashBucketStrong input num_buckets key
string_to_hash_bucket_op StringToHashBucket string_tensor num_buckets
encode_base64 EncodeBase64 input pad=False
decode_base64 DecodeBase64 input
decode_json_example DecodeJSONExample json_examples
decode_compressed DecodeCompressed bytes:bytes compression_type=''
regex_replace_op RegexReplace input pattern rewrite replace_global=True
string_strip StringStrip input
serialize_tensor SerializeTensor tensor
parse_tensor ParseTensor serialized out_type
encode_proto EncodeProto sizes values field_names message_type descriptor_source='local://'
""", globals())
wrap.functions("decode_proto DecodeProtoV2 bytes:bytes message_type field_names output_types descriptor_source='local://' "
               "message_format='binary' sanitize=False", globals())


def decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None):
    data = either("input_bytes", input_bytes, "bytes", bytes)
    if data is None or out_type is None:
        raise ValueError("tf.decode_raw: %s is missing" % ("input_bytes" if data is None else "out_type"))
    return decode_raw_op(data, out_type, little_endian, name=name)  # noqa: F821


def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    """Replaces what matches a pattern in the elements of a tensor of strings.

    Args:
      input: a tensor of strings.
      pattern: a regular expression, or a tensor of one.
      rewrite: what replaces a match, or a tensor of it.
      replace_global: whether all matches are replaced, or only the first.
      name: a name for the operation.
    """
    if all(isinstance(text, (str, bytes)) for text in (pattern, rewrite)):
        return op("StaticRegexReplace", name, input=input, pattern=pattern, rewrite=rewrite, replace_global=replace_global)
    return regex_replace_op(input, pattern, rewrite, replace_global, name=name)  # noqa: F821


def string_to_number(string_tensor=None, out_type=dtypes.float32, name=None, input=None):
    return string_to_number_op(either("input", input, "string_tensor", string_tensor), out_type, name=name)  # noqa: F821


def string_to_hash_bucket(string_tensor=None, num_buckets=None, name=None, input=None):
    return string_to_hash_bucket_op(either("input", input, "string_tensor", string_tensor), num_buckets, name=name)  # noqa: F821


def string_join(inputs, separator="", name=None):
    return op("StringJoin", name, inputs=list(inputs), separator=separator)


def reduce_join(inputs=None, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None):
    """Joins the strings of a tensor along some axes.

    Args:
      inputs: a tensor of strings.
      axis: the axes, in the order in which they are joined; None joins all, the last one first.
      keep_dims: whether the joined axes stay, with size 1.
      separator: a string between two joined ones.
      name: a name for the operation.
      reduction_indices: the old name of axis.
      keepdims: the other name of keep_dims.
    """
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    keep = either("keepdims", keepdims, "keep_dims", keep_dims)
    with name_scope(None, "ReduceJoin", [inputs]):
        x = convert_to_tensor(inputs)
        if axis is None and x.shape.ndims is not None:
            axis = constant(list(range(x.shape.ndims))[::-1], dtypes.int32)
        elif axis is None:
            axis = math_ops.range(math_ops.subtract(array_ops.rank(x), 1), -1, -1)
        return op("ReduceJoin", name, inputs=x, reduction_indices=axis, keep_dims=bool(keep), separator=separator)


def string_split(source=None, sep=None, skip_empty=True, delimiter=None, result_type="SparseTensor", name=None, input=None):
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    sep = (" " if sep is None else sep) if delimiter is None else delimiter
    with name_scope(name, "StringSplit", [source]):
        sep = convert_to_tensor(sep, dtypes.string)
        indices, values, shape = op("StringSplit", input=convert_to_tensor(source if input is None else input, dtypes.string),
                                    delimiter=sep, skip_empty=skip_empty)
    indices.set_shape([None, 2])
    values.set_shape([None])
    shape.set_shape([2])
    return SparseTensor(indices, values, shape) if result_type == "SparseTensor" else rows_of_split(indices, values, shape)


def rows_of_split(indices, values, shape):
    """Returns the pieces of split strings as a ragged tensor."""
    from weft._core.ragged.ragged_tensor import RaggedTensor
    return RaggedTensor.from_value_rowids(values, indices[:, 0], shape[0], validate=False)


def substr(input, pos, len, name=None, unit="BYTE"):
    return op("Substr", name, input=input, pos=pos, len=len, unit=unit)


def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, name=None, na_value="", select_cols=None):
    defaults = [constant([], d) if hasattr(d, "as_numpy_dtype") else d for d in record_defaults]
    if select_cols is not None:
        if any(after <= before for before, after in zip(select_cols, select_cols[1:])):
            raise ValueError("select_cols is not strictly increasing.")
        if select_cols and select_cols[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(select_cols) != len(defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    made = op("DecodeCSV", name, records=records, record_defaults=defaults, field_delim=field_delim,
              use_quote_delim=use_quote_delim, na_value=na_value, select_cols=list(select_cols or []))
    return made


# ---- readers ----

class ReaderBase(metaclass=Named):
    _kind = None

    def __init__(self, name=None, **attrs):
        self._ref = op(self._kind, name, **attrs)

    reader_ref = property(lambda self: self._ref)

    def _ask(self, kind, name, queue=None, **inputs):
        """Adds the op of a reader with a resource handle, or the older op of a reader with a reference."""
        old = self._ref.dtype.base_dtype != dtypes.resource
        if queue is not None:
            ref = queue.queue_ref if isinstance(queue, QueueBase) else queue
            inputs["queue_handle"] = op("FakeQueue", None, resource=ref) if old else ref
        return op(kind if old else kind + "V2", name, reader_handle=self._ref, **inputs)

    def read(self, queue, name=None):
        key, value = self._ask("ReaderRead", name, queue)
        return collections.namedtuple("ReaderRead", ["key", "value"])(key, value)

    def read_up_to(self, queue, num_records, name=None):
        keys, values = self._ask("ReaderReadUpTo", name, queue, num_records=num_records)
        return collections.namedtuple("ReaderReadUpTo", ["keys", "values"])(keys, values)

    def num_records_produced(self, name=None):
        return self._ask("ReaderNumRecordsProduced", name)

    def num_work_units_completed(self, name=None):
        return self._ask("ReaderNumWorkUnitsCompleted", name)

    def reset(self, name=None):
        return self._ask("ReaderReset", name)

    @property
    def supports_serialize(self):
        """Whether the state of the reader can be saved and restored."""
        return self._kind == "IdentityReaderV2"

    def serialize_state(self, name=None):
        """Returns the state of the reader as a string."""
        return self._ask("ReaderSerializeState", name)

    def restore_state(self, state, name=None):
        """Returns the op that restores a state of serialize_state."""
        return self._ask("ReaderRestoreState", name, state=state)


class WholeFileReader(ReaderBase):
    _kind = "WholeFileReaderV2"


class IdentityReader(ReaderBase):
    _kind = "IdentityReaderV2"


class TextLineReader(ReaderBase):
    _kind = "TextLineReaderV2"

    def __init__(self, skip_header_lines=None, name=None):
        super().__init__(name, skip_header_lines=skip_header_lines or 0)


class FixedLengthRecordReader(ReaderBase):
    _kind = "FixedLengthRecordReaderV2"

    def __init__(self, record_bytes, header_bytes=None, footer_bytes=None, hop_bytes=None, name=None, encoding=None):
        super().__init__(name, record_bytes=record_bytes, header_bytes=header_bytes or 0, footer_bytes=footer_bytes or 0,
                         hop_bytes=hop_bytes or 0, encoding=encoding or "")


class LMDBReader(ReaderBase):
    """Reads the keys and values of LMDB databases. As in TensorFlow, options are ignored."""
    _kind = "LMDBReader"

    def __init__(self, name=None, options=None):
        del options
        super().__init__(name)


class TFRecordReader(ReaderBase):
    _kind = "TFRecordReaderV2"

    def __init__(self, name=None, options=None):
        super().__init__(name, compression_type=getattr(options, "compression", "") or "")


# ---- examples ----

class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"]), metaclass=Named):
    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype and as_dtype(dtype), default_value)


class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"]), metaclass=Named):
    def __new__(cls, dtype):
        return super().__new__(cls, dtype and as_dtype(dtype))


class FixedLenSequenceFeature(collections.namedtuple("FixedLenSequenceFeature",
                                                     ["shape", "dtype", "allow_missing", "default_value"])):
    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype and as_dtype(dtype), allow_missing, default_value)


def check_features(features, kinds, part=""):
    """Raises an error for a feature of a wrong class, a type that Examples do not have, or an unknown shape.

    Args:
      features: {key: feature}.
      kinds: the classes that may be given here.
      part: "context_" or "feature_list_" in a SequenceExample.
    """
    for key, feature in sorted(features.items()):
        if not isinstance(feature, kinds):
            raise ValueError("Unsupported %s %s for key '%s'" % (type(feature).__name__, feature, key))
        if not feature.dtype:
            raise ValueError("Missing type for feature %s. Received feature=%s." % (key, feature))
        dense = isinstance(feature, (FixedLenFeature, FixedLenSequenceFeature))
        if feature.dtype not in (dtypes.float32, dtypes.int64, dtypes.string):
            raise TypeError("Value passed to parameter '%s%s' has DataType %s not in list of allowed values: float32, int64, string "
                            "(feature '%s')" % (part, "dense_defaults" if dense else "sparse_types", feature.dtype.name, key))
        if dense:
            _check_feature_shape(key, feature)


def _check_feature_shape(key, feature):
    if feature.shape is None:
        raise ValueError("Missing shape for feature %s. Received feature=%s." % (key, feature))
    shape = tensor_shape.as_shape(feature.shape)
    if isinstance(feature, FixedLenFeature) and shape.ndims and shape[0].value is None:
        raise ValueError("First dimension of shape for feature %s unknown. Consider using FixedLenSequenceFeature. Received feature=%s."
                         % (key, feature))
    if not shape.is_fully_defined():
        raise ValueError("All dimensions of shape for feature %s need to be known but received %s." % (key, feature.shape))


