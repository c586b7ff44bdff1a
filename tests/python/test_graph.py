"""Building graphs: names, inputs and values are TensorFlow's."""
import numpy as np
import pytest

from both import both, both_raise, weft

X = np.arange(12, dtype=np.float32).reshape(3, 4) / 7 - 0.6


def test_operators():
    def program(tf):
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        y = tf.constant([[1., 2., 3., 4.]])
        return [x + y, x + 1, 1 - x, x * 2., x / 3, -x, abs(x), x ** 2, x > 0, tf.cast(x, tf.int32) // 2, 2. * x, x % 2.]
    both(program, {"x": X})


def test_slices():
    def program(tf):
        x = tf.placeholder(tf.float32, [3, 4], name="x")
        i = tf.constant(1)
        return [x[0], x[1:], x[:, 2], x[..., 1], x[tf.newaxis, ::2], x[i], x[-1, ::-1]]
    both(program, {"x": X})
    both(lambda tf: tf.constant(X)[tf.constant(1):, :2], same_nodes=False)


def test_constants_without_elements():
    def program(tf):
        return [tf.zeros([0]), tf.zeros([0, 3]), tf.ones([2, 0], tf.int32), tf.zeros([0], tf.string),
                tf.constant(1.0, shape=[0]), tf.constant([1.0, 2.0], shape=[0]), tf.constant([], shape=[3])]
    both(program)


def test_scopes_and_names():
    def program(tf):
        with tf.name_scope("a") as s:
            one = tf.constant(1.0)
            with tf.name_scope("b"):
                two = tf.add_n([one, one, one], name="sum")
        with tf.name_scope("a"):
            three = tf.identity(two)
        with tf.name_scope(s):
            four = tf.identity(three, name="again")
        with tf.control_dependencies([two]):
            five = tf.no_op(name="wait")
        return [four, five, s, three.name, four.op.name]
    both(program)


def test_reductions():
    def program(tf):
        x = tf.placeholder(tf.float32, [3, 4], name="x")
        u = tf.placeholder(tf.float32, name="u")
        return [tf.reduce_mean(x), tf.reduce_sum(x, 1), tf.reduce_sum(x, reduction_indices=[0], keep_dims=True),
                tf.reduce_max(x, axis=[0, 1]), tf.reduce_mean(u), tf.argmax(x, 1), tf.reduce_prod(x), tf.reduce_min(u, 0)]
    both(program, {"x": X, "u": X})


def test_arrays():
    def program(tf):
        x = tf.placeholder(tf.float32, [3, 4], name="x")
        return [tf.concat([x, x], 0), tf.stack([x, x], 1), tf.reshape(x, [-1, 2]), tf.transpose(x), tf.expand_dims(x, 0),
                tf.squeeze(tf.expand_dims(x, 0)), tf.zeros([2, 3]), tf.ones_like(x), tf.fill([2], 3.0), tf.shape(x),
                tf.one_hot([0, 2], 3), tf.tile(x, [1, 2]), tf.pad(x, [[1, 0], [0, 1]]), tf.gather(x, [2, 0]),
                tf.where(x > 0, x, -x), tf.range(5), tf.cast(x, tf.int64), tf.rank(x), tf.size(x), tf.zeros_like(x)] + \
            tf.split(x, 2, 1) + tf.unstack(x)
    both(program, {"x": X})


def test_unknown_shapes():
    def program(tf):
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        return [tf.shape(x), tf.zeros_like(x), tf.reshape(x, [tf.shape(x)[0], -1]), tf.reduce_mean(x, 0), tf.size(x)]
    both(program, {"x": X})


def test_variables():
    def program(tf):
        a = tf.Variable(tf.zeros([2, 3]), name="a")
        b = tf.Variable(3.5)
        c = tf.Variable([1, 2], trainable=False, name="c")
        return [a, b, c, tf.assign_add(b, 1.0), a.assign(tf.ones([2, 3])), [v.name for v in tf.trainable_variables()],
                [v.name for v in tf.global_variables()]]
    both(program)


def test_get_variable_from_values_that_are_false():
    def program(tf):
        return [tf.get_variable("zero", initializer=0.0), tf.get_variable("none", initializer=0),
                tf.get_variable("row", initializer=np.zeros(3, np.float32)), tf.get_variable("no", initializer=False)]
    both(program)


def test_get_variable_and_reuse():
    def program(tf):
        with tf.variable_scope("net"):
            w = tf.get_variable("w", [4, 2], initializer=tf.truncated_normal_initializer(stddev=0.1))
            b = tf.get_variable("b", [2], initializer=tf.constant_initializer(0.5))
        with tf.variable_scope("net", reuse=True):
            again = tf.get_variable("w", [4, 2])
        with tf.variable_scope("other") as scope:
            tf.get_variable("g", [3, 3])
            scope.reuse_variables()
            g = tf.get_variable("g", [3, 3])
        with tf.variable_scope(scope, reuse=True):
            h = tf.get_variable("g")
        return [w, b, g, again is w, h is g, w.name, g.name]
    both(program)


def test_gradients():
    def program(tf):
        x = tf.placeholder(tf.float32, [3, 4], name="x")
        w = tf.Variable(np.ones((4, 2), np.float32), name="w")
        e = tf.Variable(np.ones((5, 2), np.float32), name="e")
        loss = tf.reduce_sum(tf.square(tf.matmul(x, w))) + tf.reduce_sum(tf.gather(e, [1, 3, 1]))
        dw, de = tf.gradients(loss, [w, e])
        return [dw, de.values, de.indices]
    both(program, {"x": X}, same_nodes=False)


def test_cond():
    def program(tf):
        a = tf.constant(3.0)
        x = tf.constant([1.0, 2.0])
        return [tf.cond(a > 1, lambda: x * a, lambda: x + 1.), tf.cond(a > 5, lambda: tf.square(x), lambda: x - a)]
    both(program, in_order=False)


def test_while_loop():
    def program(tf):
        i, n = tf.constant(0), tf.constant(10)
        total = tf.while_loop(lambda i, s: tf.less(i, n), lambda i, s: [i + 1, s + tf.cast(i, tf.float32)],
                              [i, tf.constant(0.5)])
        grow = tf.while_loop(lambda v: tf.shape(v)[0] < 5, lambda v: tf.concat([v, v], 0), [tf.ones([2])],
                             shape_invariants=[tf.TensorShape([None])])
        return list(total) + [grow]
    both(program, same_nodes=False)


def test_gradient_of_a_loop():
    def program(tf):
        x = tf.Variable(1.5)
        _, y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [tf.constant(0), tf.constant(2.0)])
        return [y, tf.gradients(y, [x])[0]]
    both(program, same_nodes=False)


