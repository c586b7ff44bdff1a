"""More differences that were once found by programs: shapes, savers, tensor arrays, optimizers and 16-bit numbers."""
import os

import numpy as np

from machine import case


def said(call):
    """What a call gives, or the class of what it raises."""
    try:
        return call()
    except Exception as e:  # noqa: BLE001 - the class is compared
        return type(e).__name__


@case
def shapes_of_negative_sizes(tf):
    return [said(lambda n=n: str(tf.TensorShape(n))) for n in ([-1], [-2], [2, -1], -1, [None, -1], "ab", [1.5])] + [
        said(lambda: str(tf.Dimension(-1))), said(lambda: tf.placeholder(tf.float32, [-1, 2]).shape.as_list()),
        said(lambda: tf.TensorShape([None, 2]).is_compatible_with([-1, 2]))]


@case(nodes=False)
def a_saver_given_a_folder(tf):
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    os.makedirs("ck", exist_ok=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [said(lambda: saver.save(session, "ck/")), said(lambda: saver.save(session, "ck/", global_step=3)),
                said(lambda: saver.save(session, "")), said(lambda: saver.save(session, "none/here/m")),
                sorted(os.listdir("ck")), said(lambda: tf.train.latest_checkpoint("ck")),
                said(lambda: tf.train.latest_checkpoint("ck/")), said(lambda: saver.restore(session, "ck/")),
                said(lambda: saver.restore(session, "ck/none"))]


@case
def arrays_read_through_the_first_handle(tf):
    a = tf.TensorArray(tf.float32, 3, clear_after_read=False)
    b = a.write(0, [1.0, 2.0]).write(1, [3.0, 4.0])
    c = b.write(2, [5.0, 6.0])
    with tf.control_dependencies([c.flow]):
        first = a.stack()
    with tf.Session() as session:
        return said(lambda: session.run(first)), said(lambda: session.run(b.stack())), session.run(c.stack())


@case(nodes=False)
def gradients_of_what_is_no_variable(tf):
    v = tf.Variable([1.0, 2.0])
    loss = tf.reduce_sum(v * v)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    return [said(lambda: optimizer.compute_gradients(loss, var_list=[3])), said(lambda: optimizer.compute_gradients(loss, var_list=[])),
            said(lambda: optimizer.compute_gradients(loss, [tf.constant(1.0)])), said(lambda: optimizer.minimize(loss, var_list=["v"])),
            said(lambda: optimizer.compute_gradients(3.0, [v])), said(lambda: optimizer.apply_gradients([])),
            said(lambda: optimizer.apply_gradients([(None, v)])), said(lambda: optimizer.apply_gradients([(v * 2, 3)])),
            said(lambda: len(optimizer.compute_gradients(loss, var_list=(v,)))), said(lambda: optimizer.compute_gradients(v > 0, [v]))]


@case(nodes=False)
def wrong_arguments_of_functional_ops(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    return [said(lambda: tf.map_fn(lambda a: a, 3.0)), said(lambda: tf.cond(tf.constant(True), 1, 2)),
            said(lambda: tf.while_loop(1, lambda i: i, [0])), said(lambda: tf.while_loop(lambda i: i < 2, 1, [0])),
            said(lambda: tf.while_loop(lambda i: i < 2, lambda i: i, [])), said(lambda: tf.case([(tf.constant(True), 1)])),
            said(lambda: tf.case([])), said(lambda: tf.map_fn(lambda a: a, x, parallel_iterations="x"))]


@case(nodes=False)  # a constant in a branch has the control input of the branch beside others
def two_true_exclusive_cases(tf):
    yes, maybe = tf.constant(True), tf.placeholder_with_default(True, [])
    pairs = [(yes, lambda: tf.constant(1)), (maybe, lambda: tf.constant(2))]
    made = tf.case(pairs, exclusive=True, default=lambda: tf.constant(3))
    without = tf.case(pairs, exclusive=True)
    with tf.Session() as session:
        return [said(lambda: session.run(made)), said(lambda: session.run(made, {maybe: False})), said(lambda: session.run(without)),
                said(lambda: session.run(without, {maybe: False})), session.run(tf.case(pairs))]


@case
def names_of_assignments(tf):
    v = tf.get_variable("v", [2], use_resource=True)
    r = tf.get_variable("r", [2])
    made = [tf.assign_add(v, [1.0, 1.0], name="up"), tf.assign_sub(v, [1.0, 1.0], name="down"), tf.assign(v, [1.0, 1.0], name="set"),
            v.assign_add([1.0, 1.0], name="up"), v.assign_sub([1.0, 1.0], name="down"), v.assign([1.0, 1.0], name="set"),
            tf.assign_add(r, [1.0, 1.0], name="up"), tf.assign(r, [1.0, 1.0], name="set"), tf.scatter_add(v, [0], [1.0], name="some"),
            tf.scatter_add(r, [0], [1.0], name="some"), tf.scatter_nd_add(v, [[0]], [1.0], name="nd"),
            tf.scatter_update(v, [0], [1.0], name="u")]
    return [t.name for t in made]


@case
def products_of_tensors_of_unknown_rank(tf):
    a, b = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.arange(36, dtype=np.float32).reshape(4, 3, 3)
    x, y = tf.placeholder_with_default(a, None), tf.placeholder_with_default(b, None)
    made = [tf.tensordot(x, y, 1), tf.tensordot(x, y, [[1], [1]]), tf.tensordot(x, y, [[2, 1], [0, 1]]), tf.tensordot(x, y, 0),
            tf.tensordot(tf.placeholder_with_default(a, [None, 3, None]), y, [[-1], [0]]),
            tf.tensordot(x, b, [[-1], [0]]), tf.tensordot(a, y, [[1, 2], [2, 0]]), tf.tensordot(x, y, tf.constant([[2], [0]]))]
    return made, [t.shape.as_list() if t.shape.ndims is not None else None for t in made]




@case(nodes=False)
def gradients_of_python_functions(tf):
    x, y = tf.constant([1.0, 2.0, 3.0]), tf.constant(2.0)
    z = tf.py_function(lambda a, b: a * a * b, [x, y], tf.float32)
    two = tf.py_function(lambda a, b: [tf.exp(a) * b, tf.reduce_sum(a * b)], [x, y], [tf.float32, tf.float32])
    z.set_shape([3])
    return z, tf.gradients(z, [x, y]), tf.gradients(tf.reduce_sum(two[0]) + two[1], [x, y])


@case(nodes=False)
def what_python_functions_see(tf):
    x, seen = tf.constant([1.0, 2.0]), []

    def look(a, b):
        seen.append((type(a).__name__, a.dtype.name, a.shape.as_list(), bool(b > 1), int(b), float(b), len(a), [float(v) for v in a],
                     str(a), repr(b), float(np.sum(a)), a.numpy().tolist(), tf.executing_eagerly(), "%d" % b, f"{b:.2f}"))
        drawn = tf.random_uniform([])
        kept = abs(float(drawn + 1) - float(drawn) - 1) < 1e-6
        return (tf.reduce_sum(a) if b > 1 else a[0]) * b * float(kept)
    made = [tf.py_function(look, [x, y], tf.float32) for y in (0.5, 2.0)]
    with tf.Session() as session:
        return session.run(made), sorted(seen), tf.executing_eagerly()


@case(nodes=False)
def errors_in_python_functions(tf):
    def fails(e):
        def function(x):
            raise e
        return function
    kinds = [ValueError, TypeError, KeyError, StopIteration, NotImplementedError, MemoryError, RuntimeError, ZeroDivisionError]
    with tf.Session() as session:
        return [said(lambda k=k, f=f: session.run(f(fails(k("a")), [1.0], tf.float32))) for k in kinds
                for f in (tf.py_func, tf.py_function)] + [
            said(lambda r=r, f=f: session.run(f(lambda x: r, [1.0], tf.float32))) for r in (None, "text", [1.0, 2.0])
            for f in (tf.py_func,)]


@case(nodes=False)  # the placeholders are nodes that call Python
def nodes_of_numpy_inputs(tf):
    make = tf.estimator.inputs.numpy_input_fn
    x = {"a": np.arange(12, dtype=np.float32).reshape(6, 2), "b": np.arange(6)}
    found = []
    for options in ({"shuffle": False}, {"shuffle": True}, {"shuffle": False, "num_epochs": 2, "batch_size": 4},
                    {"shuffle": True, "num_epochs": None, "batch_size": 4}):
        features, labels = make(x, np.arange(6) * 2, **options)()
        found.append(({k: (v.name, v.shape.as_list(), v.dtype.name) for k, v in features.items()}, labels.name))
    return found, [n.name for n in tf.get_default_graph().as_graph_def().node], [
        q.name for q in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)], [
        v.name for v in tf.get_collection(tf.GraphKeys.SUMMARIES)], tf.random_uniform([2])


@case(nodes=False)
def gradients_of_losses_where_logits_are_zero(tf):
    y, x = tf.constant([0.0, 1.0, 0.5]), tf.zeros([3])
    made = [tf.losses.sigmoid_cross_entropy(y, x), tf.losses.sigmoid_cross_entropy(y, x, 2.0, label_smoothing=0.2),
            tf.losses.hinge_loss(y, x), tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x),
            tf.nn.weighted_cross_entropy_with_logits(y, x, 2.0)]
    with tf.Session() as session:
        return session.run([made, tf.gradients(made[:1], x), [tf.gradients(m, x)[0] for m in made]])


@case(nodes=False)
def names_of_files_that_match(tf):
    os.makedirs("sub")
    for name in ("a1.csv", "a2.csv", "sub/a3.csv"):
        with open(name, "w") as f:
            f.write(name)
    patterns = ["a*.csv", "./a*.csv", "sub/a*", "*/a3.csv", "a1.csv", "*/*", "a[12].csv", "none*"]
    found = [tf.matching_files(p) for p in [*patterns, ["a1*", "sub/*"]]]
    listed = tf.data.Dataset.list_files("a*.csv", shuffle=False).make_one_shot_iterator().get_next()
    once = tf.train.match_filenames_once("a*.csv")
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        return session.run([found, listed, once]), [tf.gfile.Glob(p) for p in patterns]
