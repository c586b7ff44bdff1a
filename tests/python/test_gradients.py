"""tf.gradients and its parameters, and gradient functions that programs write in Python."""
import itertools

import numpy as np
import pytest

import weft
from both import both, both_raise, oracle, run

numbers = itertools.count()  # the registries of both systems last as long as the process


def fails(program):
    """The exception that a program raises: the same class and words in both systems."""
    raised = []
    for tf in (weft, oracle):
        with tf.Graph().as_default(), pytest.raises(Exception) as caught:
            program(tf)
        raised.append((type(caught.value), str(caught.value)))
    assert raised[0] == raised[1]
    return raised[0]


def registered(tf, function):
    """A new name for a gradient function."""
    name = "TestGradient%d" % next(numbers)
    tf.RegisterGradient(name)(function)
    return name


def values(tf):
    return tf.constant([1., -2, .5], name="x")


# ---- parameters ----

def test_grad_ys_stop_gradients_and_unconnected_gradients():
    def program(tf):
        x = values(tf)
        y, z = tf.square(x), tf.sin(x)
        w = y * z
        first = tf.gradients([w, y], [x, y], grad_ys=[[1., 2, 3], None])
        stopped = tf.gradients(w, [x, y], stop_gradients=[y])
        zero = tf.gradients(y, [z, x], unconnected_gradients=tf.UnconnectedGradients.ZERO)
        text = tf.gradients(y, [z], unconnected_gradients="zero")
        assert tf.gradients(y, [z]) == [None]
        return first + stopped + zero + text
    both(program, same_nodes=False)


OTHER_SHAPES = {
    "products": ([1, 3], lambda tf, x: x * x), "exp": ([], lambda tf, x: tf.exp(x)), "quotients": ([], lambda tf, x: 2. / x),
    "extremes": ([1, 3], lambda tf, x: tf.clip_by_value(tf.maximum(x, .5), .4, 1.)), "tanh": ([6], lambda tf, x: tf.tanh(x)),
    "sqrt": ([3, 2], lambda tf, x: tf.sqrt(x)), "reshape": ([6], lambda tf, x: tf.reshape(x, [3, 2])),
    "softmax": ([], lambda tf, x: tf.nn.softmax(x)), "mean": ([1, 3], lambda tf, x: tf.reduce_mean(x, 0)),
}


@pytest.mark.parametrize("name", sorted(OTHER_SHAPES))
def test_grad_ys_of_another_shape(name):
    shape, make = OTHER_SHAPES[name]

    def program(tf):
        x = tf.constant(np.arange(6, dtype=np.float32).reshape(2, 3) / 5 + .3)
        given = tf.constant(np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape) / 7., tf.float32)
        return tf.gradients(make(tf, x), x, grad_ys=given)
    both(program, same_nodes=False)


def test_grad_ys_of_unknown_shape_pass_where_nothing_was_broadcast():
    def program(tf):
        x = tf.ones([2, 3])
        return tf.gradients([2 * x, x + [1., 2., 3.]], x, grad_ys=[tf.placeholder_with_default(np.float32(2), None)] * 2)
    both(program, same_nodes=False)


@pytest.mark.parametrize("make", [
    lambda tf, x: tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, v * 2), (0, x))[1], lambda tf, x: tf.identity(x),
    lambda tf, x: tf.transpose(x)])
def test_grad_ys_that_no_op_on_the_way_can_take(make):
    def program(tf):
        x = tf.ones([2, 3])
        return tf.gradients(make(tf, x), x, grad_ys=tf.constant(1.))
    both_raise(program)