def test_loops_over_rows():
    def program(tf):
        x = tf.placeholder(tf.float32, [3, 4], name="x")
        w = tf.Variable(2.0)
        y = tf.map_fn(lambda row: tf.reduce_sum(row) * w, x)
        return [y, tf.gradients(y, [w])[0], tf.scan(lambda a, row: a + row, x), tf.foldl(lambda a, row: a - row, x),
                tf.foldr(lambda a, row: a * 0.5 + row, x, initializer=tf.zeros([4])),
                tf.map_fn(lambda row: tf.cast(row[0] > 0, tf.int32), x, dtype=tf.int32)]
    both(program, {"x": X}, same_nodes=False)


def test_py_func():
    def program(tf):
        x = tf.placeholder(tf.float32, [3, 4], name="x")
        return [tf.py_func(lambda v: np.sum(v, 1), [x], tf.float32),
                tf.py_func(lambda v: (v.shape[0], b"text"), [x], [tf.int64, tf.string])[1],
                tf.py_function(lambda v: v.numpy() * 2, [x], tf.float32),
                tf.py_function(lambda v, w: [v + w, v.numpy().shape[0]], [x, x], [tf.float32, tf.int64], name="both")[1]]
    both(program, {"x": X}, same_nodes=False)


def test_functions_of_the_library_are_called_and_differentiated():
    from tensorflow.python.framework import function

    import weft
    from weft._core.framework.function import Defun

    def program(tf):
        defun = Defun if tf is weft else function.Defun
        x = tf.placeholder(tf.float32, [3, 4], name="x")

        @defun(tf.float32, tf.float32)
        def two(a, b):
            return a * a + b, tf.sin(b)

        @defun(tf.float32, func_name="one")
        def other(a):
            return two(a, a * 2.0)[0]
        y, z = two(x, x * 3.0)
        w = other(y)
        return [y, z, w, tf.gradients([w, z], x)[0]]
    both(program, {"x": X}, same_nodes=False)


