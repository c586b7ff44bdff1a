"""Names of tensorflow.python modules that no public name shows, and that metrics, layers and optimizers of programs use."""
import os

import numpy as np

from calls_python_modules import module, said
from machine import case


def run(tf, *fetches):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return [sess.run(f) for f in fetches]


@case
def metric_variables(tf):
    impl = module("ops.metrics_impl")
    v = impl.metric_variable([2, 3], tf.float64, name="counts")
    w = impl.metric_variable([], tf.int32, False, name="steps")
    return ([u.name for u in tf.local_variables()], [u.name for u in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)],
            len(tf.trainable_variables()), run(tf, v, w))


@case(nodes=False)
def streaming_confusion_matrix(tf):
    labels, predictions = tf.constant([0, 1, 2, 2, 1]), tf.constant([0, 2, 2, 2, 0])
    matrix, update = module("ops.metrics_impl")._streaming_confusion_matrix(labels, predictions, 3)
    weighted, more = module("ops.metrics_impl")._streaming_confusion_matrix(labels, predictions, 3, tf.constant([1, 2, 3, 4, 5]))
    return run(tf, update, update, matrix, more, weighted), matrix.dtype.base_dtype.name


@case(nodes=False)
def confusion_at_thresholds(tf):
    impl = module("ops.metrics_impl")
    labels, predictions = tf.constant([True, False, True, False]), tf.constant([0.9, 0.8, 0.3, 0.1])
    values, updates = impl._confusion_matrix_at_thresholds(labels, predictions, [0.2, 0.5])
    few, more = impl._confusion_matrix_at_thresholds(labels, predictions, [0.5], weights=[1.0, 2.0, 3.0, 4.0], includes=("tp", "fp"))
    return (run(tf, updates, updates, values, more, few), sorted(values), sorted(few),
            said(impl._confusion_matrix_at_thresholds, labels, predictions, [0.5], None, ("no",)))


@case
def squeezable_dimensions(tf):
    impl = module("ops.metrics_impl")
    found = []
    for shapes in (([3], [3], None), ([3, 1], [3], [3]), ([3], [3, 1], [3, 1]), ([3, 2], [3, 2], [3]), ([3], None, [])):
        given = [None if s is None else tf.zeros(s) for s in shapes]
        found.append([None if t is None else t.shape.as_list() for t in impl._remove_squeezable_dimensions(*given)])
    return found, said(impl._remove_squeezable_dimensions, tf.zeros([3]), tf.zeros([4]), None)


@case
def aggregated_metrics(tf):
    impl = module("ops.metrics_impl")
    made = impl._aggregate_across_replicas(["a", "b"], lambda _, x, y: x + y, tf.constant(1.0), tf.constant(2.0))
    none = impl._aggregate_across_replicas(None, lambda _, x: x, tf.constant(1.0))
    return run(tf, made, none), [t.name for t in tf.get_collection("a")], [t.name for t in tf.get_collection("b")]


@case
def equal_indices(tf):
    optimizer = module("training.optimizer")
    sums, unique = optimizer._deduplicate_indexed_slices(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tf.constant([7, 2, 7]))
    v = tf.get_variable("v", [2])
    return run(tf, [sums, unique]), optimizer._var_key(v) == (v.graph, "v") or optimizer._var_key(v)


@case
def functions_of_single_ops(tf):
    array, math, nn = module("ops.array_ops"), module("ops.math_ops"), module("ops.nn_ops")
    x = tf.constant([[3.0, 1.0, 2.0]])
    fed = tf.placeholder_with_default([[1.0, 2.0]], [None, 2])
    shapes = [array.shape_internal(x), array.shape_internal(fed, optimize=False), array.shape_internal(fed, out_type=tf.int64),
              array.size_internal(x), array.size_internal(fed, name="size"), array.shape_v2(fed), array.shape_v2(x, tf.int64)]
    made = [array.expand_dims_v2(x, 0), array.prevent_gradient(x, "no"), math.bucketize(x, [1.5, 2.5]), math.mat_mul(x, x, False, True),
            nn.nth_element(x, 1), nn.nth_element(x, 0, reverse=True)]
    return run(tf, shapes, made)


@case(nodes=False)
def prevented_gradients(tf):
    x = tf.constant(1.0)
    return said(tf.gradients, module("ops.array_ops").prevent_gradient(x, "no way"), x)


@case
def reduced_shapes(tf):
    math = module("ops.math_ops")
    shape = tf.placeholder_with_default([2, 3, 4], [3])
    return np.asarray(math.reduced_shape([2, 3, 4], [0, -1])).tolist(), run(tf, math.reduced_shape(shape, [0, -1]))


@case
def constants(tf):
    of = module("framework.constant_op").is_constant
    c, x = tf.constant(1.0), tf.placeholder(tf.float32)
    return of(c), of(c.op), of(x), of(x.op)


@case(nodes=False)
def saving_ops(tf):
    io = module("ops.io_ops")
    path = os.path.join(os.getcwd(), "saved")
    saved = io.save_v2(path, ["a", "b"], ["", ""], [tf.constant([1.0, 2.0]), tf.constant(3)])
    with tf.Session() as sess:
        sess.run(saved)
        return sess.run(io.restore_v2(path, ["b", "a"], ["", ""], [tf.int32, tf.float32]))


@case
def variable_ops(tf):
    ref = module("ops.state_ops").variable_op_v2([2], tf.float32, name="raw")
    with tf.Session() as sess:
        sess.run(tf.assign(ref, [1.0, 2.0]))
        return sess.run(ref), ref.name, ref.dtype.name


@case
def words(tf):
    made = module("ops.string_ops").string_split_v2(tf.constant(["a b", "c"]))
    return run(tf, made, module("ops.string_ops").string_split_v2(tf.constant(["a,b,c"]), ",", 1))


@case
def poisson(tf):
    return run(tf, module("ops.random_ops").random_poisson_v2([4], [2.0, 30.0], seed=3))


@case(nodes=False)
def batches(tf):
    ops = module("ops.batch_ops")
    made, index, number = ops.batch([tf.constant([[1.0], [2.0]])], 1, 2, 1000, 0)
    back = ops.unbatch(made[0] * 2.0, index, number, 1000000)
    return run(tf, back, ops.batch_function(1, 2, 1000)(lambda x: x + 1.0)(tf.constant([1.0, 2.0])))


@case(nodes=False)
def behavior_of_two(tf):
    return module("tf2").enabled(), module("tf2").disable()
