"""tf.feature_column: columns of sequences, and columns that share one table of embeddings.

A sequence is a row of a SparseTensor. tf.keras.experimental.SequenceFeatures converts columns of sequences to a tensor
[batch, steps, numbers] and the lengths of the rows.
"""
import collections

import numpy as np

from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import get_default_graph, name_scope
from weft._core.nn import feature_column as columns
from weft._core.ops import array_ops, init_ops, io_ops, math_ops
from weft._core.ops.sparse import SparseTensor, sparse_tensor_to_dense
from weft._core.ops.variable_scope import get_variable


class SequenceCategoricalColumn(columns._CategoricalColumn, collections.namedtuple("SequenceCategoricalColumn", (
        "categorical_column",))):
    name = property(lambda self: self.categorical_column.name)
    _num_buckets = property(lambda self: self.categorical_column._num_buckets)
    _parse_example_spec = property(lambda self: self.categorical_column._parse_example_spec)

    def categories(self, features):
        return self.categorical_column.categories(features)

    def steps(self, features):
        """Returns (the categories of all steps as rows, weights or None, batch size, steps, lengths)."""
        ids, weights = self.categories(features)
        batch, steps = ids.dense_shape[0], ids.dense_shape[1]
        row = ids.indices[:, 0] * steps + ids.indices[:, 1]
        within = ids.indices[:, 2] if ids.indices.shape[1:].is_fully_defined() and ids.indices.shape[1] == 3 else array_ops.zeros_like(row)
        width = array_ops.concat([ids.dense_shape[2:], [1]], 0)[0]
        flat = SparseTensor(array_ops.stack([row, within], 1), ids.values, array_ops.stack([batch * steps, width]))
        if weights is not None:
            weights = SparseTensor(flat.indices, weights.values, flat.dense_shape)
        return flat, weights, batch, steps, lengths(ids)


def lengths(sparse, of=1):
    """Returns the number of steps of each row; a step has `of` numbers."""
    ends = math_ops.unsorted_segment_max(sparse.indices[:, 1] + 1, sparse.indices[:, 0], sparse.dense_shape[0])
    found = math_ops.maximum(ends, convert_to_tensor(0, dtypes.int64))
    return found if of == 1 else math_ops.cast(math_ops.ceil(found / of), dtypes.int64)


def sequence_categorical_column_with_identity(key, num_buckets, default_value=None):
    return SequenceCategoricalColumn(columns.categorical_column_with_identity(key, num_buckets, default_value))


def sequence_categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string):
    return SequenceCategoricalColumn(columns.categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0, default_value=None,
                                                     dtype=dtypes.string):
    return SequenceCategoricalColumn(columns.categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype))


def sequence_categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0):
    return SequenceCategoricalColumn(columns.categorical_column_with_vocabulary_list(
        key, vocabulary_list, dtype, default_value, num_oov_buckets))


class SequenceNumericColumn(columns._Column, collections.namedtuple("SequenceNumericColumn", (
        "key", "shape", "default_value", "dtype", "normalizer_fn"))):
    name = property(lambda self: self.key)
    width = property(lambda self: int(np.prod(self.shape)))
    variable_shape = property(lambda self: tensor_shape.TensorShape(self.shape))

    @property
    def _parse_example_spec(self):
        return {self.key: io_ops.VarLenFeature(self.dtype)}

    def sequence(self, features):
        """Returns ([batch, steps, numbers], lengths)."""
        found = columns._feature(features, self.key)
        if not isinstance(found, SparseTensor):
            raise TypeError("the feature %s of a sequence column must be a SparseTensor, given %s" % (self.key, found))
        if self.normalizer_fn is not None:
            found = self.normalizer_fn(found)
        wide = sparse_tensor_to_dense(found, default_value=self.default_value)
        batch = array_ops.shape(wide)[0]
        return math_ops.cast(array_ops.reshape(wide, [batch, -1, self.width]), dtypes.float32), lengths(found, self.width)


def sequence_numeric_column(key, shape=(1,), default_value=0., dtype=dtypes.float32, normalizer_fn=None):
    shape, dtype = columns._shape(shape, key), dtypes.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError("dtype must be convertible to float. dtype: %s, key: %s" % (dtype, key))
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError("normalizer_fn must be a callable. Given: %s" % normalizer_fn)
    return SequenceNumericColumn(columns._key(key), shape, default_value, dtype, normalizer_fn)


