"""What TensorFlow's own unit tests look at: scopes, control flow, sessions, queues, savers and tensor arrays."""
import os
import threading

import numpy as np

from machine import case


def said(call, *args, **kwargs):
    """What a call gives, or the class of what it raises."""
    try:
        made = call(*args, **kwargs)
    except Exception as e:  # noqa: BLE001 - that is the question
        return type(e).__name__
    return "Tensor of %s" % made.dtype.name if hasattr(made, "op") and hasattr(made, "dtype") else made


def names(xs):
    return [x.name for x in xs]


# ---- variable scopes ----

@case
def scopes_nest_and_are_entered_again(tf):
    with tf.variable_scope("a") as a:
        v = tf.get_variable("v", [1])
        with tf.variable_scope("b", reuse=False) as b:
            w = tf.get_variable("v", [2])
    with tf.variable_scope(a, reuse=True):
        again = tf.get_variable("v", [1])
        with tf.variable_scope("b"):
            deep = tf.get_variable("v", [2])
        inside = tf.add(1.0, 2.0, name="op")
    with tf.variable_scope(b):
        outside = tf.add(1.0, 2.0, name="op")
    with tf.variable_scope("x"):
        with tf.variable_scope(a) as same:
            third = tf.add(1.0, 2.0, name="op")
    return names([v, w, again, deep, inside, outside, third]), again is v, deep is w, same.name, same.original_name_scope,
    b.original_name_scope


@case
def default_names_of_scopes(tf):
    found = []
    for _ in range(2):
        with tf.variable_scope(None, "d") as s:
            found.append((s.name, tf.get_variable("v", [1]).name))
            with tf.variable_scope(None, "d") as t:
                found.append((t.name, tf.get_variable("v", [1]).name))
    with tf.variable_scope(None, default_name="d", values=[tf.constant(1)]) as s:
        found.append(s.name)
    with tf.variable_scope("d", "other") as s:
        found.append(s.name)
    return found, said(lambda: tf.variable_scope(None).__enter__())


@case
def reuse_rules(tf):
    with tf.variable_scope("r"):
        tf.get_variable("v", [1])
    found = []
    with tf.variable_scope("r"):
        found.append(said(lambda: tf.get_variable("v", [1]).name))
    with tf.variable_scope("r", reuse=True):
        found += [said(lambda: tf.get_variable("w", [1]).name), said(lambda: tf.get_variable("v", [2]).name),
                  said(lambda: tf.get_variable("v", [1], dtype=tf.int32).name), said(lambda: tf.get_variable("v").name)]
        with tf.variable_scope("q", reuse=False):
            found.append(said(lambda: tf.get_variable("v", [1]).name))
    with tf.variable_scope("r", reuse=tf.AUTO_REUSE) as s:
        found += [tf.get_variable("v", [1]).name, tf.get_variable("w", [1]).name, s.reuse == tf.AUTO_REUSE]
        with tf.variable_scope("in"):
            found += [tf.get_variable("v", [1]).name, tf.get_variable("v", [1]).name]
    with tf.variable_scope("r") as s:
        s.reuse_variables()
        found += [tf.get_variable("v", [1]).name, s.reuse]
    return found


@case
def what_scopes_hand_down(tf):
    with tf.variable_scope("s", initializer=tf.constant_initializer(0.3), dtype=tf.float64, regularizer=None) as s:
        v = tf.get_variable("v", [2])
        with tf.variable_scope("t", initializer=tf.constant_initializer(4.0)) as t:
            w = tf.get_variable("w", [2])
            x = tf.get_variable("x", [2], initializer=tf.ones_initializer(), dtype=tf.float32)
        s.set_initializer(tf.zeros_initializer())
        y = tf.get_variable("y", [1])
        s.set_dtype(tf.float32)
        z = tf.get_variable("z", [1])
    return [v, w, x, y, z], t.dtype, s.dtype


