"""tf.feature_column: descriptions of how raw features become numbers for a layer.

input_layer and linear_model convert features to tensors as the columns describe. Categories are a SparseTensor of
numbers with a row for each example. The embeddings of a row are combined, so that a row without categories is zero.
"""
import collections
import functools

import numpy as np

from weft._core.files import gfile
from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import GraphKeys, get_default_graph, name_scope
from weft._core.nn import nn
from weft._core.ops import array_ops, init_ops, io_ops, lookup, math_ops
from weft._core.ops.sparse import SparseTensor, sparse_reshape, sparse_slice, sparse_to_dense
from weft._core.ops.sparse_more import sparse_merge
from weft._core.ops.variable_scope import get_variable, variable_scope


class _Column:
    """The base of all columns."""

    @property
    def name(self):
        raise NotImplementedError

    _var_scope_name = property(lambda self: self.name)

    @property
    def _parse_example_spec(self):
        raise NotImplementedError

    parse_example_spec = property(lambda self: self._parse_example_spec)

    @property
    def parents(self):
        """What the column is made of: columns, and keys of features."""
        below = [getattr(self, f) for f in ("categorical_column", "source_column") if f in self._fields]
        return below + [getattr(self, f) for f in ("key", "weight_feature_key") if f in self._fields]


class _DenseColumn(_Column):
    """The base of columns with `width` numbers for each example."""

    variable_shape = property(lambda self: self._variable_shape)

    @property
    def _variable_shape(self):
        return tensor_shape.TensorShape([self.width])

    def dense(self, features, trainable=True, collections_=None):
        raise NotImplementedError


class _CategoricalColumn(_Column):
    """The base of columns of categories, which are numbers below `_num_buckets`."""

    num_buckets = property(lambda self: self._num_buckets)

    def categories(self, features):
        """Returns the categories as a SparseTensor of int64 [batch, most categories of an example], and weights or
        None.
        """
        raise NotImplementedError


class _Once(dict):
    """The features of one layer with the results of its columns, so that a feature that two columns use is converted
    once.
    """

    def __init__(self, features):
        super().__init__(features)
        self.made = {}


def _once(method):
    """Decorates a method of a column, or a function of a key, that takes features, so that it runs once for each layer.
    """
    @functools.wraps(method)
    def call(column, features):
        if not isinstance(features, _Once):
            return method(column, features)
        key = (method.__qualname__, column)
        if key not in features.made:
            features.made[key] = method(column, features)
        return features.made[key]
    return call


def _feature(features, key):
    return _found(key, features)


@_once
def _found(key, features):
    try:
        found = features[key]
    except KeyError:
        raise ValueError("Feature %s is not in features dictionary." % key) from None
    if isinstance(found, SparseTensor):
        return found
    found = convert_to_tensor(found)
    if found.shape.ndims == 0:
        raise ValueError("Feature (key: %s) cannot have rank 0. Given: %s" % (key, found))
    return array_ops.expand_dims(found, -1) if found.shape.ndims == 1 else found


def _key(key):
    if not isinstance(key, str):
        raise ValueError("key must be a string. Got: type %s. Given key: %s." % (type(key), key))
    return key


def _shape(shape, key):
    shape = tuple(int(d) for d in (shape if isinstance(shape, (list, tuple, tensor_shape.TensorShape)) else [shape]))
    if any(d < 1 for d in shape):
        raise ValueError("shape dimensions must be greater than 0. shape: %s, key: %s" % (shape, key))
    return shape


# ---- numbers ----