def test_nodes_of_gradients_have_the_names_that_programs_fetch():
    def program(tf):
        x = tf.placeholder_with_default(np.float32([[1, 2], [3, 4], [5, 6]]), [None, 2], name="x")
        w, b = tf.constant(np.float32([[1, 2], [3, 4]]) / 9, name="w"), tf.constant([.5, .25], name="b")
        h = tf.nn.softmax(tf.nn.relu(tf.matmul(x, w) + b))
        y = tf.reduce_mean(tf.square(tf.log(tf.exp(h) / 2.)) * tf.maximum(h, .4) - tf.sin(h))
        tf.gradients(y, [w, b], gate_gradients=True)
        return [tf.get_default_graph().get_tensor_by_name("gradients/%s:0" % n) for n in (
            "Shape", "grad_ys_0", "Mean_grad/Reshape", "Mean_grad/Tile", "Mean_grad/truediv", "sub_grad/tuple/control_dependency_1",
            "sub_grad/Neg", "mul_grad/Mul", "mul_grad/Reshape_1", "Sin_grad/mul", "Square_grad/Mul_1", "Log_grad/mul", "Exp_grad/mul",
            "truediv_grad/RealDiv", "Maximum_grad/SelectV2", "Softmax_grad/sub", "Softmax_grad/mul_1", "Relu_grad/ReluGrad",
            "add_grad/Sum", "add_grad/Sum/reduction_indices", "add_grad/Reshape", "add_grad/tuple/control_dependency_1",
            "MatMul_grad/MatMul_1", "MatMul_grad/tuple/control_dependency_1")]
    both(program, same_nodes=False)


@pytest.mark.parametrize("method", [None, 0, 1, 2])
def test_aggregation_method(method):
    def program(tf):
        x = values(tf)
        y = x * x + x * tf.sin(x) + tf.exp(x)
        d = tf.gradients(y, x, aggregation_method=method)[0]
        sums = [n.name for n in tf.get_default_graph().as_graph_def().node if n.op == "AddN"]
        return d, sums
    both(program, same_nodes=False)


def test_wrong_parameters_are_named():
    def program(tf, **kwargs):
        x = tf.placeholder(tf.float32, [2], name="x")
        return tf.gradients(tf.square(x) * x, x, **kwargs)

    def complex_sum(tf):
        x = tf.placeholder(tf.float32, [2], name="x")
        return tf.gradients(tf.complex(x, x, name="c"), x)
    fails(lambda tf: program(tf, grad_ys=[None, None]))
    fails(lambda tf: program(tf, aggregation_method=77))
    fails(lambda tf: program(tf, unconnected_gradients="all"))
    fails(complex_sum)


@pytest.mark.parametrize("op, kwargs", [("Mod", {"y": 2.}), ("TruncateMod", {"y": 2.}), ("Unique", {}), ("Snapshot", {})])
def test_an_op_without_a_gradient_raises(op, kwargs):
    def program(tf):
        x = tf.placeholder(tf.float32, [2], name="x")
        y = getattr(tf.raw_ops, op)(**{"input" if op == "Snapshot" else "x": x}, name="m", **kwargs)
        return tf.gradients(y[0] if isinstance(y, tuple) else y, x)
    assert fails(program)[0] is LookupError


# ---- complex matrices ----

@pytest.mark.parametrize("flip", ["transpose_a", "transpose_b", "adjoint_a", "adjoint_b"])
@pytest.mark.parametrize("rank", [2, 3, None])
def test_products_of_complex_matrices(flip, rank):
    def program(tf):
        random = np.random.RandomState(0)
        shape = [3, 3] if rank == 2 else [2, 3, 3]
        a, b = (random.randn(*shape) + 1j * random.randn(*shape) for _ in range(2))
        a, b = (tf.placeholder_with_default(x, None if rank is None else shape) for x in (a, b))
        y = tf.matmul(a, b, **{flip: True})
        return [y] + tf.gradients(y, [a, b], grad_ys=tf.constant(np.full(shape, 1 + 2j)))
    both(program, same_nodes=False)


# ---- second derivatives ----

def test_hessians():
    def program(tf):
        x, w = values(tf), tf.constant([[1., 2, 3], [4, 5, 6], [7, 8, 9]])
        y = tf.reduce_sum(tf.sin(x)) * tf.reduce_sum(x * x * x) + tf.reduce_sum(tf.matmul(w * w, w) * x)
        return tf.hessians(y, [x, w])
    both(program, same_nodes=False)


def test_gradients_inside_a_loop():
    """Of an invariant, and by what the body is given: how MAML and penalties on gradients are written."""
    def program(tf):
        w = tf.constant([1., 2.], name="w")

        def body(i, a):
            loss = tf.reduce_sum(tf.sin(a * w) * tf.gather(w, [1, 0]))
            by_a, by_w = tf.gradients(loss, [a, w])
            by_w = tf.convert_to_tensor(by_w)
            return i + 1, a + .1 * by_a * by_w
        a = tf.while_loop(lambda i, a: i < 3, body, [0, tf.constant([.5, -1])])[1]
        tasks = tf.map_fn(lambda row: tf.gradients(tf.reduce_sum(tf.tanh(row * w)), w)[0] * row,
                          tf.constant([[.1, .2], [.3, .4]]))
        return a, tf.gradients(a, w)[0], tasks, tf.gradients(tasks, w)[0]
    both(program, same_nodes=False)


