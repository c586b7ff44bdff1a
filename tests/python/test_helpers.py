"""Functions that only add nodes (clipping, learning rates, losses, embeddings, images): TensorFlow's nodes and values.

Python calls the library for them.  A row is a program; both systems must make the same nodes in the same order, unless the
row says that only the values agree, and give the same values.
"""
import re

import numpy as np
import pytest

from both import both, both_raise, compare, oracle, run, weft

X = np.array([[3.0, -4.0, 0.5], [-0.5, 2.0, 1.0]], np.float32)


def x(tf, shape=(2, 3), dtype="float32", name="x"):
    """A tensor that is fed with X, or with its first elements."""
    return tf.placeholder(getattr(tf, dtype), shape, name)


def number(tf, name="n", dtype="float32"):
    return tf.placeholder(getattr(tf, dtype), [], name)


def slices(tf):
    return tf.IndexedSlices(x(tf), tf.constant([1, 2]), tf.constant([5, 3]))


FEEDS = {"x": X, "n": np.float32(1.5), "m": np.float32(0.25), "step": 7, "steps": 10, "wide": np.float64(0.5)}

CLIPS = {
    "value": lambda tf: tf.clip_by_value(x(tf), -1.0, 1.0),
    "value_rows": lambda tf: tf.clip_by_value(x(tf), [-1.0, 0.0, 0.0], np.ones([3])),
    "value_tensors": lambda tf: tf.clip_by_value(x(tf, None), number(tf, "m"), number(tf), name="mine"),
    "value_array": lambda tf: tf.clip_by_value(X.astype(np.int32), -1, 1),
    "value_slices": lambda tf: tf.clip_by_value(slices(tf), -1.0, 1.0).values,
    "norm": lambda tf: tf.clip_by_norm(x(tf), 2.0),
    "norm_unknown": lambda tf: tf.clip_by_norm(x(tf, None), 2),
    "norm_axes": lambda tf: tf.clip_by_norm(x(tf), 2.0, axes=[1]),
    "norm_axis": lambda tf: tf.clip_by_norm(x(tf), 2.0, axes=0),
    "norm_axes_tensor": lambda tf: tf.clip_by_norm(x(tf), 2.0, axes=tf.placeholder(tf.int32, [None], "axes")),
    "norm_tensor": lambda tf: tf.clip_by_norm(x(tf, (None, 3)), number(tf), name="mine"),
    "norm_rows": lambda tf: tf.clip_by_norm(x(tf), np.ones([3], np.float32)),
    "norm_slices": lambda tf: tf.clip_by_norm(slices(tf), 1.0).values,
    "norm_list": lambda tf: tf.clip_by_norm([3.0, 4.0], 1),
    "average_norm": lambda tf: tf.clip_by_average_norm(x(tf), 0.5),
    "average_norm_tensor": lambda tf: tf.clip_by_average_norm(x(tf, None), number(tf)),
    "global_norm": lambda tf: tf.global_norm([x(tf), None, number(tf)]),
    "global_norm_of_none": lambda tf: tf.global_norm([None]),
    "global_norm_double": lambda tf: tf.global_norm([number(tf, "wide", "float64")], name="mine"),
    "by_global_norm": lambda tf: tf.clip_by_global_norm([x(tf), None, number(tf)], 2.0)[0][::2],
    "by_global_norm_in_scope": lambda tf: tf.clip_by_global_norm([x(tf), slices(tf).values], 2, name="a/b")[0],
    "by_global_norm_tensor": lambda tf: tf.clip_by_global_norm([x(tf)], number(tf), name="mine")[0],
    "by_global_norm_given": lambda tf: tf.clip_by_global_norm([x(tf)], 2.0, use_norm=number(tf))[0],
}


def step(tf):
    return number(tf, "step", "int64")


