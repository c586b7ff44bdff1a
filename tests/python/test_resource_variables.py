"""Resource variables: the graphs that programs build, and what they compute, here and in TensorFlow."""
import numpy as np
import pytest
import tensorflow.compat.v1 as oracle

import weft
from both import SAME, both_raise, compare, is_tensor

ONLY_THERE = {"_has_manual_control_dependencies", "allowed_devices", "_output_shapes", "value", "_class"}


def shown(node):
    """A node as compared: controls in any order, and what computes gradients seen from outside only."""
    inputs = ["gradients" if i.lstrip("^").startswith("gradients") else i for i in node.input]
    attrs = {k: v.SerializeToString() for k, v in node.attr.items() if k not in ONLY_THERE and k != "token"}  # counted
    groups = sorted(g for g in node.attr["_class"].list.s if not g.startswith(b"loc:@gradients")) if "_class" in node.attr else []
    return [node.name, SAME.get(node.op, node.op), [i for i in inputs if i[0] != "^"],
            sorted({i for i in inputs if i[0] == "^"}), node.device, groups, attrs]


def run(tf, program):
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(11)
        made = program(tf)
        nodes = [shown(n) for n in graph.as_graph_def().node if not n.name.startswith("gradients")]
        with tf.Session() as sess:
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            tensors = [m for m in made if is_tensor(m)]
            values = sess.run(tensors) if tensors else []
    return nodes, values, [m for m in made if not is_tensor(m)]


def both(program, check_nodes=True):
    (nodes, values, said), (their_nodes, their_values, they_said) = run(weft, program), run(oracle, program)
    for a, b in zip(nodes, their_nodes) if check_nodes else ():
        assert a == b
    if check_nodes:
        assert len(nodes) == len(their_nodes), (nodes[len(their_nodes):], their_nodes[len(nodes):])
    compare(values, their_values)
    assert said == they_said


def test_a_variable_is_a_handle_with_reads():
    def program(tf):
        v = tf.Variable([1., 2.], use_resource=True, name="v")
        w = tf.get_variable("w", [2], use_resource=True)
        u = tf.Variable(tf.zeros([2]), use_resource=True, name="u", collections=[tf.GraphKeys.LOCAL_VARIABLES],
                        trainable=False)
        c = tf.Variable(lambda: tf.random_uniform([2], seed=3), use_resource=True, name="c")
        said = [v.name, v.dtype.name, v.op.name, v.handle.name, v.initializer.name, v.initial_value.name, str(v),
                [x.name for x in tf.trainable_variables()], v.to_proto().SerializeToString(),
                v.shape.as_list(), v.trainable, v.graph is tf.get_default_graph()]
        return [v, w + v, v + w, 2. / v, -v, abs(w), v ** 2, v > w, v[0], v.value(), v.read_value(), u, c,
                v.is_initialized(), tf.stack([v, w]), tf.cast(v, tf.int32), tf.shape(v)] + said
    both(program)


def test_an_update_gives_a_variable_that_reads_after_it():
    def program(tf):
        v = tf.Variable([1., 2.], use_resource=True)
        a = v.assign([3., 4.])
        b = a.assign_add([1., 1.])
        with tf.control_dependencies([b]):
            plain = v.assign_sub([1., 1.], read_value=False)
        with tf.control_dependencies([plain]):
            after = v.read_value() * 1.
            more = tf.identity(v)
        b * 2.
        c = tf.assign(v, [0., 0.], name="c")
        d, e = tf.assign_add(v, [1., 1.]), tf.assign_sub(v, [1., 1.], name="q")
        said = [a.name, str(b), a.op.name, plain.name, c.name, d.name, e.name, a.handle.name]
        return [after, more] + said
    both(program)


def test_updates_run_in_the_order_that_control_dependencies_give():
    def program(tf):
        v = tf.Variable(1., use_resource=True)
        before = v.read_value()
        with tf.control_dependencies([before]):
            first = v.assign_add(10.)
        with tf.control_dependencies([first]):
            second = v.assign(v * 2.)
        with tf.control_dependencies([second]):
            last = v.read_value()
        return [before, last]
    both(program)