def test_gradients_of_a_loop_inside_a_loop():
    def program(tf):
        w = tf.constant([1., 2.], name="w")

        def body(i, a):
            inner = tf.while_loop(lambda j, b: j < 3, lambda j, b: (j + 1, tf.sin(b * w) + a), [0, a])[1]
            return i + 1, a + tf.gradients(tf.reduce_sum(inner), a)[0]
        return tf.while_loop(lambda i, a: i < 2, body, [0, tf.constant([.5, -1])])[1]
    both(program, same_nodes=False)


def test_gradients_inside_a_branch():
    def program(tf):
        w = tf.constant([1., 2.], name="w")
        r = tf.cond(w[0] > 0, lambda: tf.gradients(tf.sin(w) * w, w)[0], lambda: w)
        return r, tf.gradients(r, w)[0]
    both(program, same_nodes=False)


def test_by_the_initial_value_of_a_loop_that_is_being_built():
    def program(tf):
        w = tf.constant([1., 2.], name="w")
        body = lambda i, a: (i + 1, tf.gradients(tf.sin(a), w)[0])
        return tf.while_loop(lambda i, a: i < 3, body, [0, w])
    assert fails(program)[0] is ValueError


def test_gradients_that_do_not_exist():
    def twice(tf):
        x = values(tf)
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1]
        return tf.gradients(tf.gradients(y, x)[0], x)

    def sparse(tf):
        x = values(tf)
        y = tf.raw_ops.SparseDenseCwiseAdd(sp_indices=[[0], [1], [2]], sp_values=x, sp_shape=[3], dense=[1., 2, 3])
        return tf.gradients(y, x)
    for tf in (weft, oracle):
        with tf.Graph().as_default(), pytest.raises(TypeError, match="Second-order gradient for while loops not supported"):
            twice(tf)
        with tf.Graph().as_default(), pytest.raises(NotImplementedError, match="Gradient for SparseDenseCwiseAdd"):
            sparse(tf)


def test_twice_through_batch_norm():
    def program(tf):
        x = tf.constant(np.random.RandomState(0).randn(2, 2, 3, 2), tf.float32)
        scale, offset = tf.constant([1.5, 2.]), tf.constant([.5, -1.])
        y = tf.nn.fused_batch_norm(x, scale, offset)[0]
        first = tf.gradients(tf.reduce_sum(tf.sin(y)), [x, scale, offset])
        return tf.gradients([tf.reduce_sum(d * d) for d in first], [x, scale, offset])
    both(program, same_nodes=False, tolerance=1e-4)


# ---- gradient functions of the program ----

def test_a_registered_gradient_replaces_that_of_an_op():
    def program(tf):
        def clipped(op, grad):
            assert op.type == "Relu" and op.inputs[0].name == "mul:0" and op.get_attr("T") == tf.float32
            return tf.where(grad > 0, grad * 10., tf.zeros_like(op.outputs[0]))
        name, graph, x = registered(tf, clipped), tf.get_default_graph(), values(tf)
        with graph.gradient_override_map({"Relu": name, "Square": "Tanh"}):
            y, t = tf.nn.relu(x * 2.), tf.square(x)
        z = tf.nn.relu(x)
        nodes = {n.op: n.attr["_gradient_op_type"].s for n in graph.as_graph_def().node if "_gradient_op_type" in n.attr}
        return tf.gradients(y, x)[0], tf.gradients(t, x)[0], tf.gradients(z, x)[0], sorted(nodes) == ["Relu", "Square"]
    both(program, same_nodes=False)


def test_an_optimizer_uses_registered_gradients():
    def program(tf):
        name, v = registered(tf, lambda op, grad: [grad * 100.]), tf.Variable([1., 2.], name="v")
        with tf.get_default_graph().gradient_override_map({"Identity": name}):
            loss = tf.reduce_sum(tf.identity(v * 3.))
        pairs = tf.train.GradientDescentOptimizer(.1).compute_gradients(loss)
        return [g for g, _ in pairs]
    both(program, same_nodes=False)


