"""Differences that programs of random pieces found: losses of other types, norms of matrices, indices, masks and static values."""
import numpy as np

from calls_differences_texts import text
from machine import case


def ran(tf, make, feeds=None):
    """The shape, the type and the value of what is made, or its error."""
    def call():
        made = make()
        with tf.Session() as session:
            return made.shape.as_list() if made.shape.ndims is not None else None, made.dtype.name, session.run(made, feeds)
    return text(call)


@case(nodes=False)
def losses_of_other_types(tf):
    a, b = np.array([[1.5, 2.25, -0.5]]), np.array([[1, 1, 2]])
    kinds = (tf.losses.mean_squared_error, tf.losses.absolute_difference, tf.losses.hinge_loss, tf.losses.huber_loss,
             tf.losses.log_loss, tf.losses.mean_pairwise_squared_error, tf.losses.sigmoid_cross_entropy, tf.losses.softmax_cross_entropy)
    made = [ran(tf, lambda: loss(a.astype(labels), b.astype(logits), weights=weights))
            for loss in kinds for labels, logits in ((np.float32, np.int32), (np.float32, np.float64), (np.int64, np.float32))
            for weights in (0.5, np.array([[1, 0, 1]] if loss is not tf.losses.softmax_cross_entropy else [2]))]
    return made + [ran(tf, lambda: tf.losses.mean_squared_error(a, b, weights=[[True, False, True]], reduction=kind))
                   for kind in ("none", "weighted_sum", "weighted_mean", "weighted_sum_over_batch_size")]


@case(nodes=False)
def losses_of_shapes_known_late(tf):
    free, part = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, None])
    values = np.array([[0.5, 1.0, -1.0], [2.0, 0.0, 0.25]], np.float32)
    feeds = {free: values, part: values[::-1]}
    return [ran(tf, make, feeds) for make in (
        lambda: tf.losses.mean_pairwise_squared_error(free, part),
        lambda: tf.losses.mean_pairwise_squared_error(part, free, weights=[[1.0], [0.5]]),
        lambda: tf.losses.mean_pairwise_squared_error(1.0, 2.0), lambda: tf.losses.softmax_cross_entropy(part, part, label_smoothing=0.2),
        lambda: tf.gradients(tf.losses.softmax_cross_entropy(part, part * 2.0, label_smoothing=0.2), part)[0])]