def test_errors_of_functions_keep_their_code():
    import weft as tf

    def end():
        raise tf.errors.OutOfRangeError(None, None, "no more")

    def bad():
        raise KeyError("lost")
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(tf.errors.OutOfRangeError, match="no more"):
            sess.run(tf.py_func(end, [], tf.float32))
        with pytest.raises(tf.errors.UnknownError, match="KeyError: 'lost'"):
            sess.run(tf.py_func(bad, [], tf.float32))


def test_a_function_of_another_process_is_not_found():
    """A py_func op on a ps: its token means nothing there."""
    def program(tf):
        graph = tf.GraphDef()
        node = graph.node.add(name="far", op="PyFunc")
        node.attr["token"].s = b"pyfunc_987654"
        node.attr["Tin"].list.SetInParent()
        node.attr["Tout"].list.type.append(tf.float32.as_datatype_enum)
        return tf.import_graph_def(graph, return_elements=["far:0"], name="")[0]
    for said in both_raise(program):
        assert "ValueError: Could not find callback with key=pyfunc_987654 in the registry." in said


def test_random_numbers_are_the_same():
    def program(tf):
        return [tf.random_normal([4]), tf.random_uniform([3], seed=5), tf.truncated_normal([5], stddev=0.2),
                tf.random_uniform([4], 0, 100, dtype=tf.int32), tf.random_shuffle(tf.range(6))]
    both(program)


def test_collections_hold_what_was_put_in():
    def program(tf):
        t = tf.constant(1.0, name="t")
        with tf.name_scope("inner"):
            u = tf.constant(2.0, name="u")
        tf.add_to_collection("mine", t)
        tf.add_to_collection("mine", u)
        tf.add_to_collection("numbers", 7)
        return [[x.name for x in tf.get_collection("mine")], [x.name for x in tf.get_collection("mine", "inner")],
                tf.get_collection("numbers"), tf.get_collection("none")]
    both(program)