class NumericColumn(_DenseColumn, collections.namedtuple("NumericColumn", (
        "key", "shape", "default_value", "dtype", "normalizer_fn"))):
    name = property(lambda self: self.key)
    width = property(lambda self: int(np.prod(self.shape)))
    _variable_shape = property(lambda self: tensor_shape.TensorShape(self.shape))

    @property
    def _parse_example_spec(self):
        return {self.key: io_ops.FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @_once
    def numbers(self, features):
        found = _feature(features, self.key)
        if isinstance(found, SparseTensor):
            raise ValueError("The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not supported. "
                             "key: %s" % self.key)
        if self.normalizer_fn is not None:
            found = self.normalizer_fn(found)
        return math_ops.cast(found, dtypes.float32)

    def dense(self, features, trainable=True, collections_=None):
        return self.numbers(features)


def numeric_column(key, shape=(1,), default_value=None, dtype=dtypes.float32, normalizer_fn=None):
    dtype = as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError("dtype must be convertible to float. dtype: %s, key: %s" % (dtype, key))
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError("normalizer_fn must be a callable. Given: %s" % normalizer_fn)
    shape = _shape(shape, key)
    if default_value is not None:
        if np.ndim(default_value) and np.shape(default_value) != shape:
            raise ValueError("The shape of default_value must be equal to given shape. default_value: %s, shape: %s, key: %s" % (
                default_value, shape, key))
        default_value = tuple(np.broadcast_to(np.asarray(default_value), shape).reshape(-1).tolist())
    return NumericColumn(_key(key), shape, default_value, dtype, normalizer_fn)


class BucketizedColumn(_DenseColumn, _CategoricalColumn, collections.namedtuple("BucketizedColumn", (
        "source_column", "boundaries"))):
    name = property(lambda self: self.source_column.name + "_bucketized")
    width = property(lambda self: (len(self.boundaries) + 1) * self.source_column.width)
    _num_buckets = property(lambda self: self.width)
    _variable_shape = property(lambda self: tensor_shape.TensorShape([*self.source_column.shape, len(self.boundaries) + 1]))
    _parse_example_spec = property(lambda self: self.source_column._parse_example_spec)

    @_once
    def buckets(self, features):
        return op("Bucketize", input=self.source_column.numbers(features), boundaries=list(self.boundaries))

    def dense(self, features, trainable=True, collections_=None):
        return array_ops.one_hot(math_ops.cast(self.buckets(features), dtypes.int64), len(self.boundaries) + 1, 1.0, 0.0)

    @_once
    def categories(self, features):
        found, each = self.buckets(features), self.source_column.width
        rows = array_ops.shape(found)[0]
        example = array_ops.reshape(array_ops.tile(array_ops.expand_dims(math_ops.range(rows), 1), [1, each]), [-1])
        number = array_ops.tile(math_ops.range(each), [rows])
        values = array_ops.reshape(found, [-1]) + (len(self.boundaries) + 1) * number
        at = math_ops.cast(array_ops.transpose(array_ops.stack([example, number])), dtypes.int64)
        return SparseTensor(at, values, math_ops.cast(array_ops.stack([rows, each]), dtypes.int64)), None


def bucketized_column(source_column, boundaries):
    if not isinstance(source_column, NumericColumn):
        raise ValueError("source_column must be a column generated with numeric_column(). Given: %s" % (source_column,))
    if len(source_column.shape) > 1:
        raise ValueError("source_column must be one-dimensional column. Given: %s" % (source_column,))
    if not isinstance(boundaries, (list, tuple)) or not boundaries or any(a >= b for a, b in zip(boundaries, boundaries[1:])):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))


# ---- categories ----

def _sparse(found, key):
    """Returns a dense tensor of categories as a sparse one; "", -1 and, for weights, 0.0 mean no category."""
    if isinstance(found, SparseTensor):
        return found
    with name_scope("to_sparse_input"):
        kind = found.dtype.base_dtype
        none = math_ops.cast("" if kind == dtypes.string else -1 if kind.is_integer else 0.0, kind, name="ignore_value")
        at = array_ops.where(math_ops.not_equal(found, none), name="indices")
        return SparseTensor(at, array_ops.gather_nd(found, at, name="values"),
                            array_ops.shape(found, out_type=dtypes.int64, name="dense_shape"))


class _KeyedCategories(_CategoricalColumn):
    """The base of columns whose categories come from one feature."""

    name = property(lambda self: self.key)

    @property
    def _parse_example_spec(self):
        return {self.key: io_ops.VarLenFeature(self.dtype)}

    @_once
    def categories(self, features):
        found = _sparse(_feature(features, self.key), self.key)
        if found.values.dtype.base_dtype == dtypes.string and self.dtype != dtypes.string or (
                found.values.dtype.base_dtype != dtypes.string and self.dtype == dtypes.string):
            raise ValueError("Column dtype and SparseTensors dtype must be compatible. key: %s, column dtype: %s, tensor dtype: %s" % (
                self.key, self.dtype.name, found.values.dtype.name))
        return SparseTensor(found.indices, self.numbers(found.values), found.dense_shape), None


