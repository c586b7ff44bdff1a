"""Embeddings and older feature columns of tf.contrib.layers."""
import weft as tf
from weft._core.contrib.columns import with_transformed
from weft._core.contrib.framework import model_variable


def embedding_lookup_unique(params, ids, partition_strategy="mod", name=None):
    """Works as tf.nn.embedding_lookup does, but looks up each id only once."""
    with tf.name_scope(name, "EmbeddingLookupUnique", [ids]):
        ids = tf.convert_to_tensor(ids)
        once, place = tf.unique(tf.reshape(ids, [-1]))
        rows = tf.gather(tf.nn.embedding_lookup(params, once, partition_strategy), place)
        made = tf.reshape(rows, tf.concat([tf.shape(ids), tf.shape(rows)[1:]], 0))
        made.set_shape(ids.shape.concatenate(rows.shape[1:]))
        return made


def embed_sequence(ids, vocab_size=None, embed_dim=None, unique=False, initializer=None, regularizer=None, trainable=True,
                   scope=None, reuse=None):
    """Returns the rows of a table that belong to ids; the table is the variable `embeddings`."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError("Must specify vocab size and embedding dimension when not reusing. Got vocab_size=%s and embed_dim=%s" % (
            vocab_size, embed_dim))
    with tf.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = None if reuse and vocab_size is None or embed_dim is None else [vocab_size, embed_dim]
        table = model_variable("embeddings", shape=shape, initializer=initializer, regularizer=regularizer, trainable=trainable)
        return embedding_lookup_unique(table, ids) if unique else tf.nn.embedding_lookup(table, ids)


def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner=None, default_id=None, name=None,
                                 partition_strategy="div", max_norm=None):
    """Works as tf.nn.safe_embedding_lookup_sparse does; the default combiner is the mean."""
    return tf.nn.safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights, combiner or "mean", default_id, name,
                                              partition_strategy, max_norm)


# ---- feature columns ----

def _renamed(getter, name, *args, **kwargs):
    """Makes variables of tf.feature_column under the names that contrib gave them."""
    return getter(name.replace("/input_layer/", "/").replace("/embedding_weights", "/weights"), *args, **kwargs)


def _collected(getter, collections):
    """Returns a custom getter that also puts variables into collections."""
    def add(inner, name, *args, **kwargs):
        made = getter(inner, name, *args, **kwargs)
        tf.add_to_collections(list(collections or ()), made)
        return made
    return add


def input_from_feature_columns(columns_to_tensors, feature_columns, weight_collections=None, trainable=True, scope=None,
                               cols_to_outs=None):
    """Returns the values of feature columns side by side, as the first layer of a network reads them."""
    with tf.variable_scope(scope, "input_from_feature_columns", custom_getter=_collected(_renamed, weight_collections)):
        outs = {} if cols_to_outs is None else cols_to_outs
        return tf.feature_column.input_layer(with_transformed(columns_to_tensors), list(feature_columns), trainable=trainable,
                                             cols_to_output_tensors=outs)


def create_feature_spec_for_parsing(feature_columns):
    """Returns the features that tf.parse_example needs for feature columns."""
    return tf.feature_column.make_parse_example_spec(list(feature_columns))


def parse_feature_columns_from_examples(serialized, feature_columns, name=None, example_names=None):
    """Returns {feature: tensor} of serialized Examples."""
    return tf.parse_example(serialized, create_feature_spec_for_parsing(feature_columns), name=name, example_names=example_names)


def sparse_column_with_vocabulary_file(column_name, vocabulary_file, num_oov_buckets=0, vocab_size=None, default_value=-1,
                                       combiner="sum", dtype=tf.string):
    """Returns a column of words that a file lists."""
    from weft._core.contrib.layers import _combined
    made = tf.feature_column.categorical_column_with_vocabulary_file(
        column_name, vocabulary_file, vocab_size, num_oov_buckets, None if num_oov_buckets else default_value, dtype)
    return _combined(made, combiner)


def weighted_sparse_column(sparse_id_column, weight_column_name, dtype=tf.float32):
    """Returns a column of ids with weights of another column."""
    from weft._core.contrib.layers import _combined
    made = tf.feature_column.weighted_categorical_column(sparse_id_column, weight_column_name, dtype)
    return _combined(made, getattr(sparse_id_column, "_combiner", "sum"))


def scattered_embedding_column(column_name, size, dimension, hash_key, combiner="mean", initializer=None):
    """Raises an error: an embedding whose numbers are hashed into one vector is not available."""
    raise NotImplementedError("tf.contrib.layers.scattered_embedding_column is not in Weft: use embedding_column with "
                              "sparse_column_with_hash_bucket(%r, ...)" % column_name)