DECAYS = {
    "exponential": lambda tf: tf.train.exponential_decay(0.1, step(tf), 10, 0.9),
    "exponential_staircase": lambda tf: tf.train.exponential_decay(0.1, step(tf), 10, 0.9, True, name="mine"),
    "exponential_tensors": lambda tf: tf.train.exponential_decay(number(tf), step(tf), number(tf, "steps", "int32"), number(tf, "m")),
    "exponential_double": lambda tf: tf.train.exponential_decay(np.float64(0.1), step(tf), 10.0, 1),
    "exponential_constants": lambda tf: tf.train.exponential_decay(tf.constant(0.1), step(tf), tf.constant(10), tf.constant(0.9)),
    "exponential_number": lambda tf: tf.train.exponential_decay(0.1, 3, 10, 0.9),
    "natural_exp": lambda tf: tf.train.natural_exp_decay(0.1, step(tf), 10, 0.9),
    "natural_exp_tensors": lambda tf: tf.train.natural_exp_decay(number(tf), step(tf), number(tf, "steps", "int32"), number(tf, "m")),
    "inverse_time": lambda tf: tf.train.inverse_time_decay(0.1, step(tf), 3, 0.9, True),
    "inverse_time_tensors": lambda tf: tf.train.inverse_time_decay(number(tf), step(tf), number(tf, "steps", "int32"), number(tf, "m")),
    "polynomial": lambda tf: tf.train.polynomial_decay(0.1, step(tf), 30, power=2),
    "polynomial_cycle": lambda tf: tf.train.polynomial_decay(0.1, step(tf), 3, 0.01, 2, cycle=True),
    "polynomial_tensors": lambda tf: tf.train.polynomial_decay(number(tf), step(tf), number(tf, "steps", "int32"), number(tf, "m"), 0.5),
    "cosine": lambda tf: tf.train.cosine_decay(0.1, step(tf), 10, alpha=0.1),
    "cosine_tensors": lambda tf: tf.train.cosine_decay(number(tf), step(tf), number(tf, "steps", "int32"), alpha=number(tf, "m")),
    "linear_cosine": lambda tf: tf.train.linear_cosine_decay(0.1, step(tf), 10),
    "linear_cosine_tensors": lambda tf: tf.train.linear_cosine_decay(number(tf), step(tf), number(tf, "steps", "int32"),
                                                                     number(tf, "m"), 0.1, 0.2),
    "noisy_linear_cosine": lambda tf: tf.train.noisy_linear_cosine_decay(number(tf), step(tf), 10, number(tf, "m")),
    "double": lambda tf: tf.train.inverse_time_decay(number(tf, "wide", "float64"), step(tf), 10, 0.5),
}
# The values only: TensorFlow builds a cond where Weft chooses by Select, which is faster (train/model/schedule.c).
VALUES = {
    "restarts": lambda tf: tf.train.cosine_decay_restarts(0.1, step(tf), 3, alpha=0.1),
    "restarts_tensors": lambda tf: tf.train.cosine_decay_restarts(number(tf), step(tf), 3, number(tf, "m"), number(tf, "m2"),
                                                                  number(tf, "wide2")),
    "restarts_equal": lambda tf: tf.train.cosine_decay_restarts(0.1, step(tf), 3, number(tf, "one")),
    "piecewise": lambda tf: tf.train.piecewise_constant(step(tf), [3, 7, 9], [0.1, 0.2, 0.3, 0.4]),
    "piecewise_integers": lambda tf: tf.train.piecewise_constant(number(tf, "steps", "int32"), [3, 15], [1, 2, 3]),
    "piecewise_tensors": lambda tf: tf.train.piecewise_constant(number(tf), [number(tf, "m"), 5.0], [number(tf, "m"), 0.2, 0.3]),
}
FEEDS.update(axes=[1], m2=np.float32(0.75), wide2=np.float32(0.1), one=np.float32(1))


def table(tf, rows=(5, 2), name="t", **kwargs):
    return tf.get_variable(name, rows, initializer=tf.constant_initializer(np.arange(1.0, 1 + rows[0] * rows[1]).reshape(rows)), **kwargs)


def ids(tf, shape=(None,)):
    return tf.placeholder(tf.int64, shape, "ids%d" % (2 if shape is None else len(shape)))


def sparse(tf, values):
    return tf.SparseTensor(tf.constant([[0, 0], [0, 1], [2, 0]], tf.int64), values, tf.constant([3, 2], tf.int64))


