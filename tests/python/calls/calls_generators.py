"""tf.random.Generator, and random numbers that a seed alone decides."""
import numpy as np

from machine import case


@case
def of_a_seed(tf):
    r = tf.random
    return [r.stateless_gamma([3, 4], [1, 2], [0.5, 1.0, 3.0, 0.3]), r.stateless_gamma([2], [1, 2], 2.0, beta=3.0, dtype=tf.float64),
            r.stateless_poisson([5, 2], [1, 2], [3.0, 20.0]), r.stateless_poisson([3], [4, 2], 2.0, dtype=tf.float32),
            r.stateless_binomial([4, 3], [1, 2], counts=[10.0, 3.0, 50.0], probs=[0.3, 0.5, 0.7]),
            r.stateless_binomial([4], [1, 2], 40.0, 0.3, output_dtype=tf.int64),
            r.stateless_categorical([[0.0, 1.0, 2.0]], 5, [1, 2]), r.stateless_multinomial([[0.0, 1.0]], 5, [1, 2],
                output_dtype=tf.int32),
            r.experimental.stateless_shuffle(np.arange(8), [1, 2]),
            tf.random.experimental.index_shuffle(np.arange(20), seed=[1, 2], max_index=19),
            r.experimental.index_shuffle(7, tf.constant([1, -2], tf.int64), 99),
            tf.random_index_shuffle(np.arange(300), seed=[1, 2, 3], max_index=np.int64(2 ** 40), rounds=8)]


@case(nodes=False)
def seeds(tf):
    r = tf.random
    return [tf.identity(x) for x in (r.fold_in([1, 2], 7), r.split([1, 2], 3), r.experimental.stateless_fold_in([1, 2], 9),
                                     r.experimental.stateless_split([3, 4]))]


@case(nodes=False)
def generators(tf):
    g = tf.random.Generator.from_seed(1234)
    h = tf.random.experimental.Generator.from_state([1, 2, 3], 1)
    k = tf.random.Generator.from_key_counter(8, [1, 0], "philox")
    found = []
    for make in (lambda: g.normal([3]), lambda: g.uniform([3]), lambda: g.uniform_full_int([2], tf.uint64), lambda: h.normal([2], 3.0,
            2.0),
                 lambda: g.uniform([3], maxval=10, dtype=tf.int32), lambda: g.truncated_normal([3]), lambda: k.uniform([2], 1.0, 3.0,
                     tf.float64),
                 lambda: g.make_seeds(2), lambda: g.skip(3), lambda: g.state.read_value(), lambda: k.normal([2])):
        with tf.control_dependencies(found[-1:]):
            found.append(tf.identity(make()))
    return found + [g.algorithm, [a.name for a in tf.random.Algorithm]]


@case(nodes=False)
def wrong_generators(tf):
    found = []
    for f in (lambda: tf.random.Generator(), lambda: tf.random.Generator.from_seed(1, alg="none"),
              lambda: tf.random.Generator.from_seed(1).uniform([2], dtype=tf.int32)):
        try:
            f()
        except Exception as e:
            found.append(type(e).__name__)
        else:
            found.append("no error")
    return found
