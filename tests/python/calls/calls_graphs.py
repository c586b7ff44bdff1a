"""Variables, scopes, collections, sessions, devices, control."""
import numpy as np

from machine import case


@case
def variables(tf):
    a = tf.Variable(tf.zeros([2]), name="a")
    b = tf.Variable([1, 2], dtype=tf.float32, trainable=False)
    c = tf.Variable(initial_value=3, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="c", trainable=False)
    return [a, b, c, tf.Variable(0.5), a.initializer, b.initial_value, a.name, a.op.name, a.device, a + b, a[0],
            a.get_shape(), a.dtype.name, a.value(), a.read_value(), a.initialized_value()]


@case
def assignments(tf):
    v, w = tf.Variable([1.0, 2.0]), tf.get_variable("w", [2], initializer=tf.ones_initializer())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(o) for o in (tf.assign(v, [3.0, 4.0]), v.assign_add([1.0, 1.0]), v.assign_sub([0.5, 0.5]),
                                      w.assign(v), w.assign_add([1.0, 1.0]), v)]


@case
def getting_variables(tf):
    a = tf.get_variable("a", [2, 2], initializer=tf.constant_initializer(0.3))
    b = tf.get_variable("b", [3], tf.float32, initializer=tf.random_normal_initializer(), trainable=False)
    c = tf.get_variable(name="c", shape=[2], dtype=tf.float32, initializer=tf.truncated_normal_initializer(stddev=0.1),
                        collections=["variables"])
    d = tf.get_variable("d", [1], tf.int32, initializer=tf.constant_initializer(2, dtype=tf.int32))
    e = tf.get_variable("e", initializer=tf.truncated_normal_initializer(stddev=0.1, dtype=tf.float32), shape=[2])
    f = tf.get_variable("f", [2, 2], tf.float32, initializer=tf.constant_initializer([[1., 2.], [3., 4.]]))
    return [a, b, c, d, e, f, tf.get_variable("g", [2, 3]), tf.get_variable("h", [2], tf.float32, tf.ones_initializer()),
            tf.get_variable("i", initializer=[1.0, 2.0])]


@case
def scopes(tf):
    with tf.variable_scope("s"):
        a = tf.get_variable("a", [1], initializer=tf.constant_initializer(1.0))
        tf.get_variable_scope().reuse_variables()
        same = tf.get_variable("a", [1])
    with tf.variable_scope("s", reuse=True) as scope:
        again = tf.get_variable("a", [1])
        x = tf.constant(1, name="x")
    with tf.variable_scope(scope), tf.name_scope("n") as name:
        y = tf.constant(2, name="y")
    with tf.variable_scope("p", partitioner=None):
        b = tf.get_variable("b", [2], initializer=tf.constant_initializer(2.0))
    return [a, a is same, a is again, x, y, b, scope.name, scope.reuse, name, tf.get_variable_scope().name]


@case
def scope_errors(tf):
    said = []
    with tf.variable_scope("s"):
        tf.get_variable("a", [1])
    for attempt in (lambda: tf.get_variable("a", [1]), lambda: tf.get_variable("b", [1])):
        with tf.variable_scope("s", reuse=True if said else None):
            try:
                attempt()
            except ValueError as e:
                said.append((type(e).__name__, str(e).split(".")[0].split(",")[0]))
    return said


@case
def collections(tf):
    a, b = tf.Variable(1.0, name="x/a"), tf.Variable(2.0, trainable=False, name="b")
    c = tf.Variable(3.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    tf.add_to_collection("losses", a)
    tf.add_to_collection("losses", b)
    keys = [tf.GraphKeys.TRAINABLE_VARIABLES, tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.LOCAL_VARIABLES,
            tf.GraphKeys.QUEUE_RUNNERS, tf.GraphKeys.UPDATE_OPS]
    return [tf.get_collection("losses"), tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="x"),
            tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, "b"), [len(tf.get_collection(k)) for k in keys], keys,
            tf.trainable_variables(), tf.global_variables(), tf.all_variables(), tf.local_variables(), c,
            tf.moving_average_variables()]


@case
def initializers(tf):
    a, b = tf.Variable(1.0), tf.Variable(2.0, collections=["local_variables"], trainable=False)
    made = [tf.global_variables_initializer(), tf.local_variables_initializer(), tf.variables_initializer([a]),
            tf.initialize_all_variables(), tf.tables_initializer()]
    with tf.Session() as sess:
        sess.run(made[:2])
        return made + [sess.run([a, b])]


