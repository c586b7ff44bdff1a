"""Parses Examples and SequenceExamples: tf.io.parse_example, parse_sequence_example and their variants."""
import collections

from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.absent import Named
from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops, io_ops, math_ops
from weft._core.ops.io_ops import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature
from weft._core.ops.sparse import SparseTensor


class SparseFeature(collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"]),
                    metaclass=Named):
    """A sparse tensor whose indices are the values of other features."""

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, as_dtype(dtype), size, already_sorted)


class RaggedFeature(collections.namedtuple("RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"]),
                    metaclass=Named):
    """A ragged tensor. Its partitions can be the values of other features."""

    RowSplits = collections.namedtuple("RowSplits", ["key"])
    RowLengths = collections.namedtuple("RowLengths", ["key"])
    RowStarts = collections.namedtuple("RowStarts", ["key"])
    RowLimits = collections.namedtuple("RowLimits", ["key"])
    ValueRowIds = collections.namedtuple("ValueRowIds", ["key"])
    UniformRowLength = collections.namedtuple("UniformRowLength", ["length"])

    def __new__(cls, dtype, value_key=None, partitions=(), row_splits_dtype=dtypes.int32, validate=False):
        splits = as_dtype(row_splits_dtype)
        if splits not in (dtypes.int32, dtypes.int64):
            raise ValueError("row_splits_dtype must be int32 or int64, got %r" % (row_splits_dtype,))
        if not isinstance(partitions, (list, tuple)):
            raise TypeError("partitions must be a list or tuple, got %r" % (partitions,))
        if value_key is not None and not isinstance(value_key, str):
            raise ValueError("value_key must be a string or None")
        for p in partitions:
            if not isinstance(p, (cls.RowSplits, cls.RowLengths, cls.RowStarts, cls.RowLimits, cls.ValueRowIds, cls.UniformRowLength)):
                raise TypeError("partitions must be a list of partition objects, got %r" % (p,))
        return super().__new__(cls, as_dtype(dtype), value_key, tuple(partitions), splits, validate)


# ---- what is passed to the op ----

class _Wanted:
    """The keys of each kind of feature, and how to make ragged and sparse features from the results of the op."""

    def __init__(self, features, in_lists):
        self.sparse, self.dense, self.ragged, self.in_lists = {}, {}, {}, in_lists
        for key, feature in sorted((features or {}).items()):
            self.add(key, feature)

    def add(self, key, feature):
        if isinstance(feature, VarLenFeature):
            self.put(self.sparse, key, feature.dtype)
        elif isinstance(feature, SparseFeature):
            for index in feature.index_key if isinstance(feature.index_key, (list, tuple)) else [feature.index_key]:
                self.put(self.sparse, index, dtypes.int64)
            self.put(self.sparse, feature.value_key, feature.dtype)
        elif isinstance(feature, RaggedFeature):
            self.put(self.ragged, feature.value_key or key, (feature.dtype, feature.row_splits_dtype))
            for p in feature.partitions:
                if not isinstance(p, RaggedFeature.UniformRowLength):
                    self.put(self.ragged, p.key, (dtypes.int64, feature.row_splits_dtype))
        elif isinstance(feature, FixedLenFeature if not self.in_lists else FixedLenSequenceFeature):
            if self.in_lists and feature.default_value is not None:
                raise ValueError("Unsupported: default_value of FixedLenSequenceFeature %r in a feature list" % key)
            self.put(self.dense, key, feature)
        elif isinstance(feature, FixedLenSequenceFeature):
            self.put(self.dense, key, feature)

    @staticmethod
    def put(where, key, kind):
        if key in where and where[key] != kind:
            raise ValueError("Conflicting type %s vs %s for feature %s." % (where[key], kind, key))
        where[key] = kind


def _keys(kinds):
    return convert_to_tensor(sorted(kinds), dtypes.string) if kinds else constant([], dtypes.string)


def _defaults(dense):
    """Returns the default of each dense feature of a context, and its shape."""
    values, shapes = [], []
    for key in sorted(dense):
        feature = dense[key]
        shape = tensor_shape.as_shape(feature.shape)
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
            shape = tensor_shape.TensorShape([None]).concatenate(shape)
            padding = feature.default_value
            if padding is None:
                padding = "" if feature.dtype == dtypes.string else 0
            values.append(array_ops.reshape(convert_to_tensor(padding, feature.dtype), [1] * shape.ndims))
        elif feature.default_value is None:
            values.append(constant([], feature.dtype))
        else:
            given = convert_to_tensor(feature.default_value, feature.dtype, name="key_" + key.replace("/", "_"))
            values.append(array_ops.reshape(given, shape.as_list()))
        shapes.append(shape)
    return values, shapes


# ---- results of the op ----