def test_control_flow_helpers_take_a_variable():
    def program(tf):
        v = tf.Variable(1., use_resource=True)
        with tf.control_dependencies([v]):
            tf.no_op()
        with tf.control_dependencies([v.assign(3.)]):
            got = v.read_value()
        tf.group(v.assign(2.), v.assign_add(1.))
        tf.group(v)
        tf.tuple([v, v.assign(2.)])
        with tf.colocate_with(v):
            c = tf.constant(1., name="beside")
        with tf.colocate_with(v.assign(3.)):
            d = tf.constant(1., name="beside_too")
        return [got, c.op.colocation_groups(), d.op.colocation_groups()]
    both(program)


def test_scattered_updates():
    def program(tf):
        v = tf.Variable([1., 2., 3.], use_resource=True)
        s = tf.IndexedSlices(tf.constant([1.]), tf.constant([0]))
        made = [tf.scatter_update(v, [0], [5.])]
        for f in (tf.scatter_add, tf.scatter_sub, tf.scatter_mul, tf.scatter_div, tf.scatter_min, tf.scatter_max):
            with tf.control_dependencies([made[-1]]):
                made.append(f(v, [1], [3.]))
        for f in (tf.scatter_nd_update, tf.scatter_nd_add, tf.scatter_nd_sub):
            with tf.control_dependencies([made[-1]]):
                made.append(f(v, [[2]], [4.]))
        for f in (v.scatter_add, v.scatter_sub, v.scatter_update, v.scatter_mul, v.scatter_div):
            with tf.control_dependencies([made[-1]]):
                made.append(f(s))
        with tf.control_dependencies([made[-1]]):
            made.append(v.scatter_nd_add([[1]], [3.]))
        return [made[-1] * 1.]
    both(program)


def test_gathering_reads_rows_through_the_handle():
    def program(tf):
        v = tf.Variable([[1., 2.], [3., 4.]], use_resource=True)
        return [tf.gather(v, [0]), tf.gather(v, [0], axis=1), tf.gather_nd(v, [[0, 1]]), tf.nn.embedding_lookup(v, [0, 1]),
                v.sparse_read([1], name="rows"), tf.gather(v, [[1]], name="g")]
    both(program)


def test_slices_are_assigned():
    def program(tf):
        v = tf.Variable([[1., 2.], [3., 4.]], use_resource=True)
        a = v[0].assign([7., 8.])
        with tf.control_dependencies([a]):
            b = tf.assign(v[1, 0], 9.)
        return [b, a.name, str(b)]
    both(program)


def test_gradients_reach_the_handle():
    def program(tf):
        v = tf.Variable([[1., 2.], [3., 4.]], use_resource=True)
        w = tf.Variable([[1.], [2.]], use_resource=True)
        rows = tf.gather(v, [0, 0])
        loss = tf.reduce_sum(tf.matmul(rows, w)) + tf.reduce_sum(v * v)
        slices, = tf.gradients(rows, v)
        return tf.gradients(loss, [w]) + [slices.values, slices.indices, slices.dense_shape,
                                          tf.gradients(v._graph_element * 2., [v])[0], tf.gradients(w * 3., w)[0],
                                          tf.convert_to_tensor(tf.gradients(loss, [v])[0])]
    both(program)


def test_scopes_and_the_default_say_what_a_variable_is():
    def program(tf):
        said = []
        with tf.variable_scope("a", use_resource=True) as scope:
            said.append(scope.use_resource)
            v, u = tf.get_variable("w", [2]), tf.Variable(3.)
            with tf.variable_scope("inner"):
                tf.get_variable("x", [1])
                tf.Variable(1., use_resource=False)
        with tf.variable_scope("b", use_resource=False):
            tf.get_variable("w", [2])
        with tf.variable_scope("a", reuse=True):
            said.append(tf.get_variable("w", [2]) is v)
        tf.get_variable_scope().set_use_resource(True)
        tf.get_variable("late", [])
        tf.get_variable_scope().set_use_resource(False)
        tf.get_variable("later", [])
        return said + [v + 1., u]
    both(program)


