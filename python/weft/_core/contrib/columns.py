"""tf.contrib.layers' feature columns: linear models, transformed features, and encoders of bags of words."""
import weft as tf
from weft._core.contrib.framework import model_variable
from weft._core.contrib.more_layers import dense_to_sparse
from weft._core.framework import nest
from weft._core.nn import feature_column as columns


def _kept(column):
    """Returns the method whose result transform_features gives for a column, and the column that has it."""
    if isinstance(column, columns.NumericColumn):
        return column, "numbers"
    if isinstance(column, columns.BucketizedColumn):
        return column, "buckets"
    return getattr(column, "categorical_column", column), "categories"


def with_transformed(columns_to_tensors):
    """Returns the features of a layer; entries with a column as their key count as already transformed."""
    made = columns._Once({k: v for k, v in columns_to_tensors.items() if isinstance(k, str)})
    for column, value in columns_to_tensors.items():
        if not isinstance(column, str):
            owner, method = _kept(column)
            value = (value, None) if method == "categories" and not isinstance(value, tuple) else value
            made.made[(getattr(type(owner), method).__qualname__, owner)] = value
    return made


def check_feature_columns(feature_columns):
    """Raises an error if two columns have the same name."""
    seen = set()
    for column in feature_columns:
        if column.name in seen:
            raise ValueError("Duplicate feature column key found for column: %s. This usually means that the column is almost "
                             "identical to another column, and one must be discarded." % column.name)
        seen.add(column.name)


def transform_features(features, feature_columns):
    """Returns the features as transformed by columns, before they are looked up in weights.

    Args:
      features: {name: tensor}, and maybe {column: what was made of it before}.
      feature_columns: the columns.

    Returns:
      {column: numbers, indices of buckets, or a SparseTensor of ids}.
    """
    feature_columns = list(feature_columns)
    check_feature_columns(feature_columns)
    given, made = with_transformed(features), {}
    for column in sorted(set(feature_columns), key=lambda c: c.name):
        owner, method = _kept(column)
        found = getattr(owner, method)(given)
        made[column] = found[0] if method == "categories" and found[1] is None else found
    return made


def _lists(weight_collections):
    return [*(weight_collections or []), tf.GraphKeys.GLOBAL_VARIABLES]


def _predictions(sums, num_outputs, weight_collections, trainable):
    """Returns the sums of columns and a bias."""
    bias = model_variable("bias_weight", [num_outputs], initializer=tf.zeros_initializer(), trainable=trainable,
                          collections=_lists(weight_collections))
    return tf.nn.bias_add(tf.add_n(sums), bias), bias


def weighted_sum_from_feature_columns(columns_to_tensors, feature_columns, num_outputs, weight_collections=None, trainable=True,
                                      scope=None):
    """Returns the outputs of a linear model.

    Args:
      columns_to_tensors: {name of a feature, or column that was transformed: tensor}.
      feature_columns: the columns.
      num_outputs: how many outputs there are.
      weight_collections: more collections for the variables.
      trainable: whether the variables are trained.
      scope: the scope of the variables.

    Returns:
      The outputs, {column: [its variable]}, and the variable of the bias.
    """
    feature_columns = list(feature_columns)
    check_feature_columns(feature_columns)
    with tf.variable_scope(scope, "weighted_sum_from_feature_columns", nest.flatten(list(columns_to_tensors.values()))):
        features, sums, variables = with_transformed(columns_to_tensors), [], {}
        for column in sorted(set(feature_columns), key=lambda c: c.name):
            if isinstance(column, (columns.EmbeddingColumn, columns.IndicatorColumn)):
                raise ValueError("Error creating weighted sum for column: %s. %s is not supported for linear predictions." % (
                    column.name, type(column).__name__))
            dense = not isinstance(column, columns._CategoricalColumn)
            with tf.variable_scope(None, column.name):
                weights = model_variable("weight" if dense else "weights", [columns._weights_of(column), num_outputs],
                                         initializer=tf.zeros_initializer(), trainable=trainable,
                                         collections=_lists(weight_collections))
                sums.append(columns._weighted_sum(column, features, weights, "sum"))
            variables[column] = [weights]
        predictions, bias = _predictions(sums, num_outputs, weight_collections, trainable)
        return predictions, variables, bias