FEEDS.update(ids1=[3, 0, 1], ids2=[[3, 0, 1], [2, 2, 0]], rows=np.arange(8, dtype=np.float32).reshape(4, 2))


def rows(tf, shape=(None, 2)):
    return tf.placeholder(tf.float32, shape, "rows")


LOOKUPS = {
    "one": lambda tf: tf.nn.embedding_lookup(table(tf), ids(tf)),
    "one_resource": lambda tf: tf.nn.embedding_lookup(table(tf, use_resource=True), ids(tf), name="mine"),
    "one_norm": lambda tf: tf.nn.embedding_lookup([table(tf)], ids(tf, (None, 3)), max_norm=2.0),
    "one_norm_unknown": lambda tf: tf.nn.embedding_lookup(rows(tf, None), ids(tf, None), max_norm=2.0),
    "one_norm_unknown_rows": lambda tf: tf.nn.embedding_lookup(rows(tf, None), ids(tf), max_norm=number(tf)),
    "constants": lambda tf: tf.nn.embedding_lookup(np.ones([3, 2], np.float32), [1, 2]),
    "parts": lambda tf: tf.nn.embedding_lookup([table(tf), table(tf, (5, 2), "u")], ids(tf, (None, 3))),
    "parts_resource": lambda tf: tf.nn.embedding_lookup(
        [table(tf, use_resource=True), table(tf, name="u", use_resource=True)], ids(tf), "div"),
    "parts_div": lambda tf: tf.nn.embedding_lookup([table(tf), table(tf, (4, 2), "u")], ids(tf), "div", max_norm=2.0),
    "parts_unknown": lambda tf: tf.nn.embedding_lookup([rows(tf), rows(tf)], ids(tf), "div"),
    "parts_unknown_rows": lambda tf: tf.nn.embedding_lookup([rows(tf, None), rows(tf, None)], ids(tf, (None, 3))),
    "parts_mixed": lambda tf: tf.nn.embedding_lookup([rows(tf), rows(tf, (4, 2))], ids(tf), "div"),
    "partitioned": lambda tf: tf.nn.embedding_lookup(
        tf.get_variable("p", [6, 2], partitioner=tf.fixed_size_partitioner(3)), ids(tf), "div"),
}


def parts(tf):
    return [table(tf), table(tf, name="u")]


def entries(tf, values, dtype="int64"):
    """A sparse tensor of which nothing is known while the graph is built."""
    given = np.array([[0, 0], [1, 0], [2, 0]]), np.array(values, dtype), np.array([3, 2])
    return tf.SparseTensor(*(tf.placeholder_with_default(v, [None] * v.ndim) for v in given))


TABLES = {"one": table, "resource": lambda tf: table(tf, use_resource=True), "parts": parts, "array": lambda tf: tf.constant(X.T),
          "partitioned": lambda tf: tf.get_variable("p", [6, 2], partitioner=tf.fixed_size_partitioner(3))}


def combined(tf, params, every):
    """Every combiner, with and without weights and a largest norm, of one table; of other tables two ways."""
    ids, weights = sparse(tf, tf.constant([1, 2, 1])), sparse(tf, tf.constant([0.0, 0.5, 2.0]))
    ways = [(None, "mean", None), (weights, "sum", 2.0), (weights, "sqrtn", None), (weights, "mean", 2.0), (None, "sum", 2.0)]
    plain, safe = tf.nn.embedding_lookup_sparse, tf.nn.safe_embedding_lookup_sparse
    calls = [(way, look_up) for way in ways for look_up in (plain, safe)] if every else [(ways[0], plain), (ways[3], safe)]
    return [look_up(params, ids, w, combiner=c, max_norm=n) for (w, c, n), look_up in calls]


for _name, _table in TABLES.items():
    LOOKUPS["combined_" + _name] = lambda tf, name=_name, table=_table: combined(tf, table(tf), name == "one")