@case
def custom_getters_see_every_variable(tf):
    seen = []

    def outer(getter, name, *args, **kwargs):
        seen.append(("outer", name, kwargs["shape"], kwargs["trainable"]))
        return getter(name, *args, **kwargs)

    def inner(getter, name, *args, **kwargs):
        seen.append(("inner", name))
        kwargs["trainable"] = False
        return getter(name + "_made", *args, **kwargs)
    with tf.variable_scope("a", custom_getter=outer):
        with tf.variable_scope("b", custom_getter=inner):
            v = tf.get_variable("v", [1])
        w = tf.get_variable("w", [1], custom_getter=inner)
        x = tf.get_variable("x", [1])
    return seen, names([v, w, x]), names(tf.trainable_variables())


@case
def scopes_as_arguments_of_layers(tf):
    x = tf.ones([1, 2])
    with tf.variable_scope("s") as s:
        tf.layers.dense(x, 2)
        tf.layers.dense(x, 2)
        tf.layers.dense(x, 2, name="n")
    with tf.variable_scope(s, reuse=True):
        tf.layers.dense(x, 2)
        tf.layers.dense(x, 2, name="n")
    with tf.variable_scope("s"):
        tf.layers.dense(x, 3, name="m")
    return names(tf.global_variables()), said(lambda: tf.layers.dense(x, 2, name="n2", reuse=True).name)


@case
def name_scopes(tf):
    found = []
    with tf.name_scope("a") as a:
        found.append((a, tf.constant(1).name))
        with tf.name_scope("b") as b:
            found.append((b, tf.constant(1).name))
        with tf.name_scope("b") as b:
            found.append((b, tf.constant(1, name="b").name))
        with tf.name_scope(None) as n:
            found.append((n, tf.constant(1, name="root").name))
    with tf.name_scope(a):
        found.append(tf.constant(1, name="back").name)
    with tf.name_scope("a/b"):
        found.append(tf.constant(1, name="slash").name)
    with tf.name_scope(None, "given", [tf.constant(2)]) as g:
        found.append(g)
    with tf.name_scope("mine", "given", [tf.constant(2)]) as g:
        found.append(g)
    graph = tf.get_default_graph()
    found += [graph.unique_name("a"), graph.unique_name("new"), graph.unique_name("new"), graph.unique_name("new", mark_as_used=False),
              graph.unique_name("New")]
    return found, said(lambda: tf.constant(1, name="_x")), said(lambda: tf.constant(1, name="a b")), said(
        lambda: tf.name_scope("a b").__enter__())


@case
def collections_by_scope(tf):
    with tf.variable_scope("net"):
        tf.get_variable("v", [1])
        with tf.variable_scope("nets"):
            tf.get_variable("v", [1], trainable=False)
    with tf.variable_scope("network"):
        tf.get_variable("v", [1], collections=["mine"])
    get = lambda *a: names(tf.get_collection(*a))  # noqa: E731
    return (get(tf.GraphKeys.GLOBAL_VARIABLES, "net"), get(tf.GraphKeys.GLOBAL_VARIABLES, "net/"), get("mine"), get("none"),
            names(tf.global_variables(scope="nets")), names(tf.trainable_variables("net.*")), sorted(
                tf.get_default_graph().get_all_collection_keys()))


# ---- control flow ----

@case(nodes=False)
def conds(tf):
    p = tf.placeholder_with_default(True, [])
    v = tf.get_variable("v", initializer=1.0)
    log = []
    with tf.Session() as s:
        s.run(v.initializer)
        plus = tf.cond(p, lambda: tf.assign_add(v, 10.0), lambda: tf.identity(v))
        pair = tf.cond(p, lambda: (v + 1.0, tf.constant([1])), lambda: (v + 2.0, tf.constant([2, 3])))
        dictionary = tf.cond(p, lambda: {"a": v, "b": [v * 2.0]}, lambda: {"a": v, "b": [v * 3.0]})
        nested = tf.cond(p, lambda: tf.cond(tf.logical_not(p), lambda: 1, lambda: 2), lambda: 3)
        none = tf.cond(p, lambda: tf.no_op(), lambda: tf.no_op())
        for q in (True, False):
            log += [s.run(plus, {p: q}), [x.tolist() for x in s.run(list(pair), {p: q})], s.run(dictionary, {p: q}), s.run(nested,
                    {p: q}),
                    s.run(none, {p: q}), s.run(v)]
        x = tf.placeholder_with_default(3.0, [])
        g = tf.gradients(tf.cond(x > 2.0, lambda: x * x, lambda: -x), x)[0]
        log += [s.run(g), s.run(g, {x: 1.0})]
    return log, [said(lambda: tf.cond(p, lambda: 1, lambda: 1.0)), said(lambda: tf.cond(p, lambda: (1, 2), lambda: 1)),
                 said(lambda: tf.cond(p, lambda: None, lambda: None)), said(lambda: tf.cond(True, 1, 2)),
                 said(lambda: tf.cond(tf.constant([True, False]), lambda: 1, lambda: 2)), pair[1].shape]