def joint_weighted_sum_from_feature_columns(columns_to_tensors, feature_columns, num_outputs, weight_collections=None,
                                            trainable=True, scope=None):
    """Returns the outputs of a linear model whose weights are one variable; all columns must be sparse ones without
    weights.

    The arguments are those of weighted_sum_from_feature_columns.

    Returns:
      The outputs, a list with the variable of the weights, and the variable of the bias.
    """
    feature_columns = list(feature_columns)
    check_feature_columns(feature_columns)
    with tf.variable_scope(scope, "joint_weighted_sum_from_feature_columns", nest.flatten(list(columns_to_tensors.values()))):
        features, found, size = with_transformed(columns_to_tensors), [], 0
        for column in sorted(set(feature_columns), key=lambda c: c.name):
            if not isinstance(column, columns._CategoricalColumn) or isinstance(column, columns.WeightedCategoricalColumn):
                raise ValueError("Error creating weighted sum for column: %s. joint_weighted_sum_from_feature_columns supports only "
                                 "sparse columns without weights" % column.name)
            found.append((column, size, column.categories(features)[0]))
            size += column._num_buckets
        weights = model_variable("weights", [size, num_outputs], initializer=tf.zeros_initializer(), trainable=trainable,
                                 collections=_lists(weight_collections))
        sums = []
        for column, first, ids in found:
            ids = tf.sparse_reshape(ids, [tf.shape(ids)[0], -1])
            values = tf.cast(ids.values, tf.int64)
            place = tf.where(values < 0, values, values + first)  # Values below 0 mean no category.
            sums.append(columns._looked_up(weights, tf.SparseTensor(ids.indices, place, ids.dense_shape), None,
                                           getattr(column, "_combiner", "sum"), "weighted_sum"))
        predictions, bias = _predictions(sums, num_outputs, weight_collections, trainable)
        return predictions, [weights], bias


# ---- bags of words, labels ----

def bow_encoder(ids, vocab_size, embed_dim, sparse_lookup=True, initializer=None, regularizer=None, trainable=True, scope=None,
                reuse=None):
    """Returns the mean of the embeddings of the ids of each row.

    Args:
      ids: a matrix of ids, dense or sparse.
      vocab_size: how many ids there are.
      embed_dim: the size of an embedding.
      sparse_lookup: whether ids of 0 in a dense matrix are left out; else they have an embedding as others.
      initializer, regularizer, trainable: of the variable `embeddings`.
      scope, reuse: as tf.variable_scope takes them.
    """
    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size %s and embedding dimension %s" % (vocab_size, embed_dim))
    sparse = isinstance(ids, tf.SparseTensor)
    with tf.variable_scope(scope, "BowEncoder", [ids.values if sparse else ids], reuse=reuse):
        table = model_variable("embeddings", shape=[vocab_size, embed_dim], initializer=initializer, regularizer=regularizer,
                               trainable=trainable)
        if sparse_lookup:
            ids = ids if sparse else dense_to_sparse(tf.convert_to_tensor(ids))
            return tf.contrib.layers.safe_embedding_lookup_sparse([table], ids, combiner="mean", default_id=0)
        if sparse:
            raise TypeError("ids are expected to be dense Tensor, got: %s" % ids)
        return tf.reduce_mean(tf.nn.embedding_lookup(table, ids), axis=1)


def dense_to_sparse_tensor(dense_tensor, ignore_value=None):
    """Returns the values of a tensor other than ignore_value as a SparseTensor; by default, "" and 0 are ignored."""
    with tf.name_scope("DenseToSparseTensor"):
        x = tf.convert_to_tensor(dense_tensor)
        if ignore_value is None:
            ignore_value = "" if x.dtype.base_dtype == tf.string else 0
        at = tf.where(tf.not_equal(x, tf.cast(ignore_value, x.dtype.base_dtype)))
        return tf.SparseTensor(at, tf.gather_nd(x, at), tf.shape(x, out_type=tf.int64))


def indicators_to_sparse_ids(indicators, ignore_value=None, dtype=tf.int64):
    """Returns the indices of the last axis that are set, as a SparseTensor of ids.

    Args:
      indicators: a tensor of at least one axis; what is not ignore_value is set.
      ignore_value: what is not set: "" or 0 if None.
      dtype: the type of the ids.
    """
    with tf.name_scope(None, "indicators_to_sparse_ids", [indicators]):
        x = tf.convert_to_tensor(indicators)
        found = dense_to_sparse_tensor(x, ignore_value).indices
        set_ = tf.scatter_nd(found, tf.ones([tf.shape(found)[0]], tf.int64), tf.shape(x, out_type=tf.int64))
        place = tf.gather_nd(tf.cumsum(set_, axis=-1, exclusive=True), found)
        most = tf.reduce_max(tf.concat([tf.reshape(tf.reduce_sum(set_, -1), [-1]), tf.zeros([1], tf.int64)], 0))
        at = tf.concat([found[:, :-1], tf.expand_dims(place, 1)], 1)
        shape = tf.concat([tf.shape(x, out_type=tf.int64)[:-1], [most]], 0)
        return tf.SparseTensor(at, tf.cast(found[:, -1], dtype), shape)
