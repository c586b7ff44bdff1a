"""tf.feature_column: the numbers that TensorFlow makes of the same columns, and the same names of variables."""
import pathlib

import numpy as np
import pytest

import weft
from both import both, both_raise, oracle

X = np.random.RandomState(0).rand(4, 2).astype(np.float32)
WORDS = [["a", "b"], ["c", ""], ["", ""], ["zebra", "a"]]
VOCABULARY = str(pathlib.Path(__file__).parent / "vocabulary.txt")


def features(tf):
    return {"x": tf.constant(X), "y": tf.constant([1., 2., 3., 4.]), "words": tf.constant(WORDS),
            "ids": tf.constant([[1], [0], [3], [2]], tf.int64),
            "sparse": tf.SparseTensor([[0, 0], [0, 1], [3, 0]], ["b", "q", "c"], [4, 2])}


def columns(tf):
    c = tf.feature_column
    return dict(
        numeric=c.numeric_column("x", shape=[2]), normal=c.numeric_column("y", normalizer_fn=lambda v: (v - 1) / 2),
        buckets=c.bucketized_column(c.numeric_column("y"), boundaries=[1.5, 3.]),
        hashed=c.categorical_column_with_hash_bucket("words", hash_bucket_size=7),
        numbers=c.categorical_column_with_hash_bucket("ids", hash_bucket_size=5, dtype=tf.int64),
        same=c.categorical_column_with_identity("ids", 4), listed=c.categorical_column_with_vocabulary_list("sparse", ["a", "b", "c"]),
        oov=c.categorical_column_with_vocabulary_list("words", ["a", "b", "c"], num_oov_buckets=2),
        filed=c.categorical_column_with_vocabulary_file("words", VOCABULARY, num_oov_buckets=2),
        short=c.categorical_column_with_vocabulary_file("words", VOCABULARY, vocabulary_size=2, default_value=0),
        listed_ids=c.categorical_column_with_vocabulary_list("ids", [3, 1], default_value=1))


CATEGORIES = ["hashed", "numbers", "same", "listed", "oov", "filed", "short", "listed_ids"]


def names(tf):
    return [(v.op.name, v.shape.as_list()) for v in tf.global_variables()] + [v.op.name for v in tf.trainable_variables()]


@pytest.mark.parametrize("kinds", [["numeric"], ["normal", "numeric"], ["buckets"]])
def test_numbers_lie_side_by_side(kinds):
    both(lambda tf: [tf.feature_column.input_layer(features(tf), [columns(tf)[k] for k in kinds])], same_nodes=False)


@pytest.mark.parametrize("kind", CATEGORIES)
def test_indicators_count_categories(kind):
    both(lambda tf: [tf.feature_column.input_layer(features(tf), tf.feature_column.indicator_column(columns(tf)[kind]))],
         same_nodes=False)


@pytest.mark.parametrize("combiner", ["mean", "sum", "sqrtn"])
@pytest.mark.parametrize("kind", CATEGORIES)
def test_embeddings_of_a_row_are_combined(kind, combiner):
    def program(tf):
        column = tf.feature_column.embedding_column(columns(tf)[kind], dimension=3, combiner=combiner,
                                                    initializer=tf.random_uniform_initializer(seed=4))
        out = tf.feature_column.input_layer(features(tf), [column, columns(tf)["numeric"]])
        weights, = tf.trainable_variables()
        slope = tf.convert_to_tensor(tf.gradients(tf.reduce_sum(tf.square(out)), weights)[0])
        return [out, slope, names(tf)]
    both(program, same_nodes=False)


def test_a_linear_model_sums_its_columns():
    def program(tf):
        made = columns(tf)
        out = tf.feature_column.linear_model(features(tf), [made[k] for k in ("numeric", "buckets", "hashed", "listed")], units=2)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(out - 1)))
        with tf.control_dependencies([train]):
            values = [v.read_value() for v in tf.trainable_variables()]
        return [out] + values + [names(tf)]
    both(program, same_nodes=False)


def test_specifications_for_parsing_agree():
    found = []
    for tf in (weft, oracle):
        made = columns(tf)
        del made["oov"], made["numbers"]
        found.append({k: (type(v).__name__, v.dtype.name, getattr(v, "shape", None))
                      for k, v in tf.feature_column.make_parse_example_spec(made.values()).items()})
    assert found[0] == found[1]


@pytest.mark.parametrize("program", [
    lambda tf: tf.feature_column.numeric_column("x", dtype=tf.string),
    lambda tf: tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [2, 1]),
    lambda tf: tf.feature_column.categorical_column_with_hash_bucket("x", 0),
    lambda tf: tf.feature_column.input_layer({"z": tf.constant([1.])}, [tf.feature_column.numeric_column("x")]),
    lambda tf: tf.feature_column.input_layer(features(tf), [columns(tf)["hashed"]]),
    lambda tf: tf.feature_column.input_layer(features(tf), []),
])
def test_wrong_columns_are_told(program):
    both_raise(program)


def test_what_is_missing_says_so():
    with pytest.raises(AttributeError, match="tf.feature_column.no_such_column is not in Weft"):
        weft.feature_column.no_such_column  # noqa: B018


def test_examples_are_parsed_by_the_columns():
    def program(tf):
        made = [tf.feature_column.numeric_column("x", shape=[2]), tf.feature_column.indicator_column(columns(tf)["hashed"])]
        example = oracle.train.Example()
        example.features.feature["x"].float_list.value.extend([1., 2.])
        example.features.feature["words"].bytes_list.value.extend([b"a", b"zebra"])
        parsed = tf.parse_example(tf.constant([example.SerializeToString()]), tf.feature_column.make_parse_example_spec(made))
        return [tf.feature_column.input_layer(parsed, made)]
    both(program, same_nodes=False)