@case(nodes=False)
def whiles(tf):
    log = []
    n = tf.placeholder_with_default(5, [])
    with tf.Session() as s:
        r = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, {"k": a["k"] * 2.0}), (tf.constant(0), {"k": tf.ones([2])}))
        log += [s.run(r), s.run(r, {n: 0})]
        most = tf.while_loop(lambda i: True, lambda i: i + 1, [tf.constant(0)], maximum_iterations=4)
        grow = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.concat([x, x], 0)), [tf.constant(0), tf.ones([1, 2])],
                             shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])
        log += [s.run(most), s.run(grow[1]).shape, grow[1].shape.as_list()]
        x = tf.constant(2.0)
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [tf.constant(0), tf.constant(1.0)], parallel_iterations=1)[1]
        log += [s.run([y, tf.gradients(y, x)[0]])]
        nested = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, tf.while_loop(
            lambda j, u: j < i, lambda j, u: (j + 1, u + x), [tf.constant(0), t])[1]), [tf.constant(0), tf.constant(0.0)])[1]
        log += [s.run([nested, tf.gradients(nested, x)[0]])]
    return log, [said(lambda: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.concat([x, x], 0)), [tf.constant(0),
                 tf.ones([1])])),
                 said(lambda: tf.while_loop(lambda i: i < 3, lambda i: (i, i), [tf.constant(0)])),
                 said(lambda: tf.while_loop(lambda: True, lambda: 1, [])), said(lambda: tf.while_loop(1, lambda i: i, [tf.constant(0)]))]


@case(nodes=False)
def side_effects_in_loops(tf):
    v = tf.get_variable("v", initializer=0)

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, i)]):
            return i + 1
    loop = tf.while_loop(lambda i: i < 5, body, [tf.constant(1)])
    case_ = tf.case([(tf.equal(v, 10), lambda: tf.constant(1)), (v > 3, lambda: tf.constant(2))], default=lambda: tf.constant(3))
    with tf.Session() as s:
        s.run(v.initializer)
        return s.run(case_), s.run(loop), s.run(v), s.run(case_), s.run(tf.assign(v, 5)), s.run(case_)


@case
def control_dependencies_in_scopes(tf):
    a, b = tf.no_op(name="a"), tf.no_op(name="b")
    with tf.control_dependencies([a]):
        c = tf.constant(1, name="c")
        with tf.control_dependencies([b]):
            d = tf.constant(1, name="d")
            with tf.control_dependencies(None):
                e = tf.constant(1, name="e")
        f = tf.identity(d, name="f")
        with tf.control_dependencies([c]):
            g = tf.identity(c, name="g")
    return [names(t.op.control_inputs) for t in (c, d, e, f, g)], tf.group(a, c, d).name, tf.tuple([c, d])[0].name


@case(nodes=False)
def maps_and_scans(tf):
    x = tf.constant([[1.0, 2], [3, 4], [5, 6]])
    made = [tf.map_fn(lambda r: r * 2.0, x), tf.map_fn(lambda p: (p[0] + p[1], p[0]), (x, x * 2.0), dtype=(tf.float32, tf.float32)),
            tf.foldl(lambda a, r: a + r, x), tf.foldr(lambda a, r: a - r, x, initializer=tf.zeros([2])),
            tf.scan(lambda a, r: a * r, x), tf.scan(lambda a, r: (a[0] + r, a[1] * r), x, initializer=(tf.zeros([2]), tf.ones([2])),
                                                    reverse=True),
            tf.gradients(tf.scan(lambda a, r: a * r, x)[-1], x)[0], tf.map_fn(lambda i: tf.range(2) + i, tf.range(3))]
    return made, said(lambda: tf.map_fn(lambda r: (r, r), x))