LOOKUPS.update({
    "sparse_fast": lambda tf: tf.nn.embedding_lookup_sparse(
        table(tf), sparse(tf, tf.constant([1, 4, 1])), sparse(tf, tf.ones([3])), allow_fast_lookup=True),
    "sparse_wide_weights": lambda tf: tf.nn.embedding_lookup_sparse(
        table(tf), sparse(tf, tf.constant([1, 4, 1])), sparse(tf, tf.ones([3], tf.float64)), name="mine"),
    "safe_default": lambda tf: tf.nn.safe_embedding_lookup_sparse(table(tf), sparse(tf, tf.constant([1, -1, -4])), default_id=2),
    "safe_unknown": lambda tf: tf.nn.safe_embedding_lookup_sparse(
        table(tf), entries(tf, [3, -1, 1]), entries(tf, [1, 2, 0.5], "float32"), combiner="sum", name="mine"),
    "safe_three_axes": lambda tf: tf.nn.safe_embedding_lookup_sparse(
        parts(tf), tf.SparseTensor(tf.constant([[0, 0, 0], [0, 1, 1], [1, 0, 0]], tf.int64), tf.constant([1, -1, 4], tf.int64),
                                   tf.constant([2, 2, 3], tf.int64)), default_id=2, partition_strategy="mod"),
    "safe_numbers": lambda tf: tf.nn.safe_embedding_lookup_sparse([np.ones([5, 2], np.float32)], sparse(tf, tf.constant([1, 4, 1]))),
})


PICTURES = np.random.RandomState(5).rand(2, 6, 5, 3).astype(np.float32)


def pictures(make, *dtypes, shapes=((6, 5, 3), (2, 6, 5, 3))):
    """make(tf, x) for a picture and for a batch, of each type."""
    def program(tf):
        values = {s: PICTURES if len(s) == 4 else PICTURES[0] for s in shapes}
        return [make(tf, tf.constant(v if d.startswith("float") else (v * 100).astype(d), getattr(tf, d)))
                for d in dtypes or ("float32",) for v in values.values()]
    return program


IMAGES = {
    "brightness": pictures(lambda tf, x: tf.image.adjust_brightness(x, 0.2), "float32", "uint8", "float64", "float16"),
    "brightness_of_tensor": pictures(lambda tf, x: tf.image.adjust_brightness(x, number(tf, "wide", "float64"))),
    "contrast": pictures(lambda tf, x: tf.image.adjust_contrast(x, 1.7), "float32", "uint8", "float64"),
    "saturation": pictures(lambda tf, x: tf.image.adjust_saturation(x, number(tf, "m")), "float32", "uint8"),
    "hue": pictures(lambda tf, x: tf.image.adjust_hue(x, 0.2, name="mine"), "float32", "int16"),
    "gamma": pictures(lambda tf, x: tf.image.adjust_gamma(x, 2, 0.5), "float32", "uint8", "float64"),
    "random": pictures(lambda tf, x: [
        tf.image.random_brightness(x, 0.2), tf.image.random_contrast(x, 0.5, 1.5, seed=3), tf.image.random_hue(x, 0.1),
        tf.image.random_saturation(x, 0.5, 1.5)][-1], "uint8"),
    "standardization": pictures(lambda tf, x: tf.image.per_image_standardization(x), "float32", "uint8"),
    "flips": pictures(lambda tf, x: tf.image.flip_left_right(tf.image.flip_up_down(x)), "float32", "uint8"),
    "resize": pictures(lambda tf, x: tf.image.resize_images(x, [4, 7], 2), "float32", "uint8"),
    "resize_corners": pictures(lambda tf, x: tf.image.resize_images(x, tf.placeholder_with_default([4, 7], [2]), 1, True)),
    "resize_same": pictures(lambda tf, x: tf.image.resize_images(x, [6, 5])),
    "crop": pictures(lambda tf, x: tf.image.crop_to_bounding_box(x, 1, 2, 3, 2)),
    "central_crop": pictures(lambda tf, x: tf.image.central_crop(x, 0.6), "uint8"),
    "pad": pictures(lambda tf, x: tf.image.pad_to_bounding_box(x, 1, 2, 9, 9)),
    "crop_or_pad": pictures(lambda tf, x: tf.image.resize_image_with_crop_or_pad(x, 4, np.int64(8))),
    "convert": lambda tf: [tf.image.convert_image_dtype(tf.constant(PICTURES[0].astype(a)), getattr(tf, b), saturate)
                           for a in ("float32", "uint8", "int16", "uint16") for b in ("float32", "uint8", "int16", "float16", "int32")
                           for saturate in (False, True)],
    "saturate_cast": lambda tf: [tf.saturate_cast(tf.constant(np.array([100, 3], a)), getattr(tf, b)) for a in (
        "float16", "float32", "float64", "uint8", "int8", "uint16", "int32", "int64")
        for b in ("float16", "bfloat16", "uint8", "int8", "int16", "int32", "uint32", "int64", "uint64")
        if (a, b) != ("int64", "uint64")],  # TensorFlow's upper limit of it overflows: on x86_64 it makes 0 of 100
}