def _with_sparse_features(features, found):
    """Returns the features with SparseFeatures made from their parts. Parts that were not asked for are removed."""
    from weft._core.ops.sparse_more import sparse_merge
    out = dict(found)
    for key, feature in sorted((features or {}).items()):
        if not isinstance(feature, SparseFeature):
            continue
        many = isinstance(feature.index_key, (list, tuple))
        ids = [found[k] for k in feature.index_key] if many else found[feature.index_key]
        sizes = list(feature.size) if many else feature.size
        out[key] = sparse_merge(ids, found[feature.value_key], sizes, already_sorted=feature.already_sorted)
    return {k: out[k] for k in features or {}}


def _rows(serialized):
    return serialized.shape.as_list()[0] if serialized.shape.ndims == 1 else None


def _partitioned(values, feature, ragged, batch):
    """Returns a ragged feature, partitioned by other features from the innermost (last) to the outermost (first)."""
    from weft._core.ragged.ragged_tensor import RaggedTensor
    for p in reversed(feature.partitions):
        if isinstance(p, RaggedFeature.UniformRowLength):
            values = RaggedTensor.from_uniform_row_length(values, p.length, validate=feature.validate)
            continue
        given = math_ops.cast(ragged[p.key], feature.row_splits_dtype)
        maker = {"RowSplits": RaggedTensor.from_row_splits, "RowLengths": RaggedTensor.from_row_lengths,
                 "RowStarts": RaggedTensor.from_row_starts, "RowLimits": RaggedTensor.from_row_limits,
                 "ValueRowIds": RaggedTensor.from_value_rowids}[type(p).__name__]
        values = maker(values, given, validate=feature.validate)
    return values


def _ragged_features(features, read, batch, rows):
    """Returns {key: tensor} of the ragged features of a context.

    read: {key: (values, splits)}; rows: the size of the batch.
    """
    from weft._core.ragged.ragged_tensor import RaggedTensor
    out = {}
    for _, splits in read.values() if batch and rows is not None else ():
        splits.set_shape([rows + 1])
    for key, feature in sorted((features or {}).items()):
        if not isinstance(feature, RaggedFeature):
            continue
        values, splits = read[feature.value_key or key]
        if feature.partitions and batch:
            raise NotImplementedError("RaggedFeature(partitions=...) is not in Weft for a batch of examples: parse examples one by one "
                                      "(tf.io.parse_single_example), or leave partitions out")
        if feature.partitions:
            out[key] = _partitioned(values, feature, {k: v for k, (v, _) in read.items()}, batch)
        else:
            out[key] = RaggedTensor.from_row_splits(values, splits, validate=feature.validate) if batch else values
    return out


# ---- sequences ----

def _sequences(serialized, context_features, sequence_features, names, default, name):
    from weft._core.ragged.ragged_tensor import RaggedTensor
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    io_ops.check_features(context_features or {}, (VarLenFeature, SparseFeature, FixedLenFeature, RaggedFeature), "context_")
    io_ops.check_features(sequence_features or {}, (VarLenFeature, SparseFeature, FixedLenSequenceFeature, RaggedFeature),
                          "feature_list_")
    context, lists = _Wanted(context_features, False), _Wanted(sequence_features, True)
    with name_scope(name, default, [serialized, names]):
        if default == "ParseSingleSequenceExample":
            with name_scope(name, "ParseSingleExample"):
                serialized = convert_to_tensor(serialized, dtypes.string, name="serialized")
        else:
            serialized = convert_to_tensor(serialized, dtypes.string, name="serialized")
        batch = serialized.shape.ndims != 0
        defaults, shapes = _defaults(context.dense)
        with name_scope(name, "ParseSequenceExample") as scope:
            inner = "%s/%s" % (scope.rstrip("/").rpartition("/")[2], name or "ParseSequenceExampleV2")
        made = op("ParseSequenceExampleV2", inner, serialized=serialized,
                  debug_name=constant([] if names is None else names, dtypes.string), context_sparse_keys=_keys(context.sparse),
                  context_dense_keys=_keys(context.dense), context_ragged_keys=_keys(context.ragged),
                  feature_list_sparse_keys=_keys(lists.sparse), feature_list_dense_keys=_keys(lists.dense),
                  feature_list_ragged_keys=_keys(lists.ragged),
                  feature_list_dense_missing_assumed_empty=constant([bool(lists.dense[k].allow_missing) for k in sorted(lists.dense)],
                                                                    dtypes.bool),
                  context_dense_defaults=defaults, context_dense_shapes=shapes, Ncontext_sparse=len(context.sparse),
                  context_sparse_types=[context.sparse[k] for k in sorted(context.sparse)],
                  context_ragged_value_types=[context.ragged[k][0] for k in sorted(context.ragged)],
                  context_ragged_split_types=[context.ragged[k][1] for k in sorted(context.ragged)],
                  Nfeature_list_sparse=len(lists.sparse), Nfeature_list_dense=len(lists.dense),
                  feature_list_dense_types=[lists.dense[k].dtype for k in sorted(lists.dense)],
                  feature_list_sparse_types=[lists.sparse[k] for k in sorted(lists.sparse)],
                  feature_list_ragged_value_types=[lists.ragged[k][0] for k in sorted(lists.ragged)],
                  feature_list_ragged_split_types=[lists.ragged[k][1] for k in sorted(lists.ragged)],
                  feature_list_dense_shapes=[tensor_shape.as_shape(lists.dense[k].shape) for k in sorted(lists.dense)])
        first = {k: SparseTensor(*p) for k, p in zip(sorted(context.sparse), zip(
            made.context_sparse_indices, made.context_sparse_values, made.context_sparse_shapes))}
        first.update(zip(sorted(context.dense), made.context_dense_values))
        read = dict(zip(sorted(context.ragged), zip(made.context_ragged_values, made.context_ragged_row_splits)))
        first.update(_ragged_features(context_features, read, batch, _rows(serialized)))
        second = {k: SparseTensor(*p) for k, p in zip(sorted(lists.sparse), zip(
            made.feature_list_sparse_indices, made.feature_list_sparse_values, made.feature_list_sparse_shapes))}
        second.update(zip(sorted(lists.dense), made.feature_list_dense_values))
        for k, values, outer, inner in zip(sorted(lists.ragged), made.feature_list_ragged_values, made.feature_list_ragged_outer_splits,
                                           made.feature_list_ragged_inner_splits):
            rows = RaggedTensor.from_row_splits(values, inner, validate=False)
            second[k] = RaggedTensor.from_row_splits(rows, outer, validate=False) if batch else rows
        lengths = dict(zip(sorted(lists.dense), made.feature_list_dense_lengths))
        return _with_sparse_features(context_features, first), _with_sparse_features(sequence_features, second), lengths