@case(nodes=False)
def norms_of_matrices(tf):
    x = tf.constant([[[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], [[2.0, 2.0, -7.0], [1.0, 0.0, 3.0]]])
    free = tf.placeholder(tf.float32)
    made = [ran(tf, lambda: tf.norm(x, ord, axis, keepdims=keep)) for ord in ("euclidean", "fro", 1, 2, np.inf, 3.5, "z", -1, 0)
            for axis in (None, 0, -1, (1, 2), (-2, -1), [2, 0], (0, 0), (0, 1, 2), 1.5) for keep in (None, True)]
    made = [m[1:] if m[0] not in ("ValueError", "TypeError") else m for m in made]  # Weft knows more shapes of 2-norms
    return made + [tf.norm(free).shape.ndims, tf.norm(free, axis=[0, 1]).shape.ndims, tf.norm(free, ord=1, keepdims=True).shape.ndims]


@case(nodes=False)
def bounds_that_are_no_integers(tf):
    x, v = tf.constant([[1, 2, 3], [4, 5, 6]]), tf.get_variable("v", initializer=[1.0])
    bounds = [tf.constant(1), tf.constant(1, tf.int64), tf.constant(1, tf.int16), tf.constant(1, tf.uint8), tf.constant(1.0),
              tf.constant([1]), tf.constant(True), tf.placeholder(tf.float32), tf.placeholder(tf.int32), 1.0, "a", np.float32(1),
              np.array(1), tf.constant("a"), tf.Dimension(1)]
    made = [text(lambda: take(b)) for b in bounds for take in (lambda b: x[b], lambda b: x[b:], lambda b: x[:, :b], lambda b: x[::b])]
    made += [text(lambda: x[v:])[:1], text(lambda: x[v])[:1]]
    return [m if isinstance(m, tuple) else m.shape.ndims if m.shape.ndims is None else m.shape.as_list() for m in made]


@case(nodes=False)
def masks_of_numbers(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return [ran(tf, make) for make in (
        lambda: tf.where(x - 1.0), lambda: tf.where([1, 0, 2]), lambda: tf.where([True, False]),
        lambda: tf.where(tf.constant([0, 3], tf.int64)), lambda: tf.boolean_mask(x, [1, 0]),
        lambda: tf.boolean_mask(x, tf.constant([0.0, 2.0])), lambda: tf.boolean_mask(x, [[1, 0], [0, 1]]))]


@case(nodes=False)
def what_is_known_of_values(tf):
    static = tf.get_static_value
    v, c, s = tf.constant([3, 1]), tf.constant([[1, 2], [3, 4]]), tf.placeholder(tf.float32, [2, 3])
    return [static(t) for t in (
        v, tf.identity(v), tf.stop_gradient(v), tf.shape(s), tf.size(s), tf.rank(s), tf.range(3), tf.cast(c, tf.float32),
        tf.concat([v, v], 0), tf.stack([v, v]), tf.stack([2, tf.size(s)]), tf.unstack(c)[1], tf.split(v, 2)[0], tf.fill([2], 7),
        tf.equal(v, v), tf.not_equal(v, v), v + 1, -v, v[0], tf.shape(s)[0], tf.reshape(c, [4]), tf.reduce_sum(v),
        tf.transpose(c), tf.less(v, 2), tf.one_hot(1, 3), tf.eye(2),
        tf.reverse(v, [0]), tf.string_join(["a", "b"]), tf.logical_not(True), tf.placeholder_with_default(3, []))]


@case(nodes=False)
def shapes_of_sparse_results(tf):
    x = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])
    made = (tf.string_split(["a b"]), tf.sparse_reduce_max_sparse(x, 0), tf.sparse_reshape(x, [3, 2]), tf.sparse_transpose(x),
            tf.sparse_slice(x, [0, 0], [1, 1]), tf.sparse_concat(0, [x, x]), tf.sparse_add(x, x), tf.sparse_reorder(x),
            tf.sparse_softmax(x), tf.sparse_retain(x, [True, False]), tf.sparse_reset_shape(x), tf.sparse_fill_empty_rows(x, 0.0)[0],
            tf.deserialize_many_sparse(tf.serialize_many_sparse(x), tf.float32),
            tf.nn.ctc_greedy_decoder(tf.zeros([3, 2, 4]), [3, 2])[0][0])
    return [None if m.shape.ndims is None else m.shape.as_list() for m in made]


@case(nodes=False)
def sparse_arguments_that_do_not_fit(tf):
    x = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])
    return [text(call) for call in (
        lambda: tf.sparse_retain(x, [True]), lambda: tf.sparse_reshape(x, [-1, -1]),
        lambda: tf.sparse_transpose(x, [0]), lambda: tf.PaddingFIFOQueue(2, tf.int32, None),
        lambda: tf.decode_csv(["1,2"], [[0], [0]], select_cols=[1]), lambda: tf.decode_csv(["1,2"], [[0], [0]], select_cols=[1, 0]))] + [
            text(lambda: tf.tile(tf.ragged.constant([[1], [2, 3]]), [2]))[0], text(lambda: tf.sparse_retain(x, [[True, False]]))[0]]


@case(nodes=False)
def inputs_of_the_wrong_type(tf):
    i, f, v = tf.constant([1, 2]), tf.constant([1.0, 2.0]), tf.get_variable("v", initializer=[1.0, 2.0])
    r = tf.get_variable("r", initializer=[1.0, 2.0], use_resource=True)
    return [text(call) for call in (
        lambda: tf.reduce_any(i), lambda: tf.reduce_all(v), lambda: tf.reduce_all(r), lambda: tf.where(v, f, f), lambda: tf.not_equal(i, v),
        lambda: tf.not_equal(i, r), lambda: tf.concat([i, f], 0), lambda: tf.stack([i, f]), lambda: tf.stack([i, v]),
        lambda: tf.dynamic_partition(f, v, 2), lambda: tf.dynamic_stitch([i, f], [f, f]), lambda: tf.dynamic_stitch([i, i], [f, i]),
        lambda: tf.accumulate_n([i, f]), lambda: tf.accumulate_n([f, tf.ones([3])]), lambda: tf.add_n([i, f]),
        lambda: tf.metrics.mean_squared_error(i, f),
        lambda: tf.metrics.mean_absolute_error(i, f),
        lambda: tf.losses.softmax_cross_entropy([i], [i]), lambda: tf.losses.sigmoid_cross_entropy(i, i),
        lambda: tf.losses.sparse_softmax_cross_entropy([1], [i]))] + [text(call)[0] for call in (
            lambda: tf.div(i, f), lambda: tf.truediv(i, f), lambda: tf.floordiv(i, f), lambda: i / f, lambda: i // f,
            lambda: tf.metrics.mean_relative_error(f, f, i), lambda: tf.reduce_any([1, 0]))]