def test_a_registered_gradient_in_a_loop_and_in_a_branch():
    def program(tf):
        name = registered(tf, lambda op, grad: grad * op.inputs[0] + tf.cast(tf.shape(grad)[0], tf.float32))
        x, graph = values(tf), tf.get_default_graph()

        def body(i, a):
            with graph.gradient_override_map({"Sin": name}):
                return i + 1, tf.sin(a) * x
        y = tf.while_loop(lambda i, a: i < 3, body, [0, x])[1]
        with graph.gradient_override_map({"Cos": name}):
            z = tf.cond(x[0] > 0, lambda: tf.cos(x), lambda: x)
        return tf.gradients(y, x)[0], tf.gradients(z, x)[0]
    both(program, same_nodes=False)


def test_slices_reach_a_registered_gradient():
    def program(tf):
        kinds = []

        def pass_on(op, grad):
            kinds.append(type(grad).__name__)
            return grad
        p = tf.constant(np.arange(10.).reshape(5, 2), tf.float32)
        with tf.get_default_graph().gradient_override_map({"Identity": registered(tf, pass_on)}):
            q = tf.identity(p)
        d = tf.gradients(tf.gather(q, [1, 3]), p)[0]
        return tf.convert_to_tensor(d), type(d).__name__, kinds
    both(program, same_nodes=False)


def test_not_differentiable_and_missing_names():
    def program(tf, kind):
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.get_default_graph().gradient_override_map({"Identity": kind}):
            y = tf.identity(x, name="i")
        return tf.gradients(tf.square(y), x)
    name = "TestGradient%d" % next(numbers)
    assert fails(lambda tf: program(tf, name))[0] is LookupError
    for tf in (weft, oracle):
        tf.NotDifferentiable(name)
    both(lambda tf: [d is None for d in program(tf, name)], same_nodes=False)


def test_wrong_gradient_functions():
    def program(tf, function):
        with tf.get_default_graph().gradient_override_map({"Identity": registered(tf, function)}):
            x = tf.placeholder(tf.float32, [2], name="x")
            y = tf.identity(x, name="i")
        return tf.gradients(y, x)

    def raises(op, grad):
        raise ZeroDivisionError("mine")
    assert fails(lambda tf: program(tf, raises)) == (ZeroDivisionError, "mine")
    for tf in (weft, oracle):
        with pytest.raises(ValueError, match="Num gradients 2 generated for op name: \"i\"(.|\n)*do not match num inputs 1"):
            program(tf, lambda op, grad: [grad, grad])
        with pytest.raises(KeyError, match="Registering two gradient with name 'MatMul'!"):
            tf.RegisterGradient("MatMul")(raises)
    fails(lambda tf: tf.RegisterGradient(3))
    fails(lambda tf: tf.NoGradient(3))
    fails(lambda tf: tf.get_default_graph().gradient_override_map([1]).__enter__())
    fails(lambda tf: tf.get_default_graph().gradient_override_map({"Identity": 3}).__enter__())


def test_a_failed_gradient_leaves_the_graph_as_it_was():
    with weft.Graph().as_default() as g:
        def raises(op, grad):
            weft.square(grad)
            raise ValueError("mine")
        with g.gradient_override_map({"Identity": registered(weft, raises)}):
            x = weft.placeholder(weft.float32, [2])
            y = weft.identity(x)
        before = g.as_graph_def().SerializeToString()
        with pytest.raises(ValueError, match="mine"):
            weft.gradients(y, x)
        assert g.as_graph_def().SerializeToString() == before
        z = weft.square(x, name="after")
        assert g.get_operation_by_name("after") is z.op and z.op.inputs[0] is x


def test_custom_gradient():
    def program(tf):
        @tf.custom_gradient
        def log1pexp(x, y):
            e = tf.exp(x) * y
            return tf.log(1 + e), lambda dy: (dy * (1 - 1 / (1 + e)), dy)

        @tf.custom_gradient
        def pair(x):
            return [x * 1., x * 2.], lambda a, b: a * 7 + b
        x, v = values(tf), tf.Variable([1., 2, 3])
        y = log1pexp(x * 100., v)
        z = pair(x)
        through = tf.grad_pass_through(tf.sign)(x)
        again = tf.recompute_grad(lambda a: tf.sin(a) * a)(x)
        return [y, z[1]] + tf.gradients(y, [x, v]) + tf.gradients(z[0], x) + tf.gradients(through, x) + tf.gradients(again, x)
    both(program, same_nodes=False)