# ---- sessions ----

@case(nodes=False)
def fetches_of_every_form(tf):
    import collections
    Point = collections.namedtuple("Point", "x y")
    a, b = tf.constant(1, name="a"), tf.constant([2.0, 3.0], name="b")
    v = tf.get_variable("v", initializer=5.0)
    sparse = tf.SparseTensor([[0, 1]], [7.0], [2, 2])
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1]), tf.constant([3, 1]))
    with tf.Session() as s:
        s.run(v.initializer)
        p = s.run(Point(a, {"k": [b, (a, a)]}))
        kinds = [type(p).__name__, type(p.y["k"][1]).__name__, type(s.run([a])).__name__, type(s.run((a,))).__name__,
                 type(s.run({"z": a})).__name__,
                 type(s.run(sparse)).__name__, type(s.run(slices)).__name__, type(s.run(a)).__name__, type(s.run(b)).__name__]
        od = s.run(collections.OrderedDict([("q", a), ("c", b)]))
        return (kinds, list(od), s.run("a:0"), s.run(v), s.run([a, a, "a:0"]), s.run([]), s.run({}), s.run(a.op), s.run([a.op, b]),
                said(s.run, None), said(s.run, [None]), said(s.run, "a"), said(s.run, "zz:0"), said(s.run, 3), said(s.run, {"a": 3.5}),
                s.run(sparse).values, s.run(slices).indices)


