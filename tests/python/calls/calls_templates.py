"""Templates, files by tf.io.gfile, tf.config, printing, and tf.nn's functions by the rank of their input."""
import os
import sys

import numpy as np

from machine import case

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 5


def linear(tf, x, units=2):
    return tf.matmul(x, tf.get_variable("w", [2, units], initializer=tf.ones_initializer()))


@case
def shared_variables(tf):
    model = tf.make_template("lin", lambda x, units=2: linear(tf, x, units), units=3)
    x = tf.ones([1, 2])
    first, second = model(x), model(x)
    other = tf.make_template("lin", lambda x: linear(tf, x))
    third = other(x)
    with tf.variable_scope("s"):
        inner = tf.make_template("lin", lambda x: linear(tf, x))
        fourth = inner(x)
    fifth = inner(x)
    now = tf.make_template("now", lambda x: linear(tf, x), create_scope_now_=True)
    named = tf.make_template("u", lambda x: linear(tf, x), unique_name_="u5")
    return [first, second, third, fourth, fifth, now(x), named(x), [v.name for v in tf.global_variables()], model.name,
            model.var_scope.name,
            [v.name for v in model.trainable_variables], model.variable_scope_name]


@case
def files(tf):
    where = os.getcwd()
    with tf.io.gfile.GFile("a", "w") as f:
        f.write("hello\nworld\n")
    tf.io.gfile.makedirs(tf.io.gfile.join(where, "sub", "deep"))
    tf.io.gfile.makedirs("sub/deep")
    tf.io.gfile.mkdir("other")
    tf.io.gfile.copy("a", "b")
    tf.io.gfile.copy("a", "b", overwrite=True)
    tf.io.gfile.rename("b", "sub/c")
    found = [sorted(tf.io.gfile.listdir(".")), tf.io.gfile.glob("sub/*"), tf.io.gfile.glob(["a", "s*"]),
             tf.io.gfile.exists("a"), tf.io.gfile.exists("b"),
             tf.io.gfile.isdir("sub"), tf.io.gfile.isdir("a"), tf.io.gfile.stat("a").length,
             [list(w) for w in tf.io.gfile.walk("sub")],
             [list(w) for w in tf.io.gfile.walk("sub", topdown=False)]]
    tf.io.gfile.remove("a")
    tf.io.gfile.rmtree("sub")
    return found + [sorted(tf.io.gfile.listdir("."))]


@case
def files_that_fail(tf):
    with tf.io.gfile.GFile("a", "w") as f:
        f.write("x")
    said = []
    for call in (lambda: tf.io.gfile.copy("none", "c"), lambda: tf.io.gfile.copy("a", "a"),
                 lambda: tf.io.gfile.mkdir("no/sub"),
                 lambda: tf.io.gfile.remove("none"), lambda: tf.io.gfile.listdir("none"),
                 lambda: tf.io.gfile.stat("none"),
                 lambda: tf.io.gfile.GFile("none").read(), lambda: tf.io.gfile.rmtree("none"),
                 lambda: tf.io.gfile.rename("none", "c")):
        try:
            said.append(call())
        except tf.errors.OpError as e:
            said.append(type(e).__name__)
    return said


@case(alone=True)
def devices(tf):
    cpus = tf.config.list_physical_devices("CPU")
    tf.config.threading.set_inter_op_parallelism_threads(2)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.set_soft_device_placement(True)
    assert (cpus[0].name, cpus[0].device_type) == ("/physical_device:CPU:0", "CPU")
    assert tf.config.experimental.list_physical_devices("TPU") == []
    assert tf.config.get_visible_devices("CPU") == cpus and tf.config.list_logical_devices("CPU")[0].name == "/device:CPU:0"
    assert tf.config.threading.get_inter_op_parallelism_threads() == 2 and tf.config.threading.get_intra_op_parallelism_threads() == 1
    assert tf.config.get_soft_device_placement()
    with tf.Session() as sess:
        assert sess.run(tf.constant(1)) == 1
    tf.config.threading.set_inter_op_parallelism_threads(0)
    tf.config.threading.set_intra_op_parallelism_threads(0)
    tf.config.set_soft_device_placement(False)


@case(nodes=False)
def windows(tf):
    x, image = tf.constant(X), tf.reshape(tf.constant(np.arange(32, dtype=np.float32)), [1, 4, 4, 2])
    return [tf.nn.max_pool1d(x, 2, 1, "SAME"), tf.nn.avg_pool1d(x, 2, 2, "VALID"), tf.nn.max_pool2d(image, 2, 2,
                                                                                                    "SAME"),
            tf.nn.max_pool2d(image, [1, 2, 2, 1], [1, 1, 1, 1], "VALID", name="m"), tf.nn.avg_pool2d(image, 2, 2,
                                                                                                     "SAME"),
            tf.nn.max_pool_with_argmax(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")[1]]


@case(nodes=False)
def statistics(tf):
    x = tf.constant(X)
    counts, sums, squares, shift = tf.nn.sufficient_statistics(x, [0, 1])
    shifted = tf.nn.sufficient_statistics(x, [0], shift=1.0, keep_dims=True, name="shifted")
    return [counts, sums, squares, tf.nn.normalize_moments(counts, sums, squares, shift),
            tf.nn.normalize_moments(*shifted)]


@case(nodes=False)
def weighted_statistics(tf):
    weights = np.array([1.0, 2.0], np.float32).reshape(2, 1, 1)
    return [tf.nn.weighted_moments(X, [0, 1], weights), tf.nn.weighted_moments(X, [0], weights, keep_dims=True),
            tf.identity(tf.nn.silu(X), name="one"), tf.identity(tf.nn.silu(X, beta=2.0), name="two")]


@case(nodes=False)
def missing_ids(tf):
    table = tf.constant(X.reshape(6, 4))
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0], [3, 0]], tf.constant([1, -1, 3, 2], tf.int64), [4, 2])
    weights = tf.SparseTensor([[0, 0], [0, 1], [2, 0], [3, 0]], [0.5, 1.0, 0.0, 2.0], [4, 2])
    return [tf.nn.safe_embedding_lookup_sparse(table, ids), tf.nn.safe_embedding_lookup_sparse(table, ids, weights,
                                                                                               combiner="sum",
                                                                                               default_id=5)]


@case
def samplers(tf):
    classes = tf.constant([[1], [2]], tf.int64)
    drawn = tf.nn.uniform_candidate_sampler(classes, 1, 3, True, 10, seed=4)
    return [drawn, tf.nn.log_uniform_candidate_sampler(classes, 1, 3, True, 10, seed=4, name="log"),
            tf.random.uniform_candidate_sampler(classes, 1, 2, False, 5, seed=1),
            tf.nn.compute_accidental_hits(classes, tf.constant([2, 1, 7], tf.int64), 1)[1]]


@case
def printed(tf):
    one = tf.print("a", tf.constant([1, 2]), {"k": tf.constant(3.0)}, [tf.constant(b"s"), 4], (5,),
                   output_stream=sys.stderr)
    two = tf.print(tf.constant(1.5), output_stream=sys.stderr, summarize=-1, sep=",", end="!", name="p")
    with tf.control_dependencies([one, two]):
        return [tf.constant(1)]
