"""tf.math, tf.debugging and tf.linalg under their later names."""
import numpy as np

from machine import case

X = np.array([[0.5, 1.5, 2.25], [3.0, 0.25, 1.0]], np.float32)


@case
def hyperbolic(tf):
    return [tf.acosh(X + 1), tf.asinh(X), tf.atanh(X / 4), tf.math.acosh(X + 1), tf.math.asinh(X), tf.math.atanh(X / 4),
            tf.angle(tf.complex(X, X)), tf.math.angle(X)]


@case
def special(tf):
    return [tf.lbeta(X), tf.math.lbeta(X), tf.math.erfinv(X / 4), tf.math.erfcinv(X / 4), tf.math.ndtri(X / 4),
            tf.math.nextafter(X, 0.0),
            tf.math.xlogy(X, X), tf.math.xdivy(X, X), tf.math.xlog1py(X, X), tf.math.polyval([X, X, X], 2.0),
            tf.math.cumulative_logsumexp(X, axis=1, exclusive=True), tf.math.cumulative_logsumexp(X),
            tf.math.reduce_euclidean_norm(X, 1), tf.math.reduce_euclidean_norm(X, axis=0, keepdims=True, name="e")]


@case(nodes=False)
def safe_quotients(tf):
    return [tf.math.divide_no_nan(X, [0.0, 1.0, 2.0]), tf.math.multiply_no_nan(X, 0.0),
            tf.math.reciprocal_no_nan([0.0, 2.0]),
            tf.log_sigmoid(X), tf.math.log_sigmoid(X), tf.math.log_softmax(X), tf.math.softmax(X), tf.math.softplus(X),
            tf.math.softsign(X),
            tf.math.l2_normalize(X, 1), tf.math.zero_fraction([0.0, 1.0]), tf.math.top_k(X, 2).indices,
            tf.math.in_top_k(X, [0, 1], 1)]


@case(nodes=False)
def segments(tf):
    ids = [1, 0]
    return [tf.unsorted_segment_mean(X, ids, 3), tf.unsorted_segment_min(X, ids, 2), tf.unsorted_segment_prod(X, ids,
                                                                                                              2),
            tf.unsorted_segment_sqrt_n(X, ids, 2), tf.math.unsorted_segment_mean(X, ids, 2, name="m"),
            tf.math.unsorted_segment_min(X, ids, 2),
            tf.math.unsorted_segment_prod(X, ids, 2), tf.math.unsorted_segment_sqrt_n(X, ids, 2),
            tf.sparse_segment_sqrt_n(X, [0, 1], [0, 0])]


@case(nodes=False)
def ordered(tf):
    return [tf.is_non_decreasing([1, 2, 2]), tf.is_strictly_increasing([1, 2, 2]), tf.math.is_non_decreasing([3, 1]),
            tf.math.is_strictly_increasing([1, 2])]


@case(nodes=False)
def checks(tf):
    x = tf.placeholder_with_default(X, [2, 3])
    made = [tf.debugging.assert_equal(x, x), tf.debugging.assert_greater(x, 0.0), tf.debugging.assert_greater_equal(x,
                                                                                                                    0.0),
            tf.debugging.assert_less(x, 9.0), tf.debugging.assert_less_equal(x, 9.0), tf.debugging.assert_none_equal(x,
                                                                                                                     -1.0),
            tf.debugging.assert_positive(x), tf.debugging.assert_non_negative(x), tf.debugging.assert_negative(-x),
            tf.debugging.assert_non_positive(-x), tf.debugging.assert_near(x, x + 1e-7), tf.assert_near(x, x, rtol=0.1,
                                                                                                        atol=0.2,
                                                                                                        name="near"),
            tf.debugging.assert_rank(x, 2), tf.debugging.assert_rank_at_least(x, 1), tf.debugging.assert_rank_in(x, [1,
                                                                                                                     2]),
            tf.assert_rank_in(x, (2, 3)), tf.debugging.assert_type(x, tf.float32),
            tf.debugging.assert_integer(tf.constant(1)),
            tf.assert_integer(tf.constant(1))]
    return [op for op in made if op is not None and hasattr(op, "outputs")]


