"""Variables of both kinds: assigning, updating, counting, sharing, and what an uninitialized one says."""
import numpy as np
import pytest
import tensorflow as tf

from scenario import Fails, check

v1 = tf.compat.v1
raw = tf.raw_ops
f32 = tf.float32


def fed(value, dtype=None):
    return v1.placeholder_with_default(tf.constant(value, dtype), None)


def ref(shape, dtype=f32, name="v", **kw):
    return raw.VariableV2(shape=shape, dtype=dtype, name=name, **kw)


def handle(shape, dtype=f32, name="h"):
    return raw.VarHandleOp(dtype=dtype, shape=shape, shared_name=name, name=name)


def assign(v, x, **kw):
    return raw.Assign(ref=v, value=x, **kw)


def set_to(h, x, **kw):
    return raw.AssignVariableOp(resource=h, value=x, **kw)


def get(h, dtype=f32):
    return raw.ReadVariableOp(resource=h, dtype=dtype)


def references():
    v = ref([2])
    ready = raw.IsVariableInitialized(ref=v)
    return [ready, tf.identity(v), raw.AssignAdd(ref=v, value=[1., 2]), assign(v, fed([1., 2, 3])), assign(v, [1., 2]), ready,
            raw.AssignAdd(ref=v, value=[1., 2]), raw.AssignSub(ref=v, value=[5., 5]), raw.AssignAdd(ref=v, value=fed([1., 2, 3])),
            raw.AssignAdd(ref=v, value=fed(1.)), v, assign(v, fed([1., 2, 3]), validate_shape=False), tf.identity(v)]


def resources():
    h = handle([2])
    ready = raw.VarIsInitializedOp(resource=h)
    shape = raw.VariableShape(input=h)
    return [ready, Fails(get(h)), Fails(raw.AssignAddVariableOp(resource=h, value=[1., 2])), Fails(shape), set_to(h, [1., 2]), ready,
            get(h), raw.AssignAddVariableOp(resource=h, value=[1., 2]), get(h), raw.AssignSubVariableOp(resource=h, value=[5., 5]),
            get(h), raw.AssignAddVariableOp(resource=h, value=fed([1., 2, 3])), shape, set_to(h, fed([1., 2, 3])), get(h), shape,
            raw.DestroyResourceOp(resource=h), ready, Fails(raw.DestroyResourceOp(resource=h, ignore_lookup_error=False)),
            set_to(h, [7., 8]), get(h)]


def unknown_shapes():
    v, h, old = ref(None), handle(None), raw.Variable(shape=[], dtype=f32, name="old")
    return [assign(v, [1., 2]), tf.identity(v), set_to(h, [[1.]]), get(h), raw.VariableShape(input=h, out_type=tf.int64),
            assign(old, [3., 4]), assign(old, 5.), tf.identity(old)]


def shared_names():
    a, b = ref([2], name="a", shared_name="z"), ref([2], name="b", shared_name="z")
    other = ref([2], name="c", shared_name="z", container="elsewhere")
    return [assign(a, [1., 2]), tf.identity(b), raw.IsVariableInitialized(ref=other), assign(other, [3., 4]), tf.identity(a),
            assign(ref([2], name="d", container="!x"), [1., 2])]


def counting():
    v, h = ref([], tf.int32), handle([], tf.int64)
    up, more = raw.CountUpTo(ref=v, limit=3), raw.ResourceCountUpTo(resource=h, limit=2, T=tf.int64)
    return [up, assign(v, 1), up, up, up, tf.identity(v), set_to(h, tf.constant(0, tf.int64)), more, more, more]


def strings():
    v, h = ref([2], tf.string), handle([2], tf.string)
    return [assign(v, ["a", ""]), tf.identity(v), set_to(h, ["x", "yy"]), get(h, tf.string),
            raw.ResourceScatterUpdate(resource=h, indices=[1], updates=["z"]), get(h, tf.string),
            raw.ScatterUpdate(ref=v, indices=[0], updates=["q"])]


def a_reader_keeps_what_it_read():
    v = ref([2])
    with tf.control_dependencies([tf.identity(v)]):
        before = tf.identity(tf.identity(v) + 0.)
    with tf.control_dependencies([before]):
        after = tf.identity(raw.AssignAdd(ref=v, value=[10., 10]))
    h = handle([2])
    first = get(h)
    with tf.control_dependencies([first]):
        add = raw.AssignAddVariableOp(resource=h, value=[10., 10])
    with tf.control_dependencies([add]):
        second = get(h)
    return [assign(v, [1., 2]), [before, after], set_to(h, [1., 2]), [first, second], [first, second]]


def rows():
    v, h = ref([3, 2]), handle([3, 2])
    x = [[1., 2], [3, 4], [5, 6]]
    add = lambda i, u: raw.ScatterAdd(ref=v, indices=fed(i), updates=fed(u))
    radd = lambda i, u: raw.ResourceScatterAdd(resource=h, indices=fed(i), updates=fed(u))
    return [add([0], [[1., 1]]), assign(v, x), add([0, 0], [[1., 1], [2, 2]]), add([2], 5.), add([0, 2], [1., 1, 1, 1]),
            Fails(add([0, 3], [[1., 1], [1, 1]])), Fails(add([-1], [[1., 1]])), set_to(h, x), radd([1, 1], [[1., 1], [2, 2]]), get(h),
            Fails(radd([0, 3], [[1., 1], [1, 1]])), radd([0, 2], [1., 1, 1, 1]),
            raw.ResourceGather(resource=h, indices=fed([2, 1]), dtype=f32), raw.ResourceGather(resource=h, indices=fed([0, 3]), dtype=f32)]


SCENARIOS = [references, resources, unknown_shapes, shared_names, counting, strings, a_reader_keeps_what_it_read, rows]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_variable_behaves_as_tensorflows(scenario):
    check(scenario)


def test_two_sessions_of_one_graph_have_their_own_variables():
    import weftlib
    with tf.Graph().as_default() as g:
        v = ref([])
        init, now = assign(v, 3.).op, tf.identity(v)
    w = weftlib.Graph(g.as_graph_def())
    a, b = weftlib.Session(w), weftlib.Session(w)
    a.run((), None, [init.name])
    assert a.run([now.name])[0] == np.float32(3)
    with pytest.raises(weftlib.Error, match="uninitialized value v"):
        b.run([now.name])