def sequence_of(column, features, trainable=True, collections_=None):
    """Returns ([batch, steps, numbers], lengths) for a column of sequences. Variables are added to collections_."""
    if isinstance(column, SequenceNumericColumn):
        return column.sequence(features)
    if not isinstance(column.categorical_column, SequenceCategoricalColumn):
        raise ValueError("In the column %s: categorical_column must be of type SequenceCategoricalColumn to use SequenceFeatures. "
                         "Suggested fix: Use one of sequence_categorical_column_with_*. Given: %s" % (
                             column.name, column.categorical_column))
    ids, weights, batch, steps, found = column.categorical_column.steps(features)

    class Steps:
        categories = staticmethod(lambda features: (ids, weights))
        _num_buckets, name = column.categorical_column._num_buckets, column.categorical_column.name
    made = column._replace(categorical_column=Steps).dense(features, trainable, collections_)
    return array_ops.reshape(made, array_ops.stack([batch, steps, column.width])), found


def check_sequence(column, more=()):
    """Raises an error for a column that SequenceFeatures does not accept and that is of none of the classes in `more`."""
    if isinstance(column, SequenceNumericColumn):
        return
    if not isinstance(column, (columns.EmbeddingColumn, columns.IndicatorColumn) + more):
        raise ValueError("Items of feature_columns must be a SequenceDenseColumn. You can wrap a categorical column with an "
                         "embedding_column or indicator_column. Given: %s" % (column,))


# ---- one table for several columns ----

class _SharedEmbeddingColumn(columns._DenseColumn, collections.namedtuple("_SharedEmbeddingColumn", (
        "categorical_column", "dimension", "combiner", "initializer", "shared_embedding_collection_name", "ckpt_to_load_from",
        "tensor_name_in_ckpt", "max_norm", "trainable", "use_safe_embedding_lookup"))):
    name = property(lambda self: self.categorical_column.name + "_shared_embedding")
    _var_scope_name = property(lambda self: self.shared_embedding_collection_name)
    width = property(lambda self: self.dimension)
    _parse_example_spec = property(lambda self: self.categorical_column._parse_example_spec)

    def dense(self, features, trainable=True, collections_=None):
        columns.check_dense(self)
        with name_scope(self.name):
            ids, weights = self.categorical_column.categories(features)
            return columns._looked_up(self._table(trainable, collections_), ids, weights, self.combiner, "%s_weights" % self.name,
                                      self.max_norm, self.use_safe_embedding_lookup)

    def _table(self, trainable, collections_):
        """Returns the variable, which is in the collection of this name once it exists."""
        graph, shape = get_default_graph(), [self.categorical_column._num_buckets, self.dimension]
        held = graph.get_collection(self.shared_embedding_collection_name)
        if held:
            if held[0].shape.as_list() != shape:
                raise ValueError("Shared embedding collection %s has a variable of shape %s, but %s is needed" % (
                    self.shared_embedding_collection_name, held[0].shape, shape))
            return held[0]
        table = get_variable("embedding_weights", shape, dtypes.float32, self.initializer, trainable=self.trainable and trainable,
                             collections=collections_)
        graph.add_to_collection(self.shared_embedding_collection_name, table)
        if self.ckpt_to_load_from is not None:
            from weft._core.train.checkpoint import init_from_checkpoint
            init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: table})
        return table


def _kind(column):
    """Returns the type of the categories below weighted columns and sequences."""
    while isinstance(column, (columns.WeightedCategoricalColumn, SequenceCategoricalColumn)):
        column = column.categorical_column
    return type(column)


def _check_same(categorical_columns):
    first = categorical_columns[0]
    for column in categorical_columns[1:]:
        if column._num_buckets != first._num_buckets:
            raise ValueError("To use shared_embedding_column, all categorical_columns must have the same number of buckets. Given column: "
                             "%s with buckets: %s does not match column: %s with buckets: %s" % (
                                 first, first._num_buckets, column, column._num_buckets))
        if _kind(column) is not _kind(first):
            raise ValueError("To use shared_embedding_column, all categorical_columns must have the same type, or be "
                             "weighted_categorical_column or sequence column of the same type. Given column: %s of type: %s does not "
                             "match given column: %s of type: %s" % (first, _kind(first), column, _kind(column)))


def shared_embedding_columns(categorical_columns, dimension, combiner="mean", initializer=None, shared_embedding_collection_name=None,
                             ckpt_to_load_from=None, tensor_name_in_ckpt=None, max_norm=None, trainable=True,
                             use_safe_embedding_lookup=True):
    """Returns columns, in the given order, whose embeddings come from one variable."""
    if dimension is None or dimension < 1:
        raise ValueError("Invalid dimension %s." % dimension)
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError("initializer must be callable if specified.")
    if initializer is None:
        initializer = init_ops.truncated_normal_initializer(0.0, 1 / np.sqrt(dimension))
    _check_same(categorical_columns)
    name = shared_embedding_collection_name
    if not name:
        name = "_".join(sorted(c.name for c in categorical_columns)) + "_shared_embedding"
    return [_SharedEmbeddingColumn(c, dimension, combiner, initializer, name, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
                                   use_safe_embedding_lookup) for c in categorical_columns]