def sized(make, *shapes):
    """make(tf, x) for pictures whose sizes are known only when the graph runs."""
    def program(tf):
        return [make(tf, tf.placeholder_with_default(PICTURES if s and len(s) == 4 else PICTURES[0], s))
                for s in shapes]
    return program


def size(tf, value):
    return tf.placeholder_with_default(np.int32(value), [])


UNKNOWN = {
    "flip": sized(lambda tf, x: tf.image.flip_left_right(x), [None, 5, 3], [None] * 4, [None, 6, 5, 3], None),
    "random_flip": sized(lambda tf, x: tf.image.random_flip_up_down(x, seed=4), [6, 5, 3], [None, None, 3], [None, None, None, 3]),
    "random_flip_of_graph": sized(lambda tf, x: tf.image.random_flip_left_right(x), [None] * 4),
    "random_crop": sized(lambda tf, x: tf.image.random_crop(x, [2, 4, 3], seed=2**40 + 3), [None, None, 3], None),
    "central_crop": sized(lambda tf, x: tf.image.central_crop(x, 0.6), [None, 5, 3], [None] * 4),
    "crop": sized(lambda tf, x: tf.image.crop_to_bounding_box(x, 1, 2, 3, 2), [None, 5, 3], [None] * 4),
    "crop_of_tensors": sized(lambda tf, x: tf.image.crop_to_bounding_box(x, size(tf, 1), 2, 3, size(tf, 2)), [6, 5, 3]),
    "pad": sized(lambda tf, x: tf.image.pad_to_bounding_box(x, 1, 2, 9, 9), [None, 5, 3], [None] * 4),
    "crop_or_pad": sized(lambda tf, x: tf.image.resize_image_with_crop_or_pad(x, 4, 8), [None, 5, 3]),
    "crop_or_pad_to_tensor": sized(lambda tf, x: tf.image.resize_image_with_crop_or_pad(x, size(tf, 4), 8), None),
    "standardization": sized(lambda tf, x: tf.image.per_image_standardization(x), [None, 5, 3], None),
    "resize_with_pad": sized(lambda tf, x: tf.image.resize_image_with_pad(x, 4, 7), [6, 5, 3], [None, None, 3]),
    "grayscale": sized(lambda tf, x: tf.image.rgb_to_grayscale(x), [6, 5, 3], [None, None, None, 3], None),
    "to_rgb": sized(lambda tf, x: tf.image.grayscale_to_rgb(tf.image.rgb_to_grayscale(x)), [6, 5, 3], [None] * 4, None),
    "seeds_in_turn": lambda tf: [tf.random_uniform([2]), tf.train.noisy_linear_cosine_decay(1.0, step(tf), 10), tf.random_normal([2]),
                                 tf.image.random_crop(PICTURES[0], [2, 2, 3]), tf.random_uniform([2])],
    "scalars": lambda tf: [tf.reduce_sum(number(tf)), tf.reduce_logsumexp(number(tf, "m"))],
}
# What fails when the graph runs: the program and a feed.
FAILING = {
    "crop": (lambda tf, x: tf.image.crop_to_bounding_box(x, 1, 2, 3, 2), [3, 5, 3]),
    "pad": (lambda tf, x: tf.image.pad_to_bounding_box(x, 1, 2, 9, 9), [9, 5, 3]),
    "no_rows": (lambda tf, x: tf.image.flip_left_right(x), [0, 5, 3]),
    "no_image": (lambda tf, x: tf.image.flip_left_right(x), [5, 3]),
    "random_crop": (lambda tf, x: tf.image.random_crop(x, [4, 4, 3]), [3, 5, 3]),
    "colors": (lambda tf, x: tf.image.grayscale_to_rgb(x), [3, 5, 3]),
}