@case(nodes=False)
def feeds_of_every_form(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    t = tf.placeholder(tf.string, [None], name="t")
    c = tf.constant([1.0, 2.0])
    sp = tf.sparse_placeholder(tf.float32, [2, 2])
    y = x * 2.0 + c
    with tf.Session() as s:
        go = lambda f, **k: said(s.run, f, **k)  # noqa: E731
        return [go(y, feed_dict={x: [[1, 2]]}), go(y, feed_dict={"x:0": np.ones([1, 2])}), go(y, feed_dict={x: np.ones([1, 2],
                np.int64)}),
                go(y, feed_dict={x: [[1, 2]], c: [5.0, 6.0]}), go(n, feed_dict={n: 3}), go(n, feed_dict={n: 3.7}), go(n,
                                                                                                                      feed_dict={n: "a"}),
                go(n, feed_dict={n: [1]}), go(y), go(y, feed_dict={x: [1.0, 2.0]}), go(y, feed_dict={x: [[1.0, 2, 3]]}),
                go(t, feed_dict={t: ["a", b"b", "\u00e4"]}), go(t, feed_dict={t: np.array(["q", "rs"])}), go(n, feed_dict={"n": 3}),
                go(n, feed_dict={n: tf.constant(1)}), go(y, feed_dict={3: 4}), go(n, feed_dict={n: None}), go(n, feed_dict={n: 2**40}),
                go(tf.sparse_tensor_to_dense(sp), feed_dict={sp: tf.SparseTensorValue([[0, 1]], [3.0], [2, 2])}),
                go(tf.sparse_tensor_to_dense(sp), feed_dict={sp: ([[1, 0]], [2.0], [2, 2])}), go(x, feed_dict={x: [[1, 2]]}),
                go([], feed_dict={x: [[1, 2]]}), go(y, feed_dict={(x, c): (np.ones([1, 2]), np.zeros(2))})]


@case(nodes=False)
def sessions_and_graphs(tf):
    g1, g2 = tf.Graph(), tf.Graph()
    with g1.as_default():
        a = tf.constant(1.0)
    with g2.as_default():
        b = tf.constant(2.0)
    found = []
    s1, s2 = tf.Session(graph=g1), tf.Session(graph=g2)
    with s1.as_default():
        found += [a.eval(), said(b.eval), tf.get_default_session() is s1, said(lambda: s1.run(b)), b.eval(session=s2)]
        with s2.as_default():
            found += [said(b.eval), tf.get_default_session() is s2]
    found += [said(a.eval), tf.get_default_session() is None, s1.graph is g1, s1.graph.finalized]
    s1.close()
    found += [said(lambda: s1.run(a)), said(s1.close)]
    with s2:
        found += [s2.run(b), tf.get_default_graph() is g2]
    found += [said(lambda: s2.run(b))]
    g2.finalize()
    with g2.as_default():
        found.append(said(lambda: tf.constant(1)))
    with tf.Graph().as_default(), tf.Session() as s:
        v = tf.Variable(1.0, name="v")
        found += [said(lambda: s.run(v)), said(lambda: s.run(v.initialized_value())), s.run(tf.report_uninitialized_variables()).tolist()]
        s.run(v.initializer)
        found += [s.run(tf.is_variable_initialized(v)), s.run(v.assign_add(2.0)), s.run(v.read_value()), v.eval(), v.load(7.0, s),
                  v.eval()]
    inter = tf.InteractiveSession(graph=g1)
    found += [a.eval(), inter.run(a)]
    inter.close()
    return found


@case(nodes=False)
def threads_share_a_session(tf):
    v = tf.get_variable("v", initializer=0)
    add = tf.assign_add(v, 1, use_locking=True)
    with tf.Session() as s:
        s.run(v.initializer)
        workers = [threading.Thread(target=lambda: [s.run(add) for _ in range(20)]) for _ in range(4)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        return s.run(v)


@case(nodes=False)
def containers_and_errors(tf):
    with tf.Session() as s:
        bad = tf.placeholder(tf.float32, [None], name="bad")
        found = []
        for make in (lambda: tf.check_numerics(bad, "words"), lambda: tf.Assert(tf.equal(tf.size(bad), 1), [bad, "data"]),
                     lambda: tf.gather(bad, [5]), lambda: tf.reshape(bad, [3, 3]), lambda: tf.matrix_inverse(tf.zeros([2, 2])),
                     lambda: tf.decode_raw("abc", tf.int32), lambda: tf.string_to_number("x"), lambda: tf.read_file("nothing")):
            node = make()
            try:
                s.run(node, {bad: [np.inf, 1.0]})
                found.append("ran")
            except tf.errors.OpError as e:
                found.append((type(e).__name__, e.error_code, e.op is not None and e.op.type, "words" in e.message))
        return found


# ---- queues ----

@case(nodes=False)
def queues(tf):
    q = tf.FIFOQueue(3, [tf.int32, tf.string], shapes=[[], []], names=["n", "s"], shared_name="q")
    put = q.enqueue({"n": 1, "s": "a"})
    many = q.enqueue_many({"n": [2, 3], "s": ["b", "c"]})
    got, two = q.dequeue(), q.dequeue_many(2)
    p = tf.PriorityQueue(10, [tf.string], [[]])
    r = tf.PaddingFIFOQueue(5, [tf.int32], [[None]])
    up = tf.FIFOQueue(10, tf.int32, [[]])
    with tf.Session() as s:
        s.run([put])
        s.run(many)
        found = [s.run(q.size()), s.run(got), s.run(two), s.run(q.size()), sorted(got), q.name, names([q.queue_ref]), q.dtypes, q.names]
        s.run(p.enqueue_many(([5, 1, 3], ["e", "a", "c"])))
        found += [s.run(p.dequeue()), s.run(p.dequeue_many(2))]
        s.run(r.enqueue([[1, 2, 3]])), s.run(r.enqueue([[4]]))
        found += [s.run(r.dequeue_many(2))]
        s.run(up.enqueue_many([[1, 2, 3]])), s.run(up.close())
        found += [s.run(up.is_closed()), s.run(up.dequeue_up_to(2)), s.run(up.dequeue_up_to(2)), said(lambda: s.run(up.dequeue())),
                  said(lambda: s.run(up.enqueue(4))), said(lambda: s.run(up.dequeue_many(1)))]
    return found, said(lambda: q.enqueue((1, "a"))), said(lambda: q.enqueue({"n": 1})), said(lambda: up.enqueue("x")),
    said(lambda: tf.FIFOQueue(2, [tf.int32], names=["a", "b"]))


@case(nodes=False)
def queues_block_and_cancel(tf):
    q = tf.FIFOQueue(1, tf.int32, [[]])
    put, got = q.enqueue(7), q.dequeue()
    with tf.Session() as s:
        values, errors = [], []

        def take():
            try:
                values.append(s.run(got))
                s.run(got)
            except tf.errors.OpError as e:
                errors.append(type(e).__name__)
        t = threading.Thread(target=take)
        t.start()
        s.run(put)
        s.run(q.close(cancel_pending_enqueues=True))
        t.join()
        return values, errors, said(lambda: s.run(got, options=tf.RunOptions(timeout_in_ms=50)))


@case(nodes=False)
def runners_and_coordinators(tf):
    q = tf.FIFOQueue(4, tf.float32, [[]])
    count = tf.get_variable("count", initializer=0.0, trainable=False)
    up = count.assign_add(1.0)
    qr = tf.train.QueueRunner(q, [q.enqueue(tf.identity(up.op.inputs[1]))])
    tf.train.add_queue_runner(qr)
    got = q.dequeue()
    with tf.Session() as s:
        s.run(count.initializer)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(s, coord)
        taken = [float(s.run(got)) for _ in range(6)]
        coord.request_stop()
        coord.join(threads)
        with tf.train.Coordinator().stop_on_exception() as _:
            pass
        other = tf.train.Coordinator()
        with other.stop_on_exception():
            raise ValueError("mine")
        return taken, len(threads), coord.should_stop(), qr.name, len(qr.enqueue_ops), said(other.join), other.should_stop()


# ---- savers ----

@case(nodes=False)
def savers(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable([2.0, 3.0], name="w")
    found = []
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        saver = tf.train.Saver({"a/v": v, "w": w}, max_to_keep=2)
        for step in (1, 5, 9):
            found.append(saver.save(s, "ck/m", global_step=step))
        found += [[os.path.basename(p) for p in saver.last_checkpoints], sorted(os.listdir("ck")), tf.train.latest_checkpoint("ck"),
                  tf.train.get_checkpoint_state("ck").model_checkpoint_path, tf.train.checkpoint_exists("ck/m-1"),
                  tf.train.list_variables("ck/m-9"), tf.train.load_variable("ck", "a/v")]
        s.run([v.assign(8.0), w.assign([0.0, 0.0])])
        saver.restore(s, "ck/m-9")
        found += [s.run([v, w]), said(saver.restore, s, "ck/none"), said(saver.restore, s, None),
                  said(tf.train.Saver({"x": v}).restore, s, "ck/m-9")]
        reader = tf.train.NewCheckpointReader("ck/m-9")
        found += [reader.get_variable_to_shape_map(), reader.has_tensor("w"), reader.get_tensor("w"), said(reader.get_tensor, "none")]
        found += [said(saver.save, s, "no/such/dir/m"), said(lambda: tf.train.Saver([v, v])),
                  said(lambda: tf.train.Saver([])),
                  said(lambda: tf.train.Saver({"a": 3})), said(lambda: tf.train.Saver(max_to_keep=2, var_list=[v]).save(s, "ck/z",
                                                               write_meta_graph=False))]
    with tf.Graph().as_default(), tf.Session() as s:
        again = tf.train.import_meta_graph("ck/m-9.meta")
        again.restore(s, "ck/m-9")
        found += [s.run("v:0"), names(tf.global_variables()), names(tf.trainable_variables())]
    return found


@case(nodes=False)
def savers_of_parts(tf):
    with tf.Session() as s:
        p = tf.get_variable("p", [4, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
        v = tf.get_variable("v", initializer=3.0, use_resource=True)
        s.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(s, "parts", write_meta_graph=False)
        shapes = tf.train.list_variables(path)
        s.run(v.assign(9.0))
        tf.train.Saver([v]).restore(s, path)
        return shapes, s.run(v), s.run(tf.convert_to_tensor(p)), names(list(p)), p.get_shape().as_list()


@case(nodes=False)
def graphs_go_out_and_come_back(tf):
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.add(x, 1.0, name="y")
    with tf.device("/cpu:0"):
        tf.multiply(y, 2.0, name="z")
    d = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as g:
        z, = tf.import_graph_def(d, name="in", return_elements=["z:0"])
        c = tf.constant([5.0])
        mapped, = tf.import_graph_def(d, name="", input_map={"x:0": c}, return_elements=["z:0"])
        op, = tf.import_graph_def(d, return_elements=["z"])
        with tf.Session() as s:
            return (s.run(z, {"in/x:0": [1.0]}), s.run(mapped), names([z, mapped, op]), said(lambda: tf.import_graph_def(d,
                    return_elements=["q"])),
                    said(lambda: tf.import_graph_def(d, input_map={"nothing:0": c})), said(lambda: tf.import_graph_def("text")),
                    [o.device for o in g.get_operations() if o.name.endswith("z")], said(lambda: g.get_tensor_by_name("in/z")),
                    said(lambda: g.get_operation_by_name("in/z:0")), said(lambda: g.get_tensor_by_name("in/z:4")),
                    g.get_operation_by_name("in/z").name,
                    tf.graph_util.extract_sub_graph(d, ["y"]).node[-1].name, len(tf.graph_util.remove_training_nodes(d).node))


# ---- tensor arrays ----

@case(nodes=False)
def tensor_arrays(tf):
    ta = tf.TensorArray(tf.float32, 3, clear_after_read=False, element_shape=[2])
    ta = ta.write(0, [1.0, 2.0]).write(2, [5.0, 6.0]).write(1, [3.0, 4.0])
    un = tf.TensorArray(tf.float32, 0, dynamic_size=True).unstack(tf.ones([3, 2])).write(5, [7.0, 7.0])
    sp = tf.TensorArray(tf.float32, 2, infer_shape=False).split(tf.range(5.0), [2, 3])
    with tf.Session() as s:
        found = [ta.stack(), ta.read(1), ta.gather([2, 0]), ta.size(), un.size(), un.read(5), sp.concat()]
        made = s.run(found)
        x = tf.constant([1.0, 2.0])
        g = tf.gradients(tf.TensorArray(tf.float32, 2).unstack(x * x).stack(), x)[0]
        made.append(s.run(g))
        short = tf.TensorArray(tf.float32, 2)
        wrong = [lambda: short.read(0), lambda: short.write(2, 1.0).stack(), lambda: short.write(0, 1.0).write(0, 2.0).stack(),
                 lambda: short.write(0, 1.0).scatter([0, 1], [1.0, 2.0]).flow]
        return made, [said(lambda w=w: s.run(w())) for w in wrong], said(lambda: ta.write(0, [1])), ta.dtype, said(
            lambda: ta.write(0, [1.0, 2.0, 3.0]))


# ---- variables ----

@case(nodes=False)
def variables_and_assignments(tf):
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    i = tf.Variable(0, trainable=False, name="i", dtype=tf.int64)
    d = tf.Variable(v.initialized_value() * 2.0, name="d")
    m = tf.Variable(tf.zeros([2, 2]), validate_shape=False, name="m")
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        go = lambda f: said(s.run, f)  # noqa: E731
        found = [go(d), go(v.scatter_add(tf.IndexedSlices([1.0, 1.0], [0, 0]))) if hasattr(v, "scatter_add") else None,
                 go(tf.scatter_update(v, [1], [9.0])), go(tf.assign(m, [[1.0, 2.0]], validate_shape=False)), go(tf.shape(m)), go(v[1]),
                 go(v[1:].assign([0.0, 0.0])),
                 go(i.count_up_to(2)), go(tf.count_up_to(i, 2)), go(i.count_up_to(2)), go(v + 1.0), go(-v), go(2.0 * v), go(v ** 2.0),
                 go(tf.assign_sub(v, v))]
        return found, [v.name, v.op.name, v.dtype, v.shape, v.get_shape().as_list(), v.initial_value.name, v.device,
                       v.graph is tf.get_default_graph(),
                       str(v), repr(v)[:20], m.shape, said(lambda: v.assign([1.0])), said(lambda: tf.Variable(None)),
                       said(lambda: tf.Variable(lambda: 1.0)),
                       said(lambda: iter(v)), said(lambda: len(v)), said(lambda: np.array(v).dtype.name), hash(v) == hash(v), v == v,
                       v != d]


@case(nodes=False)
def moving_averages_and_optimizers(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=None, zero_debias=False)
    up = ema.apply([v])
    opt = tf.train.AdamOptimizer(0.1)
    grads = opt.compute_gradients(tf.reduce_sum(v * v))
    capped = [(tf.clip_by_value(g, -1.0, 1.0), x) for g, x in grads]
    step = opt.apply_gradients(capped, tf.train.get_or_create_global_step())
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        s.run(step), s.run(up), s.run(step), s.run(up)
        return (s.run([v, ema.average(v), tf.train.get_global_step()]), ema.average_name(v),
                ema.variables_to_restore([v]).keys() and sorted(
            ema.variables_to_restore([v])), opt.get_slot_names(), opt.get_slot(v, "m").name, s.run(opt.get_slot(v, "m")), opt.get_name(),
                names(tf.global_variables()), names(opt.variables()), said(lambda: opt.apply_gradients([])),
                said(lambda: opt.apply_gradients([(None, v)])),
                said(lambda: opt.minimize(tf.constant(1.0))))


# ---- shapes, types and values at building time ----

@case(nodes=False)
def static_shapes(tf):
    s, d = tf.TensorShape, tf.Dimension
    a, b, u = s([None, 3]), s([2, None]), s(None)
    return [str(a), repr(b), a.merge_with(b).as_list(), a.concatenate(b).as_list(), a.is_compatible_with(b), u.ndims, said(u.as_list),
            said(lambda: len(u)),
            a[0].value, a[1].value, a[0:1].as_list(), a.num_elements(), s([2, 3]).num_elements(), said(lambda: s([2]).merge_with([3])),
            a == b, s([2]) == [2],
            bool(u), bool(a), (d(3) + d(None)).value, (d(3) * 4).value, d(7) // 2 == 3, a.with_rank(2).as_list(),
            said(lambda: a.with_rank(3)),
            a.with_rank_at_least(1).as_list(), a.is_fully_defined(), u.with_rank(2).as_list(),
            said(lambda: a.assert_is_fully_defined()), str(u), str(s([])),
            tf.broadcast_static_shape(s([2, 1]), s([1, 3])).as_list(), said(lambda: tf.broadcast_static_shape(s([2]), s([3]))),
            [x.value for x in a],
            s([None]) == s([None]), said(lambda: s([1, "a"])), a.dims[1].value]


@case(nodes=False)
def types_of_constants(tf):
    t = tf.constant
    return [tf.as_dtype("float32"), tf.as_dtype(np.int32), tf.float32.is_floating, tf.int32.max, tf.float32.min, tf.bool.is_bool,
            tf.int64.as_numpy_dtype.__name__, tf.float32 == "float32", tf.float32 == np.float32, repr(tf.int8), str(tf.half),
            said(lambda: tf.as_dtype("nothing")), said(lambda: t(1.5, tf.int32)), said(lambda: t("a", tf.int32)),
            said(lambda: t([[1], [1, 2]])), said(lambda: t(None)), t([1, 2.5]).dtype, t(1).dtype, t(1 << 40).dtype, t(True).dtype,
            t("x").dtype, t(np.float64(1)).dtype, t([]).dtype, t(1j).dtype, t(np.array(["a"])).dtype]


@case(nodes=False)
def conversions_in_operators(tf):
    t = tf.constant
    return [said(lambda: t(1) + t(1.0)), said(lambda: t(1) + 1.5), (t(1.0) + 1).dtype, (t(7) / t(2)).dtype, (t(7) // t(2)).dtype,
            said(lambda: t(7) % 2.5), said(lambda: t([1, 2]) @ t([1, 2])), said(lambda: t(1) and t(2)), said(lambda: list(t([1, 2]))),
            said(lambda: not t(1)), said(lambda: float(t(1.0))), said(lambda: t([1, 2, 3])[::0]), said(lambda: t([1, 2, 3])["a"]),
            said(lambda: t(1)[0]), t([[1, 2]])[..., tf.newaxis].shape, t([1, 2, 3])[-1].shape, tf.convert_to_tensor([t(1), t(2)]).shape,
            said(lambda: tf.convert_to_tensor([t(1), 2.5])), said(lambda: tf.convert_to_tensor(t(1), tf.float32)),
            said(lambda: tf.cast("a", tf.float32)), said(lambda: tf.to_int32(t("1"))), str(t(1)), repr(t(1.0, name="nm"))]