@case(nodes=False)
def confusion_matrices(tf):
    three, late = tf.constant([[0], [2], [1]]), tf.placeholder(tf.int32)
    return [ran(tf, make, {late: [0, 1, 1]}) for make in (
        lambda: tf.confusion_matrix(three, [0, 1, 1]), lambda: tf.confusion_matrix([0, 1, 1], three, 4),
        lambda: tf.confusion_matrix(late, late, 3), lambda: tf.confusion_matrix([0, 1], [1, 0], weights=[1.0]),
        lambda: tf.confusion_matrix([0, 1], [1, 0], 2, weights=[0.5, 2.0], dtype=tf.float32))] + [
            text(lambda: tf.confusion_matrix(*classes))[0] for classes in (([0, 3], [0, 1], 3), ([0, 1], [0, 3], 3), ([-1, 0], [0, 1]))]


@case(nodes=False)
def feeds_of_the_wrong_kind(tf):
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.Session() as session:
        return [text(lambda: session.run(x + y, feed)) for feed in (3, {(x, y): (1.0, 2.0)}, {(x, y): [1.0, 2.0]})] + [
            text(lambda: session.run(x + y, feed))[0] for feed in ({(x, y): 3.0}, {(x, y): (1.0, 2.0, 3.0)})]


@case(nodes=False)
def mirrored_pictures_of_unknown_rank(tf):
    x = tf.placeholder(tf.float32)
    made = tf.pad(x, [[1, 1], [0, 1]], "REFLECT"), tf.pad(x, [[1, 1], [0, 1]], "SYMMETRIC"), tf.pad(x, [[1, 1], [0, 1]])
    with tf.Session() as session:
        return [m.shape.as_list() for m in made], session.run(made, {x: [[1.0, 2.0], [3.0, 4.0]]})


@case(nodes=False)
def names_of_relu_layers(tf):
    x = tf.ones([1, 2])
    made = tf.nn.crelu(x), tf.nn.crelu(x, name="c"), tf.nn.relu_layer(x, tf.ones([2, 2]), [1.0, 2.0])
    return [m.name for m in made], [o.name for m in made for o in m.op.inputs]


def shape_or_error(call):
    made = text(call)
    return made[0] if isinstance(made, tuple) else None if made.shape.ndims is None else made.shape.as_list()


@case(nodes=False)
def shapes_of_inputs_known_in_part(tf):
    def p(*dims):
        return tf.placeholder(tf.float32, None if dims == (0,) else dims)

    def ints(*dims):
        return tf.cast(p(*dims), tf.int32)
    pictures, filters = (p(0), p(1, 5, 4, 2), p(1, None, 4, 2)), (p(0), p(2, 2, 2), p(None, 2, 2), p(2, 2, None))
    logits = (p(0), p(2, 3), p(None, 3), p(2, None), p(3), p(2, 3, 2))
    indices = ints(2, 2), ints(None, 2), ints(3), ints(0)
    return [shape_or_error(call) for call in [lambda x=x: tf.unravel_index(x, [3, 4]) for x in indices]
            + [lambda x=x, f=f: tf.nn.dilation2d(x, f, [1] * 4, [1] * 4, "SAME") for x in pictures for f in filters]
            + [lambda x=x: tf.extract_image_patches(x, [1, 2, 2, 1], [1] * 4, [1] * 4, "SAME") for x in pictures]
            + [lambda x=x, d=d: tf.matrix_set_diag(x, d) for x in (p(0), p(None, 3), p(2, 3, 4)) for d in (p(0), p(3), p(2, 3), p(2, 3, 4))]
            + [lambda x=x, b=b: tf.space_to_batch_nd(x, b, [[0, 0], [0, 0]]) for x in (p(0), p(1, 4, 4, 1)) for b in ([2, 2], [0, 1])]
            + [lambda d=d: tf.scatter_nd(ints(2, d), p(2), [4, 3]) for d in (2, 3)]
            + [lambda a=a, b=b, axis=axis: tf.nn.softmax_cross_entropy_with_logits_v2(labels=a, logits=b, axis=axis)
               for a in (*logits[:4], logits[5]) for b in logits for axis in (-1, 0)]]


@case(nodes=False)
def dense_features_of_another_width(tf):
    column = tf.feature_column.numeric_column("m")
    return text(lambda: tf.keras.layers.DenseFeatures([column])({"m": tf.ones([4, 2])}))[0]