@case(nodes=False)
def static_checks(tf):
    tf.debugging.assert_proper_iterable([1])
    tf.assert_proper_iterable((1, 2))
    tf.debugging.assert_scalar(tf.constant(1.0))
    tf.assert_scalar(tf.constant(1.0))
    tf.assert_same_float_dtype([tf.constant(1.0)], tf.float32)
    with tf.control_dependencies([tf.debugging.Assert(tf.constant(True), ["x"])]):
        same = tf.debugging.check_numerics(X, "numbers")
    return [same, tf.debugging.is_finite(X), tf.debugging.is_inf(X), tf.debugging.is_nan(X),
            tf.debugging.is_numeric_tensor(same),
            tf.debugging.is_non_decreasing([1, 2]), tf.debugging.is_strictly_increasing([1, 1]),
            tf.debugging.assert_all_finite(X, "finite")]


@case(nodes=False)
def matrices(tf):
    a = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)
    return [tf.linalg.matvec(a, [1.0, 2.0]), tf.linalg.matvec(a, [1.0, 2.0], transpose_a=True, name="v"),
            tf.linalg.cross([1.0, 0, 0], [0, 1.0, 0]),
            tf.linalg.einsum("ij,jk->ik", a, a), tf.linalg.global_norm([a, a]), tf.linalg.l2_normalize(a, 1),
            tf.linalg.tensor_diag([1.0, 2.0]),
            tf.linalg.tensor_diag_part(a), tf.linalg.normalize(a)[0], tf.linalg.normalize(a, ord=1, axis=1)[1]]


@case
def random_names(tf):
    return [tf.random.categorical([[1.0, 2.0]], 5, seed=3), tf.random.categorical([[1.0, 2.0]], 5, dtype=tf.int32,
                                                                                  seed=3, name="c")]


@case
def version(tf):
    return [tf.version.VERSION == tf.__version__, tf.GRAPH_DEF_VERSION == tf.version.GRAPH_DEF_VERSION,
            tf.version.GRAPH_DEF_VERSION_MIN_CONSUMER, tf.version.GRAPH_DEF_VERSION_MIN_PRODUCER,
            isinstance(tf.version.COMPILER_VERSION, str)]


@case
def queues(tf):
    q = tf.queue.FIFOQueue(3, tf.float32)
    return [isinstance(q, tf.queue.QueueBase), tf.queue.PaddingFIFOQueue(3, tf.float32, [[]]).size(),
            tf.queue.RandomShuffleQueue(3, 1, tf.int32).size(), tf.queue.PriorityQueue(3, [tf.int64], [[]]).size()]


@case
def strings(tf):
    s = tf.constant(["a b", "Cd é", ""])
    return [tf.strings.join(["x", s]), tf.strings.join(["x", s], separator="-", name="j"), tf.strings.length(s),
            tf.strings.length(s, unit="UTF8_CHAR"),
            tf.strings.lower(s), tf.strings.upper(s, encoding="utf-8"), tf.strings.strip([" a "]),
            tf.strings.regex_full_match(s, "a.*"),
            tf.strings.to_hash_bucket(s, 10), tf.strings.to_hash_bucket_fast(s, 10), tf.strings.to_hash_bucket_strong(s,
                                                                                                                      10, [1, 2]),
            tf.strings.to_number(["1.5"]), tf.strings.to_number(["7"], tf.int64), tf.strings.split(s),
            tf.strings.split(s, sep=" ", maxsplit=1),
            tf.strings.format("x = {}", tf.constant([1, 2])),
            tf.strings.format("{} {}", (tf.constant(1), tf.constant(2)), summarize=2)]