class HashedCategoricalColumn(_KeyedCategories, collections.namedtuple("HashedCategoricalColumn", (
        "key", "hash_bucket_size", "dtype"))):
    _num_buckets = property(lambda self: self.hash_bucket_size)

    def numbers(self, values):
        if self.dtype != dtypes.string:
            values = op("AsString", input=values)
        return op("StringToHashBucketFast", "lookup", input=values, num_buckets=self.hash_bucket_size)


def categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string):
    if hash_bucket_size is None or hash_bucket_size < 1:
        raise ValueError("hash_bucket_size must be set and at least 1. hash_bucket_size: %s, key: %s" % (hash_bucket_size, key))
    dtype = as_dtype(dtype)
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError("dtype must be string or integer. dtype: %s, column_name: %s" % (dtype, key))
    return HashedCategoricalColumn(_key(key), hash_bucket_size, dtype)


class IdentityCategoricalColumn(_KeyedCategories, collections.namedtuple("IdentityCategoricalColumn", (
        "key", "number_buckets", "default_value"))):
    dtype = dtypes.int64
    _num_buckets = property(lambda self: self.number_buckets)

    def numbers(self, values):
        values = math_ops.cast(values, dtypes.int64)
        if self.default_value is None:
            return values
        wrong = math_ops.logical_or(math_ops.less(values, 0), math_ops.greater_equal(values, self.number_buckets))
        return array_ops.where(wrong, array_ops.ones_like(values) * self.default_value, values)


def categorical_column_with_identity(key, num_buckets, default_value=None):
    if num_buckets < 1:
        raise ValueError("num_buckets %d < 1, column_name %s" % (num_buckets, key))
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError("default_value %d not in range [0, %d), column_name %s" % (default_value, num_buckets, key))
    return IdentityCategoricalColumn(_key(key), num_buckets, default_value)


class VocabularyListCategoricalColumn(_KeyedCategories, collections.namedtuple("VocabularyListCategoricalColumn", (
        "key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets"))):
    _num_buckets = property(lambda self: len(self.vocabulary_list) + self.num_oov_buckets)

    def numbers(self, values):
        if self.dtype != dtypes.string:
            values = math_ops.cast(values, self.dtype)
        return lookup.index_table_from_tensor(tuple(self.vocabulary_list), self.num_oov_buckets, self.default_value, dtype=self.dtype,
                                              name="%s_lookup" % self.key).lookup(values)


class VocabularyFileCategoricalColumn(_KeyedCategories, collections.namedtuple("VocabularyFileCategoricalColumn", (
        "key", "vocabulary_file", "vocabulary_size", "num_oov_buckets", "dtype", "default_value"))):
    _num_buckets = property(lambda self: self.vocabulary_size + self.num_oov_buckets)

    def numbers(self, values):
        if self.dtype != dtypes.string:
            values = math_ops.cast(values, dtypes.int64)
        return lookup.index_table_from_file(self.vocabulary_file, self.num_oov_buckets, self.vocabulary_size, self.default_value,
                                            key_dtype=self.dtype, name="%s_lookup" % self.key).lookup(values)


def categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0, default_value=None,
                                            dtype=dtypes.string):
    if not vocabulary_file:
        raise ValueError("Missing vocabulary_file in %s." % key)
    if vocabulary_size is None:
        if not gfile.Exists(vocabulary_file):
            raise ValueError("vocabulary_file in %s does not exist." % key)
        with gfile.GFile(vocabulary_file, mode="rb") as f:
            vocabulary_size = sum(1 for _ in f)
    if vocabulary_size < 1:
        raise ValueError("Invalid vocabulary_size in %s." % key)
    if num_oov_buckets and default_value is not None:
        raise ValueError("Can't specify both num_oov_buckets and default_value in %s." % key)
    if num_oov_buckets < 0:
        raise ValueError("Invalid num_oov_buckets %d in %s." % (num_oov_buckets, key))
    default_value = -1 if default_value is None else default_value
    return VocabularyFileCategoricalColumn(_key(key), vocabulary_file, vocabulary_size, num_oov_buckets, as_dtype(dtype), default_value)


def categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0):
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError("vocabulary_list %s must be non-empty, column_name: %s" % (vocabulary_list, key))
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError("Duplicate keys in vocabulary_list %s, column_name: %s" % (vocabulary_list, key))
    if num_oov_buckets and default_value != -1:
        raise ValueError("Can't specify both num_oov_buckets and default_value in %s." % key)
    given = np.array(vocabulary_list).dtype
    found = dtypes.string if given.kind in "SUO" else dtypes.int64
    dtype = found if dtype is None else as_dtype(dtype)
    if (dtype == dtypes.string) != (found == dtypes.string):
        raise ValueError("dtype %s and vocabulary dtype %s do not match, column_name: %s" % (dtype.name, given, key))
    return VocabularyListCategoricalColumn(_key(key), tuple(vocabulary_list), dtype, default_value, num_oov_buckets)


class WeightedCategoricalColumn(_CategoricalColumn, collections.namedtuple("WeightedCategoricalColumn", (
        "categorical_column", "weight_feature_key", "dtype"))):
    name = property(lambda self: "%s_weighted_by_%s" % (self.categorical_column.name, self.weight_feature_key))
    _num_buckets = property(lambda self: self.categorical_column._num_buckets)

    @property
    def _parse_example_spec(self):
        return {**self.categorical_column._parse_example_spec, self.weight_feature_key: io_ops.VarLenFeature(self.dtype)}

    @_once
    def categories(self, features):
        weights = _feature(features, self.weight_feature_key)
        if weights.dtype.base_dtype != self.dtype.base_dtype:
            raise ValueError("Bad dtype, expected %s, but got %s." % (self.dtype, weights.dtype))
        weights = _sparse(weights, self.weight_feature_key)
        if weights.dtype.base_dtype != dtypes.float32:
            weights = SparseTensor(weights.indices, math_ops.cast(weights.values, dtypes.float32), weights.dense_shape)
        return self.categorical_column.categories(features)[0], weights


def weighted_categorical_column(categorical_column, weight_feature_key, dtype=dtypes.float32):
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, as_dtype(dtype))


class CrossedColumn(_CategoricalColumn, collections.namedtuple("CrossedColumn", ("keys", "hash_bucket_size", "hash_key"))):
    _num_buckets = property(lambda self: self.hash_bucket_size)
    parents = property(lambda self: list(self.keys))

    def _leaves(self):
        """Yields the keys and columns that are crossed, with crossed columns replaced by their own."""
        for key in self.keys:
            if isinstance(key, CrossedColumn):
                yield from key._leaves()
            else:
                yield key

    @property
    def name(self):
        return "_X_".join(sorted(k if isinstance(k, str) else k.name for k in self._leaves()))

    @property
    def _parse_example_spec(self):
        spec = {}
        for key in self.keys:
            spec.update({key: io_ops.VarLenFeature(dtypes.string)} if isinstance(key, str) else key._parse_example_spec)
        return spec

    @_once
    def categories(self, features):
        from weft._core.ops import sparse_cross
        columns = []
        for key in self._leaves():
            if isinstance(key, str):
                columns.append(_feature(features, key))
                continue
            ids, weights = key.categories(features)
            if weights is not None:
                raise ValueError("crossed_column does not support weight_tensor, but the given column populates weight_tensor. "
                                 "Given column: %s" % key.name)
            columns.append(ids)
        return sparse_cross.sparse_cross_hashed(columns, self.hash_bucket_size, self.hash_key), None


