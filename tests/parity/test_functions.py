"""Function libraries: calls, conditionals and loops of TensorFlow's newer kind, gradients included, as it exports them."""
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework import function

import weftlib
from scenarios import collector, compare

v1 = tf.compat.v1
raw = tf.raw_ops
F, I, B = np.float32, np.int32, np.bool_
SCENARIOS = {}
scenario = collector(SCENARIOS)


@pytest.fixture(autouse=True)
def newer_control_flow():
    v1.enable_control_flow_v2()
    yield
    v1.disable_control_flow_v2()


@scenario([F(3), B(True)], [F(3), B(False)])
def cond_with_gradient(x, p):
    y = v1.cond(p, lambda: tf.exp(x) * x, lambda: x * x * x)
    return [y, tf.gradients(y, x)[0]]


@scenario([F(1), B(True), B(True)], [F(1), B(True), B(False)], [F(1), B(False), B(True)], [F(1), B(False), B(False)])
def cond_in_cond(x, p, q):
    y = v1.cond(p, lambda: v1.cond(q, lambda: x + 1, lambda: tf.sin(x)), lambda: v1.cond(q, lambda: x * x, lambda: x + 8))
    return [y, tf.gradients(y, x)[0]]


@scenario([I(0), F(2)], [I(1), F(2)], [I(2), F(2)], [I(7), F(2)], [I(-1), F(2)])
def switch_case(i, x):
    y = tf.switch_case(i, [lambda: x, lambda: x * x, lambda: tf.exp(x)])
    return [y, tf.gradients(y, x)[0]]


@scenario([I(0)], [I(1)], [I(12)])
def while_of_many(n):
    return list(v1.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, b, a + b),
                              [tf.constant(0), tf.constant(0), tf.constant(1)]))


@scenario([np.array([.5, 1, 2], F), I(0)], [np.array([.5, 1, 2], F), I(5)])
def while_with_gradient(x, n):
    i, y = v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y) * x), [tf.constant(0), x])
    return [i, y, tf.gradients(y, x)[0]]


@scenario([F(1.5), I(3)])
def while_in_while_in_cond(x, n):
    def outer(i, y):
        _, z = v1.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z * x), [tf.constant(0), y])
        return i + 1, v1.cond(i > 1, lambda: z + y, lambda: z - y)
    i, y = v1.while_loop(lambda i, y: i < n, outer, [tf.constant(0), x])
    return [i, y, tf.gradients(y, x)[0]]


@scenario([np.arange(12, dtype=F).reshape(4, 3)], [np.ones((1, 3), F)])
def map_and_scan(x):
    y = tf.map_fn(lambda r: r * tf.reduce_sum(r), x)
    z = tf.scan(lambda a, b: a * .5 + b, x)
    return [y, z, tf.gradients(y, x)[0], tf.gradients(z, x)[0]]


@scenario([np.linspace(-1, 1, 30).astype(F).reshape(2, 5, 3)])
def recurrent(x):
    w = v1.get_variable("w", [5, 2], initializer=v1.constant_initializer(.1), use_resource=True)

    def body(t, h, ta):
        h = tf.tanh(tf.matmul(tf.concat([x[:, t], h], 1), w))
        return t + 1, h, ta.write(t, h)
    ta = tf.TensorArray(tf.float32, 5, element_shape=[2, 2])
    _, _, ta = v1.while_loop(lambda t, h, ta: t < 5, body, [tf.constant(0), tf.zeros([2, 2]), ta])
    out = ta.stack()
    grads = tf.gradients(tf.reduce_sum(out), [x, w])
    v1.group(w.initializer, name="init")
    return [out] + grads


@scenario([np.array([1., -2], F)])
def calls(x):
    @tf.function
    def inner(a):
        return tf.nn.relu(a) * 2

    @tf.function
    def outer(a, b):
        return inner(a) + b, inner(b)
    y, z = outer(x, x * 3)
    return [y, z, tf.gradients(y, x)[0]]


@scenario([np.array([1., -2], F), np.array([.5, 3], F)])
def called_by_name(x, y):
    @function.Defun(tf.float32, tf.float32)
    def inner(a, b):
        return a * a + b, tf.sin(b)

    @function.Defun(tf.float32, tf.float32)
    def outer(a, b):
        first, second = inner(a, b * 2.0)
        return first * second
    p, q = inner(x, y)
    r = outer(x, p)
    return [p, q, r] + tf.gradients([p, q], [x, y]) + tf.gradients(r, [x, y])


@scenario([np.array([1., -2], F)])
def gradient_of_its_own(x):
    @function.Defun(tf.float32, tf.float32)
    def clipped(a, d):
        return tf.clip_by_value(d, -1.0, 1.0)

    @function.Defun(tf.float32, grad_func=clipped)
    def cube(a):
        return a * a * a
    y = cube(x)
    return [y, tf.gradients(y, x)[0]]