def test_enable_resource_variables():
    def program(tf):
        said = [tf.resource_variables_enabled()]
        tf.enable_resource_variables()
        try:
            said.append(tf.resource_variables_enabled())
            v, w, step = tf.Variable(1.), tf.get_variable("w", []), tf.train.get_or_create_global_step()
            tf.Variable(1., use_resource=False)
            with tf.variable_scope("x", use_resource=False):
                tf.get_variable("q", [])
                tf.Variable(1.)
            train = tf.train.GradientDescentOptimizer(.1).minimize(v * w, global_step=step)
        finally:
            tf.disable_resource_variables()
        tf.Variable(1.)
        return [train, v, step] + said
    both(program)


def test_partitioned_variables_have_resource_parts():
    def program(tf):
        with tf.variable_scope("s", use_resource=True, partitioner=tf.fixed_size_partitioner(2)):
            p = tf.get_variable("p", [4, 2])
        found = tf.nn.embedding_lookup(p, [0, 3])
        tf.train.MomentumOptimizer(.1, .9).minimize(tf.reduce_sum(found))
        return [found, tf.convert_to_tensor(p)]
    both(program)


def test_a_caching_device_copies_the_value():
    def program(tf):
        v = tf.get_variable("w", [2], caching_device="/device:CPU:0", use_resource=True)
        return [v + 1., v.read_value(), v.to_proto().SerializeToString()]
    both(program)


def test_initialization_is_reported_and_asserted():
    def program(tf):
        v, w = tf.Variable([1., 2.], use_resource=True, name="v"), tf.Variable(1., name="w")
        report = tf.report_uninitialized_variables()
        tf.variables_initializer([v])
        return [report, tf.is_variable_initialized(v), tf.is_variable_initialized(w)]
    both(program, check_nodes=False)


def test_counting():
    def program(tf):
        v = tf.Variable(0, use_resource=True)
        return [v.count_up_to(3), tf.Variable(0, use_resource=True, dtype=tf.int64).count_up_to(3)]
    both(program)


def test_shapes_that_may_change():
    def program(tf):
        v = tf.Variable([1., 2.], validate_shape=False, use_resource=True)
        w = tf.Variable([1., 2.], shape=tf.TensorShape(None), use_resource=True)
        return [v.assign([3., 4.]), w.assign([4.]), str(v), str(w)]
    both(program)


@pytest.mark.parametrize("wrong", [
    lambda tf, v: v.assign([1., 2., 3.]),
    lambda tf, v: v.assign_add([1., 2., 3.]),
    lambda tf, v: v.assign(tf.constant([1, 2])),
    lambda tf, v: tf.Variable([1.], use_resource=True, shape=[2]),
    lambda tf, v: tf.Variable([1.], use_resource=True, collections=3),
    lambda tf, v: tf.Variable([1.], use_resource=True, constraint=3),
    lambda tf, v: tf.Variable(None, use_resource=True),
    lambda tf, v: bool(v),
])
def test_what_tensorflow_refuses(wrong):
    both_raise(lambda tf: wrong(tf, tf.Variable([1., 2.], use_resource=True)))


def test_reading_before_initialization_fails():
    messages = both_raise(lambda tf: tf.Session().run(tf.Variable(1., use_resource=True, name="v")))
    for text in messages:
        assert "Could not find variable v" in text


def test_load_eval_and_feeding():
    def program(tf):
        v = tf.Variable([1., 2.], use_resource=True)
        with tf.Session() as sess:
            sess.run(v.initializer)
            out = [v.eval(sess).tolist()]
            v.load([5., 6.], sess)
            out += [sess.run(v).tolist(), sess.run({"a": [v]})["a"][0].tolist(), sess.run(v, {v: [9., 9.]}).tolist()]
            update = v.assign([7., 8.])
            out += [sess.run(update).tolist(), sess.run(update.op), sess.run(v.op), sess.run(v).tolist()]
        return out
    both(program)