@case
def placeholders(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.int64, shape=[3])
    z = tf.placeholder(dtype=tf.float32, shape=None, name="z")
    anything = tf.placeholder(tf.string)
    sums = [tf.reduce_sum(x), y + 1, z * 2]
    with tf.Session() as sess:
        got = sess.run(sums + [tf.identity(anything)], feed_dict={x: [[1, 2], [3, 4]], "z:0": 2.5, y: np.arange(3), anything: "text"})
    return [got, [(t.name, t.dtype, t.get_shape()) for t in (x, y, z, anything)]]


@case
def sessions(tf):
    x = tf.placeholder(tf.float32, name="x")
    v = tf.Variable(2.0, name="v")
    double, init = x * v, tf.global_variables_initializer()
    sess = tf.Session(config=tf.ConfigProto(log_device_placement=False))
    sess.run(init)
    out = [sess.run(double, {x: 3.0}), sess.run([double, [v, (v, {"k": v})]], feed_dict={x: [1.0]}), sess.run({"a": v}),
           sess.run(init), sess.run("v:0"), sess.run((v,)), sess.graph is tf.get_default_graph(), v.eval(session=sess)]
    with sess.as_default():
        out += [v.eval(), double.eval({x: 1.0}), init.run(), tf.get_default_session() is sess]
    sess.close()
    with tf.Session("", graph=tf.get_default_graph()) as other:
        other.run(v.initializer)
        out += [other.run(v), other.run(double, feed_dict={"x:0": 4})]
    return out


@case
def graphs(tf):
    g = tf.Graph()
    with g.as_default():
        c = tf.constant(4.0, name="c")
        inside = tf.get_default_graph() is g
        nothing = tf.no_op()
    with tf.Session(graph=g) as sess:
        value = sess.run(c)
    return [inside, value, c.name, c.graph is g, nothing.name, nothing.type, [o.name for o in g.get_operations()],
            g.get_tensor_by_name("c:0").name, g.get_operation_by_name("c").type]


@case
def devices(tf):
    with tf.device("/job:ps/task:1"):
        a = tf.constant(1.0)
        with tf.device("/cpu:0"):
            b = tf.constant(2.0)
    with tf.device(lambda op: "/job:worker" if op.type == "Const" else ""):
        c = tf.constant(3.0)
    with tf.device("/gpu:1"), tf.device(None):
        d = tf.constant(4.0)
    return [t.device for t in (a, b, c, d)]


@case
def control(tf):
    v = tf.Variable(0.0)
    add = tf.assign_add(v, 1.0)
    with tf.control_dependencies([add]):
        after = tf.identity(v.read_value(), name="after")
        nothing = tf.no_op()
    both = tf.group(add, nothing)
    made = [tf.group(both), tf.group(add, both, nothing, name="all"), tf.group(add.op)]
    with tf.Session() as sess:
        sess.run(v.initializer)
        return made + [both, sess.run(after), sess.run(both), sess.run(v), nothing]


@case
def conditions(tf):
    x = tf.placeholder_with_default(3.0, [])
    y = tf.cond(x > 2.0, lambda: x * 2.0, lambda: x - 1.0)
    z = tf.cond(tf.less(x, 2.0), lambda: (x, tf.constant(1)), lambda: (x + 1.0, tf.constant(2)))
    return [y, list(z)]


@case(nodes=False)  # 2.15 leaves out reshapes that 1.x had
def gradients(tf):
    x, y = tf.constant([1.0, 2.0]), tf.Variable(3.0)
    z = tf.reduce_sum(x * x * y)
    with tf.Session() as sess:
        sess.run(y.initializer)
        return [sess.run(tf.gradients(z, [x, y])), sess.run(tf.gradients(z, x)), tf.gradients(tf.constant(1.0), [x])]


@case
def queues(tf):
    q = tf.FIFOQueue(4, tf.int32, shared_name="done0")
    many = tf.FIFOQueue(capacity=3, dtypes=[tf.float32, tf.int32], shapes=[[2], []])
    with tf.Session() as sess:
        sess.run([q.enqueue(5), many.enqueue_many([[[1.0, 2.0], [3.0, 4.0]], [7, 8]])])
        got = [sess.run(q.dequeue()), sess.run(many.size()), sess.run(many.dequeue_many(2))]
        sess.run(q.close())
        try:
            sess.run(q.dequeue())
        except tf.errors.OutOfRangeError as e:
            got.append(e)
    return got + [q.name, q.dtypes, many.names]


@case
def versions(tf):
    return [tf.__version__.count("."), tf.VERSION.count("."), isinstance(tf.VERSION, str)]


@case
def resetting(tf):
    """Not inside a graph that was entered; there the default one is nobody's."""
    before = tf.get_default_graph()
    try:
        tf.reset_default_graph()
    except AssertionError as e:
        return [e, tf.get_default_graph() is before]
    return None