def crossed_column(keys, hash_bucket_size, hash_key=None):
    """Returns all combinations of features, hashed to numbers.

    Args:
      keys: at least two: names of features, categorical columns except for hashed ones, or bucketized columns.
      hash_bucket_size: how many numbers there are.
      hash_key: a key for the hash.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError("hash_bucket_size must be > 1. hash_bucket_size: %s" % hash_bucket_size)
    if not keys or len(keys) < 2:
        raise ValueError("keys must be a list with length > 1. Given: %s" % (keys,))
    for key in keys:
        if not isinstance(key, (str, _CategoricalColumn, BucketizedColumn)):
            raise ValueError("Unsupported key type. All keys must be either string, or categorical column except "
                             "HashedCategoricalColumn. Given: %s" % (key,))
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError("categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will increase "
                             "probability of collision. Instead, use the feature name as a string. Given: %s" % (key,))
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


def _looked_up(table, ids, weights, combiner, name=None, max_norm=None, safe=True):
    """Returns rows of a table by category. If safe is true, invalid categories (below 0) are ignored."""
    look_up = nn.safe_embedding_lookup_sparse if safe else nn.embedding_lookup_sparse
    return look_up(table, ids, weights, combiner=combiner, name=name, max_norm=max_norm)


def check_dense(column):
    """Raises an error for a sequence column where a column with one row per example is needed."""
    if hasattr(column.categorical_column, "steps"):
        raise ValueError("In the column %s: categorical_column must not be a sequence column. Suggested fix A: use a non-sequence "
                         "categorical_column_with_*. Suggested fix B: If you wish to create sequence input, use SequenceFeatures. "
                         "Given: %s" % (column.name, column.categorical_column))


class EmbeddingColumn(_DenseColumn, collections.namedtuple("EmbeddingColumn", (
        "categorical_column", "dimension", "combiner", "initializer", "ckpt_to_load_from", "tensor_name_in_ckpt", "max_norm",
        "trainable", "use_safe_embedding_lookup"))):
    name = property(lambda self: self.categorical_column.name + "_embedding")
    width = property(lambda self: self.dimension)
    _parse_example_spec = property(lambda self: self.categorical_column._parse_example_spec)

    def dense(self, features, trainable=True, collections_=None):
        check_dense(self)
        ids, weights = self.categorical_column.categories(features)
        table = get_variable("embedding_weights", [self.categorical_column._num_buckets, self.dimension], dtypes.float32,
                             self.initializer, trainable=self.trainable and trainable, collections=collections_)
        if self.ckpt_to_load_from is not None:
            from weft._core.train.warm_start import init_from_checkpoint
            init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: table})
        return _looked_up(table, ids, weights, self.combiner, "%s_weights" % self.name, self.max_norm, self.use_safe_embedding_lookup)


def embedding_column(categorical_column, dimension, combiner="mean", initializer=None, ckpt_to_load_from=None,
                     tensor_name_in_ckpt=None, max_norm=None, trainable=True, use_safe_embedding_lookup=True):
    if dimension is None or dimension < 1:
        raise ValueError("Invalid dimension %s." % dimension)
    if not isinstance(categorical_column, _CategoricalColumn):
        raise ValueError("embedding_column takes a categorical column, given: %s" % (categorical_column,))
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError("initializer must be callable if specified. Embedding of column_name: %s" % categorical_column.name)
    if initializer is None:
        initializer = init_ops.truncated_normal_initializer(0.0, 1 / np.sqrt(dimension))
    return EmbeddingColumn(categorical_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm,
                            trainable, use_safe_embedding_lookup)


class IndicatorColumn(_DenseColumn, collections.namedtuple("IndicatorColumn", ("categorical_column",))):
    name = property(lambda self: self.categorical_column.name + "_indicator")
    width = property(lambda self: self.categorical_column._num_buckets)
    _variable_shape = property(lambda self: tensor_shape.TensorShape([1, self.width]))
    _parse_example_spec = property(lambda self: self.categorical_column._parse_example_spec)

    def dense(self, features, trainable=True, collections_=None):
        check_dense(self)
        ids, weights = self.categorical_column.categories(features)
        if weights is not None:
            merged = sparse_merge(ids, weights, self.width)
            cut = sparse_slice(merged, [0] * 2, merged.dense_shape)  # Categories outside of the vocabulary are removed.
            return array_ops.scatter_nd(cut.indices, cut.values, cut.dense_shape)
        wide = sparse_to_dense(ids.indices, ids.dense_shape, ids.values, -1)
        return math_ops.reduce_sum(array_ops.one_hot(wide, self.width, 1.0, 0.0), -2)


def indicator_column(categorical_column):
    if not isinstance(categorical_column, _CategoricalColumn):
        raise ValueError("Unsupported input type. Input must be a CategoricalColumn. Given: %s" % (categorical_column,))
    return IndicatorColumn(categorical_column)


# ---- layers ----

def _checked(feature_columns, kind):
    columns = [feature_columns] if isinstance(feature_columns, _Column) else list(feature_columns)
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    for column in columns:
        if not isinstance(column, kind):
            raise ValueError("Items of feature_columns must be a %s.%s Given (type %s): %s." % (
                kind[0].__name__ if isinstance(kind, tuple) else kind.__name__,
                " You can wrap a categorical column with an embedding_column or indicator_column." if kind is _DenseColumn else "",
                type(column), column))
    if len({c.name for c in columns}) != len(columns):
        raise ValueError("Duplicate feature column name found for columns: %s" % [c.name for c in columns])
    return sorted(columns, key=lambda c: c.name)


def _collections(weight_collections):
    made = list(weight_collections or [])
    return made + [k for k in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES) if k not in made]


def input_layer(features, feature_columns, weight_collections=None, trainable=True, cols_to_vars=None,
                cols_to_output_tensors=None):
    """Returns the columns concatenated in the order of their names."""
    columns, parts = _checked(feature_columns, _DenseColumn), []
    features = features if isinstance(features, _Once) else _Once(features)
    with variable_scope(None, "input_layer", list(features.values())):
        for column in columns:
            with variable_scope(None, column._var_scope_name):
                before = len(get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES))
                out = column.dense(features, trainable, _collections(weight_collections))
                out = array_ops.reshape(out, [array_ops.shape(out)[0], column.width])
            parts.append(out)
            if cols_to_vars is not None:
                cols_to_vars[column] = get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES)[before:]
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = out
        return array_ops.concat(parts, 1)


def linear_model(features, feature_columns, units=1, sparse_combiner="sum", weight_collections=None, trainable=True,
                 cols_to_vars=None):
    """Returns the weighted sum of the columns plus a bias."""
    columns = _checked(feature_columns, (_DenseColumn, _CategoricalColumn))
    names, model = [_layer_name(c._var_scope_name) for c in columns], _layer_name("linear_model")
    with variable_scope(model, auxiliary_name_scope=False), name_scope(model), name_scope(model):
        return _summed(features, columns, names, units, sparse_combiner, _collections(weight_collections), trainable, cols_to_vars)


def linear_logits(features, feature_columns, units, sparse_combiner, cols_to_vars):
    """Returns what linear_model() does, as the linear estimators of TensorFlow name it: they have a Keras model."""
    columns = _checked(feature_columns, (_DenseColumn, _CategoricalColumn))
    names = [c._var_scope_name for c in columns]
    with variable_scope("linear_model"), name_scope("linear_model"), name_scope("linear_model"):
        return _summed(features, columns, names, units, sparse_combiner, None, True, cols_to_vars)


def _summed(features, columns, names, units, sparse_combiner, lists, trainable, cols_to_vars):
    """Returns the weighted sum, in the scope of its model; `names` are the scopes of the columns."""
    features, sums = _Once(features), []
    for column, name in zip(columns, names):
        with variable_scope(name, auxiliary_name_scope=False), name_scope(name):
            weights = get_variable("weights", [_weights_of(column), units], dtypes.float32, init_ops.zeros_initializer(),
                                   trainable=trainable, collections=lists)
            sums.append(_weighted_sum(column, features, weights, sparse_combiner))
        if cols_to_vars is not None:
            cols_to_vars[column] = [weights]
    total = math_ops.add_n(sums, name="weighted_sum_no_bias")
    bias = get_variable("bias_weights", [units], dtypes.float32, init_ops.zeros_initializer(), trainable=trainable, collections=lists)
    if cols_to_vars is not None:
        cols_to_vars["bias"] = [bias]
    return nn.bias_add(total, bias, name="weighted_sum")


def _layer_name(name):
    """Returns the name of a new layer in the current scope; a name that is in use gets a suffix."""
    with variable_scope(None, name) as scope:
        return scope.name.rpartition("/")[2]


def _weights_of(column):
    return column._num_buckets if isinstance(column, _CategoricalColumn) else column.width


def _weighted_sum(column, features, weights, sparse_combiner):
    if not isinstance(column, _CategoricalColumn):
        out = column.dense(features)
        return math_ops.matmul(array_ops.reshape(out, [array_ops.shape(out)[0], column.width]), weights, name="weighted_sum")
    ids, by = (None if x is None else sparse_reshape(x, [array_ops.shape(x)[0], -1]) for x in column.categories(features))
    combiner = getattr(column, "_combiner", sparse_combiner)  # Columns of contrib have their own combiner.
    return _looked_up(weights, ids, by, combiner, "weighted_sum")


def make_parse_example_spec(feature_columns):
    """Returns the features dict that tf.parse_example needs to read these columns."""
    made = {}
    for column in feature_columns:
        if not isinstance(column, _Column):
            raise ValueError("All feature_columns must be _FeatureColumn instances. Given: %s" % (column,))
        for key, value in column._parse_example_spec.items():
            if key in made and made[key] != value:
                raise ValueError("feature_columns contain different parse_spec for key %s. Given %s and %s" % (key, value, made[key]))
            made[key] = value
    return made
