"""tf.feature_column: columns of sequences and columns with one table, as tensors, variables and refusals."""
from machine import case


def words(tf):
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "b", "x"], [3, 2])


def numbers(tf):
    return tf.SparseTensor([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0]], [1., 2., 3., 4., 5.], [2, 4])


def ran(tf, *fetches):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return sess.run(list(fetches)), [v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()]


@case(nodes=False)
def sequences_of_words(tf):
    f = tf.feature_column
    column = f.sequence_categorical_column_with_vocabulary_list("w", ["a", "b", "c"], num_oov_buckets=1)
    embedding = f.embedding_column(column, 2, "sum", tf.ones_initializer())
    layer = tf.keras.experimental.SequenceFeatures([f.indicator_column(column), embedding])
    made, lengths = layer({"w": words(tf)})
    return ran(tf, made, lengths), [w.name for w in layer.weights], column.name, layer.name


@case(nodes=False)
def sequences_of_every_kind(tf):
    f = tf.feature_column
    with open("vocabulary", "w") as out:
        out.write("x\nb\n")
    ids = tf.SparseTensor([[0, 0], [1, 1]], tf.constant([2, 9], tf.int64), [2, 3])
    found = []
    for column, given in ((f.sequence_categorical_column_with_hash_bucket("w", 5), words(tf)),
                          (f.sequence_categorical_column_with_vocabulary_file("w", "vocabulary", 2), words(tf)),
                          (f.sequence_categorical_column_with_identity("w", 4, default_value=1), ids)):
        found += tf.keras.experimental.SequenceFeatures([f.indicator_column(column)])({"w": given})
    found += tf.keras.experimental.SequenceFeatures([f.sequence_numeric_column("x", shape=(2,), default_value=9.)])({"x": numbers(tf)})
    found += tf.keras.experimental.SequenceFeatures([f.sequence_numeric_column("x", normalizer_fn=lambda x: x * 2)])({"x": numbers(tf)})
    return ran(tf, *found)


@case(nodes=False)
def one_table_for_several_columns(tf):
    f = tf.feature_column
    a, b = f.categorical_column_with_identity("a", 3), f.categorical_column_with_identity("b", 3)
    features = {"a": tf.constant([[1], [2]]), "b": tf.SparseTensor([[0, 0], [0, 1]], tf.constant([1, 2], tf.int64), [2, 2])}
    shared = f.shared_embedding_columns([b, a], 2, initializer=tf.ones_initializer())
    first, again = f.input_layer(features, shared), f.input_layer(features, shared[:1])
    other = f.shared_embedding_columns([b, a], 2, combiner="sqrtn", initializer=tf.constant_initializer(3.), max_norm=0.5, trainable=False,
                                       shared_embedding_collection_name="mine")
    third = f.input_layer(features, other)
    return (ran(tf, first, again, third), [c.name for c in shared], sorted(f.make_parse_example_spec(shared)),
            [v.name for v in tf.get_collection("mine")])


def refused(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except (ValueError, TypeError) as e:
        return type(e).__name__
    return None


@case(nodes=False)
def refused_columns(tf):
    f = tf.feature_column
    a, z = f.categorical_column_with_identity("a", 3), f.categorical_column_with_identity("z", 4)
    sequence = f.embedding_column(f.sequence_categorical_column_with_identity("w", 4), 2)
    layer = tf.keras.experimental.SequenceFeatures
    return [refused(f.shared_embedding_columns, [a, z], 2), refused(f.shared_embedding_columns, [a], 0),
            refused(f.shared_embedding_columns, [a, f.categorical_column_with_hash_bucket("h", 3)], 2),
            refused(f.shared_embedding_columns, [a], 2, initializer=3), refused(f.shared_embedding_columns, [a], 2, ckpt_to_load_from="x"),
            refused(f.sequence_numeric_column, "x", shape=(0,)), refused(f.sequence_numeric_column, "x", dtype=tf.string),
            refused(f.sequence_numeric_column, "x", normalizer_fn=3), refused(f.input_layer, {"w": tf.constant([[1]])}, [sequence]),
            refused(lambda: layer([f.numeric_column("x")])({"x": numbers(tf)})),
            refused(lambda: layer([f.embedding_column(a, 2)])({"a": numbers(tf)}))]