@scenario([I(4)])
def variable_in_while(n):
    v = v1.get_variable("v", [], initializer=v1.constant_initializer(1.0), use_resource=True)
    v1.group(v.initializer, name="init")

    def body(i):
        with tf.control_dependencies([v.assign(v * 2.0 + 1.0)]):
            return i + 1
    i = v1.while_loop(lambda i: i < n, body, [tf.constant(0)])
    with tf.control_dependencies([i]):
        return [i, v.read_value()]


@scenario([I(0), I(4), I(1)], [I(4), I(0), I(-1)], [I(0), I(5), I(2)], [I(3), I(3), I(0)], [I(5), I(-2), I(-3)])
def for_of_a_range(start, limit, delta):
    @function.Defun(tf.int32, tf.float32, tf.int32)
    def body(i, x, n):
        return x * 2.0 + tf.cast(i, tf.float32), n + 1
    return list(raw.For(start=start, limit=limit, delta=delta, input=[tf.constant([1.0, 2.0]), tf.constant(0)], body=body))


@scenario([np.array([[1, 2], [3, 4], [5, 6]], F)], [np.zeros([0, 2], F)])
def map_of_slices(x):
    @function.Defun(tf.float32, tf.string, tf.float32)
    def body(a, s, n):
        return a * n, tf.reduce_sum(a), tf.strings.length(s + "!")
    texts = tf.strings.as_string(x[:, 0])
    return list(raw.MapDefun(arguments=[x, texts], captured_inputs=[tf.constant(10.0)], output_types=[tf.float32, tf.float32, tf.int32],
                             output_shapes=[[2], [], []], f=body))


@scenario([np.array([1, 2], F)])
def remote_calls(x):
    @function.Defun(tf.float32, tf.int32)
    def twice(a, n):
        return a * 2.0, n + 1
    names = ["", "/cpu:0", "/device:CPU:0", "/job:localhost", "/job:localhost/replica:0/task:0/cpu:0"]
    return [raw.RemoteCall(target=n, args=[x, tf.constant(3)], Tout=[tf.float32, tf.int32], f=twice) for n in names]


@scenario([F(1)])
def string_predicate(x):
    branch = tf.function(lambda a: a + 1).get_concrete_function(tf.TensorSpec([], tf.float32))
    other = tf.function(lambda a: a - 1).get_concrete_function(tf.TensorSpec([], tf.float32))
    for f in (branch, other):
        f.add_to_graph()
    def ask(p):
        return raw.StatelessIf(cond=p, input=[x], Tout=[tf.float32], then_branch=branch, else_branch=other)[0]
    return [ask(tf.constant(p)) for p in ("", "a", 0, 3, 0.0, .5)] + [ask(tf.constant([0])), ask(tf.zeros([0]))]


@scenario([np.arange(6, dtype=F).reshape(3, 2)])
def lists(x):
    a = raw.TensorListFromTensor(tensor=x, element_shape=tf.constant([2]))
    a = raw.TensorListPushBack(input_handle=a, tensor=x[0] * 10)
    b = raw.TensorListReserve(element_shape=tf.constant([2]), num_elements=2, element_dtype=tf.float32)
    b = raw.TensorListSetItem(input_handle=b, index=1, item=x[1])
    b = raw.TensorListSetItem(input_handle=b, index=4, item=x[2], resize_if_index_out_of_bounds=True)
    both = raw.TensorListConcatLists(input_a=a, input_b=b, element_dtype=tf.float32)
    rest, last = raw.TensorListPopBack(input_handle=both, element_shape=tf.constant([2]), element_dtype=tf.float32)
    stack = lambda l: raw.TensorListStack(input_handle=l, element_shape=tf.constant([2]), element_dtype=tf.float32)
    scattered = raw.TensorListScatterV2(tensor=x, indices=[3, 0, 1], element_shape=tf.constant([2]), num_elements=5)
    old = raw.TensorListScatter(tensor=x, indices=[2, 0, 1], element_shape=tf.constant([2]))
    into = raw.TensorListScatterIntoExistingList(input_handle=a, tensor=x[:2], indices=[2, 0])
    split = raw.TensorListSplit(tensor=x, element_shape=tf.constant([-1, 2]), lengths=tf.constant([1, 0, 2], tf.int64))
    joined = raw.TensorListConcatV2(input_handle=split, element_shape=tf.constant([-1, 2]),
                                    leading_dims=tf.constant([], tf.int64), element_dtype=tf.float32)
    joined_old = raw.TensorListConcat(input_handle=split, element_dtype=tf.float32)
    empty = raw.EmptyTensorList(element_shape=tf.constant(-1), max_num_elements=-1, element_dtype=tf.float32)
    return [stack(both), stack(rest), last, stack(scattered), stack(old), stack(into), joined.tensor, joined.lengths,
            joined_old.tensor, joined_old.lengths,
            raw.TensorListLength(input_handle=both), raw.TensorListLength(input_handle=empty),
            raw.TensorListElementShape(input_handle=a, shape_type=tf.int32),
            raw.TensorListElementShape(input_handle=empty, shape_type=tf.int64),
            stack(raw.TensorListResize(input_handle=a, size=2)), stack(tf.zeros_like(a)),
            raw.TensorListGather(input_handle=both, indices=[5, 0], element_shape=tf.constant([2]),
                                 element_dtype=tf.float32),
            raw.TensorListGetItem(input_handle=b, index=0, element_shape=tf.constant([2]), element_dtype=tf.float32)]