# ---- training ----

OPTIMIZERS = {
    "sgd": lambda t: t.GradientDescentOptimizer(.1), "momentum": lambda t: t.MomentumOptimizer(.1, .9),
    "nesterov": lambda t: t.MomentumOptimizer(.1, .9, use_nesterov=True), "adam": lambda t: t.AdamOptimizer(.1),
    "adagrad": lambda t: t.AdagradOptimizer(.1), "adadelta": lambda t: t.AdadeltaOptimizer(.1),
    "rmsprop": lambda t: t.RMSPropOptimizer(.1, momentum=.5),
    "centered": lambda t: t.RMSPropOptimizer(.1, centered=True), "ftrl": lambda t: t.FtrlOptimizer(.1),
    "proximal": lambda t: t.ProximalGradientDescentOptimizer(.1, .01, .01),
    "proximal_adagrad": lambda t: t.ProximalAdagradOptimizer(.1, .1, .01, .01),
}


def train(tf, make, sparse):
    table = tf.get_variable("table", [5, 3], use_resource=True, initializer=tf.constant_initializer(.5))
    w = tf.get_variable("w", [3, 2], use_resource=True, initializer=tf.constant_initializer(.25))
    step = tf.Variable(0, use_resource=True, name="step", trainable=False)
    rows = tf.gather(table, [1, 3, 1]) if sparse else table[:3]
    loss = tf.reduce_sum(tf.square(tf.matmul(rows, w) - 1.))
    optimizer = make(tf.train)
    return optimizer.minimize(loss, global_step=step), [table, w, step], optimizer


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", sorted(OPTIMIZERS))
def test_optimizers_build_and_compute_the_same(kind, sparse):
    def program(tf):
        op, variables, optimizer = train(tf, OPTIMIZERS[kind], sparse)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(4):
                sess.run(op)
            values = sess.run(variables)
        seen.append(values)
        slots = [optimizer.get_slot(variables[0], s) for s in optimizer.get_slot_names()]
        return [str(s) for s in slots] + [v.name for v in tf.global_variables()]
    seen = []
    both(program)
    for ours, theirs in zip(*seen):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


def test_an_optimizer_written_in_python():
    def program(tf):
        class Mine(tf.train.Optimizer):
            def __init__(self):
                super().__init__(False, "Mine")

            def _create_slots(self, var_list):
                for v in var_list:
                    self._zeros_slot(v, "m", self._name)

            def _resource_apply_dense(self, grad, var):
                m = self.get_slot(var, "m")
                with tf.control_dependencies([m.assign(m * .5 + grad)]):
                    return var.assign_sub(.1 * m.read_value())

            def _resource_apply_sparse(self, grad, var, indices):
                return var.scatter_sub(tf.IndexedSlices(.1 * grad, indices))
        op, variables, _ = train(tf, lambda t: Mine(), True)
        with tf.control_dependencies([op]):
            return [v.read_value() for v in variables]
    both(program)


def test_moving_averages():
    def program(tf):
        v, r = tf.Variable([1., 2.], use_resource=True, name="v"), tf.Variable(1., use_resource=True, name="r")
        average = tf.train.ExponentialMovingAverage(.9, num_updates=3)
        op = average.apply([v, r])
        x = tf.identity(v)
        with tf.variable_scope("k", use_resource=True):
            debiased = tf.train.ExponentialMovingAverage(.9, zero_debias=True)
            more = debiased.apply([x])
        with tf.control_dependencies([op, more]):
            return [average.average(v).read_value(), debiased.average(x).read_value(), average.average_name(r),
                    str(debiased.average(x)), sorted(average.variables_to_restore())]
    both(program, check_nodes=False)


# ---- control flow ----