def test_devices():
    def program(tf):
        def pick(op):
            return "/job:ps/task:1" if op.type == "VariableV2" else "/job:worker"
        with tf.device("/cpu:0"):
            a = tf.constant(1.0)
        with tf.device("/job:worker/task:2"), tf.device("/gpu:1"):
            b = tf.constant(2.0)
        with tf.device(pick):
            c = tf.Variable(1.0)
        with tf.device(tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:0")):
            d = [tf.Variable(float(i)) for i in range(3)]
            e = d[0] + d[1]
        return [[x.device for x in [a, b, c] + d + [e, c.initializer, d[2].initial_value]]]

    import weft
    from both import oracle
    found = []
    for tf in (weft, oracle):
        with tf.Graph().as_default():
            found.append(program(tf)[0])
    assert found[0] == found[1]


def on_both(program):
    """What a program that only builds a graph returns on Weft and on TensorFlow."""
    import weft
    from both import oracle
    found = []
    for tf in (weft, oracle):
        with tf.Graph().as_default():
            found.append(program(tf))
    assert found[0] == found[1]


def test_device_functions_see_the_node():
    def program(tf):
        seen = []

        def strategy(op):
            seen.append([op.name, op.device, str(op.get_attr("dtype")), str(op.node_def.attr["shape"].shape),
                         [(t.dtype.name, str(t.shape)) for t in op.outputs]])
            return len(seen) % 2

        def pick(op):
            if op.type != "MatMul":
                return "/job:ps"
            with tf.device(None):
                inside = tf.no_op(name="inside").name
            seen.append([op.name, list(op.node_def.input), [t.name for t in op.inputs], op.get_attr("transpose_b"),
                         [c.name for c in op.control_inputs], str(op.outputs[0].shape), inside])
            return "/job:worker"

        def refuse(op):
            raise KeyError(op.graph.get_operations()[-1].name)

        with tf.device(tf.train.replica_device_setter(2, ps_strategy=strategy)):
            a, b = tf.get_variable("a", [3, 4]), tf.get_variable("b", [2], tf.int64)
        with tf.device(pick), tf.control_dependencies([a.initializer]):
            c = tf.matmul(a, a, transpose_b=True)
        with pytest.raises(KeyError), tf.device(refuse):
            tf.constant(1.0, name="refused")
        seen.append(tf.constant(1.0, name="after").op.name)
        return seen, [v.device for v in (a, b, c)], tf.add(c, 1.0, name="sum").op.inputs[0].op.name
    on_both(program)


def test_a_device_setter_that_does_not_merge_keeps_inner_devices():
    def program(tf):
        made = []
        for setter in (tf.train.replica_device_setter(2, merge_devices=False),
                       tf.train.replica_device_setter(2, worker_device="/job:worker/task:1", merge_devices=True)):
            with tf.device(setter):
                made += [tf.Variable(1.0), tf.Variable(2.0), tf.constant(1.0)]
                with tf.device("/cpu:0"):
                    made += [tf.Variable(2.0), tf.constant(1.0)]
        return [m.device for m in made]
    on_both(program)


def test_the_load_of_a_variable_is_its_bytes_over_all_setters():
    import weft as tf
    training = tf.contrib.training
    strategy = training.GreedyLoadBalancingStrategy(3, training.byte_size_load_fn)
    with tf.Graph().as_default():
        made = []
        for kind in (tf.float32, tf.float64, tf.int32, tf.float32, tf.float32):
            with tf.device(tf.train.replica_device_setter(3, ps_strategy=strategy)):
                made.append(tf.get_variable("v%d" % len(made), [3], kind))
    assert [v.device[-1] for v in made] == list("01202")


@pytest.mark.parametrize("program", [
    lambda tf: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3])),
    lambda tf: tf.zeros([2]) + tf.zeros([3]),
    lambda tf: tf.constant(1.0) + tf.constant(1),
    lambda tf: tf.get_variable("v", [2]) is tf.get_variable("v", [2]),
    lambda tf: bool(tf.constant(True)),
    lambda tf: list(tf.constant([1, 2])),
    lambda tf: tf.Session().run(None),
    lambda tf: tf.Session().run(tf.Variable(1.0)),
    lambda tf: tf.Session().run(tf.placeholder(tf.float32, [2]) * 1),
    lambda tf: tf.Session().run("nowhere:0"),
    lambda tf: tf.constant(["a"], tf.float32),
    lambda tf: tf.get_default_graph().get_tensor_by_name("x:0"),
])
def test_wrong_programs_are_refused_alike(program):
    both_raise(lambda tf: (tf.constant(0.0), program(tf))[1])


def test_wrong_feeds_are_refused_alike():
    def program(tf):
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        tf.Session().run(x * 2, {x: np.zeros((3, 2))})
    ours, theirs = both_raise(program)
    assert ours == theirs.replace("Tensor 'x:0'", "Tensor x:0") or "(3, 2)" in ours


def test_a_closed_session_and_a_finalized_graph_refuse():
    def closed(tf):
        sess = tf.Session()
        sess.close()
        sess.run(tf.constant(1))

    def finalized(tf):
        tf.get_default_graph().finalize()
        tf.constant(1)
    assert both_raise(closed)[0] == "Attempted to use a closed Session."
    assert both_raise(finalized)[0] == "Graph is finalized and cannot be modified."


def test_equal_nests_of_other_classes_keep_their_class():
    import collections
    pair = collections.namedtuple("pair", "a b")
    with weft.Graph().as_default(), weft.Session() as sess:
        x, y = weft.constant(1), weft.constant(2)
        assert type(sess.run([(x, y)])[0]) is tuple
        assert sess.run([pair(x, y)])[0].b == 2 and sess.run({"k": pair(x, y)})["k"].a == 1
        assert type(sess.run({"k": (x, y)})["k"]) is tuple and type(sess.run((x, y))) is tuple
        assert sess.run({"k": x}) == sess.run({"k": x}) == {"k": 1} and sess.run({"j": x}) == {"j": 1}