@scenario([F(2)])
def optionals(x):
    some, none = raw.OptionalFromValue(components=[x, x * 2]), raw.OptionalNone()
    return list(raw.OptionalGetValue(optional=some, output_types=[tf.float32] * 2, output_shapes=[[], []])) + [
        raw.OptionalHasValue(optional=some), raw.OptionalHasValue(optional=none)]


@scenario([F(2)])
def zeros_and_sums_of_optionals(x):
    items = raw.TensorListFromTensor(tensor=tf.stack([x, x + 1]), element_shape=tf.constant([], tf.int32))
    some, none = raw.OptionalFromValue(components=[x, items]), raw.OptionalNone()

    def parts(optional):
        value, item = raw.OptionalGetValue(optional=optional, output_types=[tf.float32, tf.variant], output_shapes=[[], []])
        return [value, raw.TensorListStack(input_handle=item, element_shape=tf.constant([], tf.int32),
                                           element_dtype=tf.float32)]
    return parts(raw.ZerosLike(x=some)) + parts(raw.AddN(inputs=[some, some, some])) + [
        raw.OptionalHasValue(optional=raw.ZerosLike(x=none)), raw.OptionalHasValue(optional=raw.AddN(inputs=[none, none]))]


@scenario([F(2)])
def stateful_case(x):
    v = v1.get_variable("v", [], initializer=v1.constant_initializer(1.0), use_resource=True)
    v1.group(v.initializer, name="init")
    def add(by):
        with tf.control_dependencies([v.assign_add(by)]):
            return v.read_value()
    y = tf.switch_case(tf.cast(x, tf.int32), [lambda: add(1.), lambda: add(10.), lambda: add(100.)])
    with tf.control_dependencies([y]):
        z = v1.cond(x > 1, lambda: add(1.), lambda: add(2.))
    return [y, z, tf.zeros_like(raw.FakeParam(dtype=tf.float32, shape=[2]))]  # its value is any


@scenario([np.zeros([3], F)])
def random_in_functions(x):
    f = tf.function(lambda a: a + v1.random_uniform([3], seed=7))
    return [f(x), v1.random_uniform([3], seed=7)]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", SCENARIOS)
def test_same_values(name, threads):
    fn, rows = SCENARIOS[name]
    compare(fn, rows, threads, 2, lambda v: np.shape(v) and [None] + list(np.shape(v)[1:]))


def test_a_library_goes_out_as_it_came():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [])
        v1.cond(x > 0, lambda: x, lambda: -x)
        v1.while_loop(lambda i: i < 3., lambda i: i + x, [x])
        there = graph.as_graph_def()
    back = weftlib.Graph(there).export()
    assert {f.signature.name: f for f in back.library.function} == {f.signature.name: f for f in there.library.function}


def test_a_missing_function_is_named():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder_with_default(1., [])
        y = v1.cond(x > 0, lambda: x, lambda: -x)
    there = graph.as_graph_def()
    name = there.library.function[0].signature.name
    del there.library.function[0]
    with pytest.raises(weftlib.Error, match=name):
        weftlib.Session(weftlib.Graph(there)).run([y.name])


@pytest.mark.parametrize("target, code", [("foo", 3), ("/job:worker/task:1", 13), ("/cpu:1", 13)])
def test_a_call_on_another_device_is_refused(target, code):
    with tf.Graph().as_default() as graph:
        f = function.Defun(tf.float32, func_name="same")(lambda x: x + 0.0)
        y = raw.RemoteCall(target=target, args=[tf.constant(1.0)], Tout=[tf.float32], f=f)[0]
        with pytest.raises(tf.errors.OpError) as theirs:
            v1.Session().run(y)
    with pytest.raises(weftlib.Error) as ours:
        weftlib.Session(weftlib.Graph(graph.as_graph_def())).run([y.name])
    assert theirs.value.error_code == ours.value.code == code


def test_a_loop_without_end_ends_at_its_deadline():
    graph = tf.Graph()
    with graph.as_default():
        y = v1.while_loop(lambda i: i > 0., lambda i: i + 1., [tf.constant(1.)])
    with pytest.raises(weftlib.Error, match="DEADLINE"):
        weftlib.Session(weftlib.Graph(graph.as_graph_def())).run([y.name], timeout_ms=200)