def test_conditions_read_and_change_a_variable():
    def program(tf):
        out = []
        for on in (True, False):
            v = tf.Variable([1., 2.], use_resource=True)
            r = tf.cond(tf.constant(on), lambda v=v: v * 3., lambda v=v: v.assign_add([2., 2.]) * 1.)
            same = tf.cond(tf.constant(on), lambda v=v: v, lambda v=v: tf.gather(v, [1, 0]))
            with tf.control_dependencies([r, same]):
                out += [r, v.read_value()] + tf.gradients(r, v)
        return out
    both(program, check_nodes=False)


def test_loops_read_and_change_a_variable():
    def program(tf):
        v, n = tf.Variable([1., 2.], use_resource=True), tf.Variable(0, use_resource=True)
        one = tf.constant(1)

        def body(i, total):
            with tf.control_dependencies([n.assign_add(one)]):
                return i + 1, total + v * 2.
        i, total = tf.while_loop(lambda i, total: i < 4, body, [0, tf.zeros([2])])
        slices = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.reduce_sum(tf.gather(v, [0, 0]))), [0, 0.])[1]
        gradients = tf.gradients(total, v) + [tf.convert_to_tensor(tf.gradients(slices, v)[0])]
        with tf.control_dependencies([i, total]):
            return [total, n.read_value(), slices] + gradients
    both(program, check_nodes=False)


def test_a_loop_runs_an_update_as_often_as_its_body():
    def program(tf):
        n, m, one = tf.Variable(0, use_resource=True), tf.Variable(0), tf.constant(1)

        def body(i):
            with tf.control_dependencies([n.assign_add(one), m.assign_add(one)]):
                return tf.identity(i + 1)
        i = tf.while_loop(lambda i: i < 3, body, [0])
        with tf.control_dependencies([i]):
            return [n.read_value(), m.read_value()]
    both(program, check_nodes=False)


def test_the_initial_value_may_depend_on_another_variable():
    def program(tf):
        a = tf.Variable([1., 2.], use_resource=True, name="a")
        b = tf.Variable(a.initial_value * 2., use_resource=True, name="b")
        c = tf.Variable(lambda: tf.ones([2]) * 3., use_resource=True, name="c")
        return [a, b, c]
    both(program)


def test_a_variable_made_in_a_loop_or_condition_is_outside_of_it():
    def program(tf):
        made = []

        def branch():
            made.append(tf.get_variable("inside", [2], use_resource=True, initializer=tf.ones_initializer()))
            return made[0] * 2.
        got = tf.cond(tf.constant(True), branch, lambda: tf.zeros([2]))
        return [got, made[0]]
    both(program, check_nodes=False)


# ---- files ----

def build(tf, resource):
    v = tf.get_variable("v", [2, 2], use_resource=resource, initializer=tf.constant_initializer(1.))
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2), use_resource=resource):
        p = tf.get_variable("p", [4, 2], initializer=tf.constant_initializer(2.))
    step = tf.get_variable("step", [], tf.int64, tf.zeros_initializer(), trainable=False, use_resource=resource)
    train = tf.train.AdamOptimizer(.1).minimize(tf.reduce_sum(tf.square(v)) + tf.reduce_sum(tf.nn.embedding_lookup(p, [0, 3])),
                                                global_step=step)
    return train, [v, step] + list(p)


def saved(tf, resource, path):
    with tf.Graph().as_default():
        train, variables = build(tf, resource)
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                sess.run(train)
            return saver.save(sess, path, global_step=3), sess.run(variables)


def restored(tf, resource, path):
    with tf.Graph().as_default():
        train, variables = build(tf, resource)
        with tf.Session() as sess:
            tf.train.Saver().restore(sess, path)
            return sess.run(variables)


def test_checkpoints_are_the_same_for_both_kinds_and_systems(tmp_path):
    files = {}
    for tf in (weft, oracle):
        for resource in (True, False):
            files[tf.__name__, resource] = saved(tf, resource, str(tmp_path / (tf.__name__.rpartition(".")[2] + str(resource))))
    (first, values), *others = files.values()
    listed = oracle.train.list_variables(first)
    for path, got in others:
        compare(got, values)
        assert oracle.train.list_variables(path) == listed
    for path, _ in files.values():
        for tf in (weft, oracle):
            for resource in (True, False):
                compare(restored(tf, resource, path), values)