def weighted(**kwargs):
    return lambda tf: tf.losses.compute_weighted_loss(x(tf), **{k: v(tf) if callable(v) else v for k, v in kwargs.items()})


# The values, names and collections: TensorFlow adds nodes that check the weights, which Weft checks while building.
LOSSES = {
    "weighted": weighted(),
    "weighted_number": weighted(weights=2, reduction="weighted_mean", scope="mine"),
    "weighted_rows": weighted(weights=lambda tf: tf.constant([[0.0], [2.0]])),
    "weighted_zero": weighted(weights=0.0),
    "weighted_double": lambda tf: tf.losses.compute_weighted_loss(number(tf, "wide", "float64"), 2),
    "weighted_integers": weighted(weights=lambda tf: tf.constant([[1], [0]])),
    "log_no_epsilon": lambda tf: tf.losses.log_loss(tf.constant([0.5, 1.0]), tf.constant([0.25, 0.5]), epsilon=0.0),
    "huber_no_delta": lambda tf: tf.losses.huber_loss(tf.zeros([2, 3]), x(tf), delta=0.0),
}
for _kind in ("none", "weighted_sum", "weighted_mean", "weighted_sum_over_batch_size", "weighted_sum_by_nonzero_weights"):
    LOSSES[_kind] = weighted(reduction=_kind, weights=lambda tf: tf.constant([[0.0, 1.0, 2.0]]))


def fed(program):
    """The feeds of the placeholders that a program makes; a second one of a name has _1 after it."""
    with weft.Graph().as_default() as graph:
        program(weft)
        return {op.name: FEEDS[op.name.split("/")[-1].split("_")[0]] for op in graph.get_operations() if op.type == "Placeholder"}


def both_of_all(programs, **how):
    """Programs side by side in one graph, each in a scope of its name: a session of TensorFlow is slow to begin."""
    def program(tf):
        made = []
        for name, one in programs.items():
            with tf.variable_scope(name):
                found = one(tf)
            made += found if isinstance(found, (list, tuple)) else [found]
        return made
    both(program, fed(program), **how)


DOTS = {
    "last_axis": lambda tf: tf.tensordot(tf.placeholder(tf.float32, [2, 2, 3], "cube"), tf.transpose(x(tf)), 1),
    "other_axis": lambda tf: tf.tensordot(tf.placeholder(tf.float32, [2, 2, 3], "cube"), x(tf), [[0], [0]]),
    "outer": lambda tf: tf.tensordot(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0, 5.0]), 0),
}
FEEDS.update(cube=np.arange(12, dtype=np.float32).reshape(2, 2, 3))


def test_products_over_axes_move_nothing_in_vain():
    for program in DOTS.values():
        both(program, fed(program))


def test_a_variable_with_a_caching_device_is_read_there():
    def program(tf):
        made = tf.get_variable("v", [2], caching_device="/cpu:0")
        tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(2), [tf.ones([1, 2])], dtype=tf.float32)
        reads = [n for n in tf.get_default_graph().as_graph_def().node if n.name.endswith("/read")]
        return [made] + [(n.name, n.device, [bytes(c) for c in n.attr["_class"].list.s]) for n in reads]
    both(program, same_nodes=False, tolerance=9)


def test_clipping_makes_the_nodes_of_tensorflow():
    both_of_all(CLIPS)


def test_decays_make_the_nodes_of_tensorflow():
    both_of_all(DECAYS)


def test_schedules_that_choose_have_the_values_of_tensorflow():
    both_of_all(VALUES, same_nodes=False)