def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None):
    """Returns the features of a batch of SequenceExamples.

    Args:
      serialized: a vector of serialized SequenceExamples.
      context_features: {key: feature} of the context.
      sequence_features: {key: feature} of the feature lists.
      example_names: names of the examples, for error messages.
      name: a name for the operation.

    Returns:
      (context, feature lists, lengths of the dense feature lists), each a dictionary.
    """
    return _sequences(serialized, context_features, sequence_features, example_names, "ParseSequenceExample", name)


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_name=None, name=None):
    """Returns the features of one SequenceExample.

    Args:
      serialized: a scalar: the serialized SequenceExample.
      context_features: {key: feature} of the context.
      sequence_features: {key: feature} of the feature lists.
      example_name: its name, for error messages.
      name: a name for the operation.

    Returns:
      (context, feature lists), each a dictionary.
    """
    names = None if example_name is None else [example_name]
    return _sequences(serialized, context_features, sequence_features, names, "ParseSingleSequenceExample", name)[:2]


# ---- examples ----

def _examples(serialized, features, names, default, name):
    """Parses one Example or a batch of them."""
    if not features:
        raise ValueError("Missing: features was %s." % features)
    io_ops.check_features(features, (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature))
    wanted = _Wanted(features, False)
    with name_scope(name, default, [serialized]):
        serialized = convert_to_tensor(serialized, dtypes.string, name="serialized")
        batch = serialized.shape.ndims != 0
        defaults, shapes = _defaults(wanted.dense)
        made = op("ParseExampleV2", name, serialized=serialized, names=[] if names is None else names,
                  sparse_keys=sorted(wanted.sparse), dense_keys=sorted(wanted.dense), ragged_keys=sorted(wanted.ragged),
                  dense_defaults=defaults, dense_shapes=shapes, num_sparse=len(wanted.sparse),
                  sparse_types=[wanted.sparse[k] for k in sorted(wanted.sparse)],
                  ragged_value_types=[wanted.ragged[k][0] for k in sorted(wanted.ragged)],
                  ragged_split_types=[wanted.ragged[k][1] for k in sorted(wanted.ragged)])
        found = {k: SparseTensor(*p) for k, p in zip(sorted(wanted.sparse), zip(
            made.sparse_indices, made.sparse_values, made.sparse_shapes))}
        found.update(zip(sorted(wanted.dense), made.dense_values))
        read = dict(zip(sorted(wanted.ragged), zip(made.ragged_values, made.ragged_row_splits)))
        found.update(_ragged_features(features, read, batch, _rows(serialized)))
        return _with_sparse_features(features, found)


def parse_single_example(serialized, features=None, name=None, example_names=None):
    """Returns the features of one Example.

    Args:
      serialized: a scalar: the serialized Example.
      features: {key: feature}.
      name: a name for the operation.
      example_names: its name, for error messages.
    """
    with name_scope(name, "ParseSingleExample", [serialized]):
        return _examples(serialized, features, example_names, "ParseExample", name)


def parse_example(serialized, features=None, name=None, example_names=None):
    """Returns the features of a batch of Examples.

    Args:
      serialized: a vector of serialized Examples.
      features: {key: feature}.
      name: a name for the operation.
      example_names: names of the examples, for error messages.
    """
    return _examples(serialized, features, example_names, "ParseExample", name)