def test_a_checkpoint_initializes_variables(tmp_path):
    path, _ = saved(oracle, False, str(tmp_path / "model"))

    def program(tf):
        v = tf.get_variable("u", [2, 2], use_resource=True)
        with tf.device("/job:localhost/cpu:0"):
            p = tf.get_variable("q", [4, 2], partitioner=tf.fixed_size_partitioner(2), use_resource=True)
        tf.train.init_from_checkpoint(path, {"v": "u", "p/p": "q"})
        return [v] + list(p)
    both(program)


def test_meta_graphs_keep_what_a_variable_is(tmp_path):
    def described(v):
        return (v.name, hasattr(v, "handle"), v.dtype.name, v.shape.as_list(), v.trainable, v.initializer.name,
                v.initial_value.name, v._as_graph_element().name)

    def imported(tf, meta):
        with tf.Graph().as_default():
            saver = tf.train.import_meta_graph(meta + ".meta")
            with tf.Session() as sess:
                saver.restore(sess, meta)
                v = tf.global_variables()[0]
                after = v.assign_add([[1., 1.], [1., 1.]])
                train = tf.get_collection("train_op")[0]
                sess.run(train)
                return [described(v) for v in tf.global_variables()], sess.run(v), sess.run(after)
    ours, theirs = (saved(tf, True, str(tmp_path / name))[0] for tf, name in ((weft, "ours"), (oracle, "theirs")))
    first = imported(oracle, theirs)
    for tf, path in ((weft, theirs), (oracle, ours), (weft, ours)):
        got = imported(tf, path)
        assert got[0] == first[0]
        compare(got[1:], first[1:])


def test_meta_graphs_in_a_scope():
    def program(tf):
        tf.Variable([1., 2.], use_resource=True, name="v")
        meta = tf.train.export_meta_graph()
        lists = {k: list(c.bytes_list.value) for k, c in meta.collection_def.items()}
        with tf.Graph().as_default():
            tf.train.import_meta_graph(meta, import_scope="imp")
            v = tf.global_variables()[0]
            return [lists, v.name, v.handle.name, v.initializer.name, v._as_graph_element().name, v.value().shape.as_list()]
    both(program)


def test_freezing():
    def program(tf):
        v = tf.Variable([[1., 2.], [3., 4.]], use_resource=True, name="v")
        w = tf.Variable([[1.], [2.]], use_resource=True, name="w")
        r = tf.Variable([[1.], [2.]], name="r")
        on = tf.placeholder_with_default(True, [])
        weights = tf.cond(on, lambda: w + 1., lambda: w) + r + tf.gather_nd(w, [[0, 0]])
        tf.matmul(tf.gather(v, [1, 0]), weights, name="out")
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            frozen = tf.graph_util.convert_variables_to_constants(sess, tf.get_default_graph().as_graph_def(), ["out"])
        with tf.Graph().as_default():
            out, = tf.import_graph_def(frozen, return_elements=["out:0"], name="")
            with tf.Session() as sess:
                return [sess.run(out).tolist(), sorted({n.op for n in frozen.node} & {"VarHandleOp", "ReadVariableOp"})]
    both(program, check_nodes=False)


# ---- clusters ----