def test_lookups_make_the_nodes_of_tensorflow():
    both_of_all(LOOKUPS)


def test_images_make_the_nodes_of_tensorflow():
    both_of_all(IMAGES, tolerance=2e-3)


def test_images_of_unknown_size_make_the_nodes_of_tensorflow():
    both_of_all(UNKNOWN, in_order=False)


@pytest.mark.parametrize("name", FAILING)
def test_images_of_wrong_size_fail_when_they_run(name):
    make, shape = FAILING[name]
    messages = []
    for tf in (weft, oracle):
        with tf.Graph().as_default(), tf.Session() as sess:
            made = make(tf, tf.placeholder(tf.float32, None, "x"))
            with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed") as error:
                sess.run(made, {"x:0": np.ones(shape)})
        messages.append(re.search(r"assertion failed: \[(.*?)\]", error.value.message)[1])
    assert messages[0] == messages[1]


def test_assertions_make_the_nodes_of_tensorflow():
    def program(tf):
        x, many = tf.placeholder_with_default(3, []), tf.placeholder_with_default([1, 2], [2])
        checks = [tf.assert_equal(x, 3), tf.assert_equal(many, [1, 2], message="m"), tf.assert_less(tf.constant(1), 2),
                  tf.assert_positive(x), tf.assert_greater_equal(x, x), tf.assert_equal(x, x)]
        with tf.control_dependencies(checks):
            return tf.identity(x)
    both(program)


def test_saturate_cast_stops_at_the_ends_of_a_type():
    ends = np.array([-3e38, -1e10, -40000, -200, -1, 0, 1, 200, 300, 70000, 1e10, 3e38], np.float32)
    both(lambda tf: [tf.saturate_cast(tf.constant(ends), getattr(tf, d)) for d in ("uint8", "int8", "uint16", "int16", "int32", "float16")])


def test_a_lookup_has_the_static_shape_of_tensorflow_and_a_sparse_gradient():
    def shapes(tf):
        made = [tf.nn.embedding_lookup([table(tf), table(tf, (5, 2), "u")], ids(tf, (None, 3)), s) for s in ("mod",)]
        grad = tf.gradients(made, tf.trainable_variables())
        return [str(m.shape) for m in made] + [type(g).__name__ for g in grad] + [g.values for g in grad]
    both(shapes, {"ids2": FEEDS["ids2"]}, same_nodes=False)


def test_weighted_losses_have_the_values_names_and_collection_of_tensorflow():
    for program in LOSSES.values():
        def named(tf, program=program):
            made = program(tf)
            return [made, made.name, [t.name for t in tf.losses.get_losses()] == [made.name]]
        both(named, fed(program), same_nodes=False)


def test_weights_of_unknown_size_fit_the_losses_or_are_refused():
    def program(tf, loss, values, weights, **kwargs):
        def later(value):
            return tf.placeholder_with_default(np.float32(value), [None] * np.ndim(value))
        return loss(tf)(later(values), later(values) + .5, weights=later(weights), **kwargs)
    wide, row = np.arange(1., 13).reshape(3, 4) / 9, np.ones([1, 4])
    both(lambda tf: program(tf, lambda tf: tf.losses.absolute_difference, wide, wide[:, :1]), same_nodes=False)
    both(lambda tf: program(tf, lambda tf: tf.losses.cosine_distance, wide, wide[:, :1], axis=1), same_nodes=False)
    both_raise(lambda tf: program(tf, lambda tf: tf.losses.cosine_distance, wide, wide, axis=1))
    both_raise(lambda tf: program(tf, lambda tf: tf.losses.absolute_difference, row, wide))
    both_raise(lambda tf: program(tf, lambda tf: tf.losses.mean_squared_error, row, wide[:, :1]))