def test_custom_gradient_of_variables():
    def program(tf):
        @tf.custom_gradient
        def scaled(x):
            v = tf.get_variable("v", [3], initializer=tf.ones_initializer())
            return x * v, lambda d, variables=None: (d * 2, [d * 3 for _ in variables])
        square = tf.recompute_grad(lambda a: a * a * tf.get_variable("w", [3], initializer=tf.ones_initializer()))
        x = values(tf)
        with tf.variable_scope("s", use_resource=True, reuse=tf.AUTO_REUSE):
            y, z = scaled(x), square(x)
        v, w = tf.trainable_variables()
        return [y, z] + tf.gradients(y, [x, v]) + tf.gradients(z, [x, w])
    both(program, same_nodes=False)


def test_custom_gradient_builds_tensorflows_nodes():
    def program(tf):
        f = tf.custom_gradient(lambda x: (tf.exp(x), lambda d: d * 2.))
        return f(values(tf))
    both(program)


def test_wrong_custom_gradients():
    def uses_variable(tf):
        @tf.custom_gradient
        def f(x):
            return x * tf.get_variable("v", [3], use_resource=False), lambda d, variables=None: (d, [d])
        return f(values(tf))

    def keywords(tf):
        return tf.custom_gradient(lambda x, k=2: (x * k, lambda d: d))(values(tf), k=3)
    fails(uses_variable)
    fails(keywords)


def test_get_gradient_function():
    from weft._core.run import python_ops
    with weft.Graph().as_default():
        x = weft.constant([1., 2.])
        y = weft.square(x)
        d = python_ops.get_gradient_function(y.op)(y.op, weft.constant([1., 10.]))
        assert python_ops.get_gradient_function(x.op) is None
        with pytest.raises(LookupError, match="gradient registry has no entry for: Mod"):
            python_ops.get_gradient_function(weft.raw_ops.Mod(x=x, y=x).op)
        with weft.Session() as s:
            assert s.run(d).tolist() == [2., 40.]


def test_functions_with_gradients_of_their_own():
    def program(tf):
        if tf is weft:
            from weft._core.framework.function import Defun
        else:
            from tensorflow.python.framework.function import Defun

        @Defun(tf.float32, tf.float32)
        def backwards(x, dy):
            return dy * x * 100.

        @Defun(tf.float32, grad_func=backwards)
        def square(x):
            return x * x

        @Defun(tf.float32, python_grad_func=lambda op, dy: dy * op.inputs[0] * 50.)
        def again(x):
            return x * x
        x = values(tf)
        return square(x), tf.gradients(square(x), x)[0], tf.gradients(again(x), x)[0]
    ours, theirs = run(weft, program), run(oracle, program)
    for a, b in zip(ours[1], theirs[1]):
        np.testing.assert_allclose(a, b)


def test_an_update_in_a_condition_runs_only_if_the_condition_holds():
    """The usual way to apply gradients every few steps; the library's updates once ran in every step."""
    def program(tf):
        found = []
        for make in (lambda: tf.train.GradientDescentOptimizer(0.1), lambda: tf.train.AdamOptimizer(0.1),
                     lambda: tf.train.RMSPropOptimizer(0.1), lambda: tf.train.FtrlOptimizer(0.1)):
            with tf.Graph().as_default(), tf.Session() as sess:
                due, w = tf.placeholder(tf.bool, []), tf.Variable([3.0, 1.0])
                optimizer = make()
                pairs = optimizer.compute_gradients(tf.reduce_sum(w * w))
                train = tf.cond(due, lambda: tf.group(optimizer.apply_gradients(pairs)), tf.no_op)  # noqa: B023 - called at once
                sess.run(tf.global_variables_initializer())
                for flag in (False, True, False, True):
                    sess.run(train, {due: flag})
                    found.append(sess.run(w).round(4).tolist())
        return found
    both(program, same_nodes=False)