def test_the_device_setter_places_handles():
    def program(tf):
        with tf.device(tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:0")):
            a = tf.Variable([1., 2.], use_resource=True, name="a")
            b = tf.get_variable("b", [2], use_resource=True)
            c = tf.Variable(1., use_resource=True, name="c")
            loss = tf.reduce_sum(a * b) * c
            tf.train.AdamOptimizer(.1).minimize(loss)
        return [[v.device for v in tf.global_variables()]]

    def placed(tf):
        with tf.Graph().as_default() as graph:
            said = program(tf)
            return said, [shown(n) for n in graph.as_graph_def().node if not n.name.startswith("gradients")]
    ours, theirs = placed(weft), placed(oracle)
    assert ours[0] == theirs[0]
    for a, b in zip(ours[1], theirs[1], strict=True):
        assert a == b


# ---- functions that take a variable, and what looks at the global step ----

EXPRESSIONS = """
reduce_sum(v) | reduce_mean(v, 1) | reduce_max(v, axis=0, keepdims=True) | reduce_logsumexp(v) | zeros_like(v) | ones_like(v)
einsum('ij,jk->ik', v, v) | nn.moments(v, [0]) | cast(v, tf.float32) | cast(v, tf.int32) | py_func(lambda x: x, [v], tf.float32)
summary.histogram('h', v) | summary.scalar('s', v[0, 0]) | matmul(v, v) | concat([v, v], 0) | nn.l2_loss(v) | transpose(v)
nn.sigmoid_cross_entropy_with_logits(labels=v, logits=v) | where(v > 1., v, v) | nn.embedding_lookup([v, v], [0, 1])
train.exponential_decay(.1, n, 2, .5) | train.polynomial_decay(.1, n, 2) | train.inverse_time_decay(.1, n, 2, .5)
train.cosine_decay(.1, n, 2) | nn.l2_loss(v.assign_add(v)) | reduce_sum(v.assign(v) * 2.) | unstack(v)[0] | nn.dropout(v, .5, seed=1)
"""


@pytest.mark.parametrize("text", [e.strip() for e in EXPRESSIONS.replace("\n", "|").split("|") if e.strip()])
def test_functions_read_a_variable_where_tensorflow_does(text):
    def program(tf):
        v = tf.Variable([[1., 2.], [3., 4.]], use_resource=True, name="v")
        n = tf.Variable(3, use_resource=True, name="n")
        made = eval("tf." + text, {"tf": tf, "v": v, "n": n})
        return list(made) if isinstance(made, tuple) else [] if "summary" in text or "assign" in text or "func" in text else [made]
    both(program)


def test_a_monitored_session_saves_by_a_resource_step(tmp_path):
    def files(tf, folder):
        with tf.Graph().as_default():
            tf.get_variable_scope().set_use_resource(True)
            step = tf.train.get_or_create_global_step()
            w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
            tf.summary.scalar("sum", tf.reduce_sum(w))
            train = tf.train.GradientDescentOptimizer(.1).minimize(tf.reduce_sum(tf.square(w)), step)
            hooks = [tf.train.StopAtStepHook(last_step=7)]
            with tf.train.MonitoredTrainingSession(checkpoint_dir=str(folder), save_checkpoint_steps=3, hooks=hooks,
                                                   save_checkpoint_secs=None, save_summaries_steps=2) as sess:
                while not sess.should_stop():
                    sess.run(train)
        tags = {(e.step, v.tag) for f in folder.glob("events*") for e in oracle.train.summary_iterator(str(f))
                for v in e.summary.value}
        return sorted(p.name for p in folder.glob("model*")), sorted(tags), oracle.train.load_variable(str(folder), "w").tolist()
    assert files(weft, tmp_path / "ours") == files(oracle, tmp_path / "theirs")


def test_a_supervisor_goes_on_from_a_resource_step(tmp_path):
    def steps(tf, folder):
        found = []
        for _ in range(2):
            with tf.Graph().as_default():
                step = tf.Variable(0, name="global_step", trainable=False, use_resource=True)
                tf.summary.scalar("s", tf.cast(step, tf.float32))
                count = step.assign_add(1)
                supervisor = tf.train.Supervisor(logdir=str(folder), global_step=step, save_model_secs=0, summary_op=None)
                with supervisor.managed_session() as sess:
                    found += [int(sess.run(count)) for _ in range(3)]
                    supervisor.saver.save(sess, supervisor.save_path, global_step=step)
        return found, sorted(p.name for p in folder.glob("model*"))
    assert steps(weft, tmp_path / "ours") == steps(oracle, tmp_path / "theirs")