REFUSED = {
    "weights": lambda tf: tf.losses.compute_weighted_loss(x(tf), tf.ones([4, 3])),
    "no_weights": lambda tf: tf.losses.compute_weighted_loss(x(tf), None),
    "reduction": lambda tf: tf.losses.compute_weighted_loss(x(tf), reduction="mean"),
    "no_params": lambda tf: tf.nn.embedding_lookup([], ids(tf)),
    "strategy": lambda tf: tf.nn.embedding_lookup([rows(tf), rows(tf)], ids(tf), "other"),
    "combiner": lambda tf: tf.nn.embedding_lookup_sparse(table(tf), sparse(tf, tf.constant([1, 4, 1])), None, combiner="max"),
    "dense_ids": lambda tf: tf.nn.embedding_lookup_sparse(table(tf), ids(tf), None),
    "wide_weights": lambda tf: tf.nn.safe_embedding_lookup_sparse(
        table(tf), sparse(tf, tf.constant([1, 4, 1])), sparse(tf, tf.ones([3], tf.float64))),
    "crop_out": lambda tf: tf.image.crop_to_bounding_box(PICTURES, 4, 0, 3, 2),
    "pad_in": lambda tf: tf.image.pad_to_bounding_box(PICTURES, 1, 0, 6, 9),
    "no_height": lambda tf: tf.image.resize_image_with_crop_or_pad(PICTURES, 0, 2),
    "flat": lambda tf: tf.image.flip_left_right(PICTURES[0, 0]),
    "empty": lambda tf: tf.image.per_image_standardization(np.zeros([0, 3, 3], np.float32)),
    "sizes": lambda tf: tf.image.resize_images(PICTURES, [4, 7, 3]),
    "fraction": lambda tf: tf.image.central_crop(PICTURES, 1.5),
    "boundaries": lambda tf: tf.train.piecewise_constant(number(tf), [3, 5], [0.1, 0.2, 0.3]),
    "values": lambda tf: tf.train.piecewise_constant(step(tf), [3], [0.1, 2]),
    "lengths": lambda tf: tf.train.piecewise_constant(step(tf), [3], [0.1]),
    "no_step": lambda tf: tf.train.exponential_decay(0.1, None, 10, 0.9),
    "cycle": lambda tf: tf.train.polynomial_decay(number(tf), step(tf), number(tf, "steps", "int32"), cycle=True),
    "natural_int": lambda tf: tf.train.natural_exp_decay(0.1, step(tf), 10, 1),
    "no_list": lambda tf: tf.global_norm(x(tf)),
    "clip_type": lambda tf: tf.clip_by_value(x(tf, dtype="int32"), number(tf), number(tf)),
    "clip_shape": lambda tf: tf.clip_by_value(x(tf), np.zeros([5], np.float32), 1.0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_tensorflow_refuses_is_refused(name):
    both_raise(REFUSED[name])


def in_cond(tf):
    t, yes = x(tf), tf.placeholder_with_default(True, [])
    return tf.cond(yes, lambda: tf.clip_by_norm(t, 1.0) + tf.losses.mean_squared_error(t, 2.0 * t), lambda: t)


def in_loop(tf):
    t = x(tf)
    limit = number(tf)
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.clip_by_value(y + t, -limit, limit) * tf.train.exponential_decay(
        0.5, i, 2, 0.9)), [0, t])[1]


def gradient_in_loop(tf):
    t = x(tf)
    y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.clip_by_norm(y * t, 3.0)), [0, t])[1]
    return tf.gradients(y, t)[0]


@pytest.mark.parametrize("program", [in_cond, in_loop, gradient_in_loop])
def test_helpers_work_in_conds_and_loops(program):
    both(program, fed(program), same_nodes=False)


def test_a_helper_in_a_function_captures_tensors():
    def captures(tf):
        limit = tf.constant([1.5])[0]
        return tf.map_fn(lambda row: tf.clip_by_value(row, -limit, limit), tf.constant(X))
    both(captures, same_nodes=False)
    (_, (ours,), _), (_, (theirs,), _) = run(weft, mapped), run(oracle, mapped)
    compare(ours, theirs)


def mapped(tf):
    limit = tf.constant(1.5)
    data = tf.data.Dataset.from_tensor_slices(X).map(lambda row: tf.clip_by_norm(tf.clip_by_value(row, -1.0, limit), limit))
    iterator = tf.data.make_initializable_iterator(data)
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next()
