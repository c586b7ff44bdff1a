"""Tensor arrays and stacks: values, errors, and gradients through them, in loops too."""
import numpy as np
import pytest
import tensorflow as tf

import compare
import weftlib
from scenario import check

v1 = tf.compat.v1
raw = tf.raw_ops
f32 = tf.float32


def fed(value, dtype=None):
    return v1.placeholder_with_default(tf.constant(value, dtype), None)


def array(size, dtype=f32, **kw):
    return raw.TensorArrayV3(size=size, dtype=dtype, **kw)


def write(h, i, x, flow):
    return raw.TensorArrayWriteV3(handle=h, index=i, value=x, flow_in=flow)


def read(h, i, flow, dtype=f32):
    return raw.TensorArrayReadV3(handle=h, index=i, flow_in=flow, dtype=dtype)


def gather(h, indices, flow, dtype=f32, **kw):
    return raw.TensorArrayGatherV3(handle=h, indices=tf.constant(indices, tf.int32), flow_in=flow, dtype=dtype, **kw)


def concat(h, flow, dtype=f32, **kw):
    return list(raw.TensorArrayConcatV3(handle=h, flow_in=flow, dtype=dtype, **kw))


def one_by_one():
    h, flow = array(3)
    w = write(h, 0, [1., 2], flow)
    r = read(h, 0, w)
    with tf.control_dependencies([r]):
        again = read(h, 0, w)
    return [flow, w, r, again, read(h, 1, w), read(h, 5, w), read(h, -1, w), read(h, 0, w, tf.int32), write(h, 0, [1.], w),
            write(h, 7, [1.], w), write(h, -1, [1.], w), write(h, 1, [1, 2], w), raw.TensorArraySizeV3(handle=h, flow_in=w),
            gather(h, [0, 1], w), concat(h, w)]


def together():
    h, flow = array(2, element_shape=[2])
    scatter = lambda i, v: raw.TensorArrayScatterV3(handle=h, indices=i, value=v, flow_in=flow)
    w = scatter([1, 0], [[1., 2], [3, 4]])
    return [gather(h, [0, 1, 1], w), gather(h, [0, 1], w), concat(h, w), gather(h, [0, 2], w), write(h, 0, fed([1., 2, 3]), flow),
            scatter([1, 0], fed([[1., 2, 3], [3, 4, 5]])), scatter([1, 0], fed([[1., 2]])), scatter(fed([1, 0]), fed(1.)),
            scatter(fed([[1, 0]]), fed([1.])), scatter([0, 5], [[1., 2], [3, 4]]), gather(h, [], flow, element_shape=[2])]


def split_and_joined():
    h, flow = array(0, dynamic_size=True, clear_after_read=False)
    split = lambda v, n: raw.TensorArraySplitV3(handle=h, value=v, lengths=fed(n, tf.int64), flow_in=flow)
    w = split([[1.], [2], [3]], [1, 2])
    return [concat(h, w), raw.TensorArraySizeV3(handle=h, flow_in=w), read(h, 1, w), split(fed([[1.], [2], [3]]), [1, 1]),
            gather(h, [0, 1], w), read(h, 7, w), split(fed(1.), [1, 1])]


def strings_and_bools():
    h, flow = array(2, tf.string)
    b, bflow = array(2, tf.bool, element_shape=[1])
    w = write(h, 1, ["x", ""], write(h, 0, ["a", "b"], flow))
    return [gather(h, [1, 0], w, tf.string), concat(h, w, tf.string), gather(b, [0, 1], write(b, 1, [True], bflow), tf.bool)]


def of_one_shape():
    h, flow = array(3, identical_element_shapes=True)
    w = write(h, 0, fed([1., 2]), flow)
    return [gather(h, [0, 2], w), write(h, 1, fed([1., 2, 3]), w)]


def of_several_shapes():
    h, flow = array(3)
    w = write(h, 2, [9.], write(h, 1, [1., 2, 3], write(h, 0, [1., 2], flow)))
    return [gather(h, [0, 1], w), concat(h, w)]


def gradient_arrays():
    h, flow = array(3, element_shape=[2], clear_after_read=False)
    w = write(h, 0, [1., 2], flow)
    g, gflow = raw.TensorArrayGradV3(handle=h, flow_in=w, source="gradients")
    twice = write(g, 0, [1., 2], write(g, 0, [10., 20], gflow))
    return [read(g, 0, twice), read(g, 1, twice), raw.TensorArraySizeV3(handle=g, flow_in=gflow), read(h, 1, w),
            gather(g, [0, 1], twice)]


def gradient_arrays_know_shapes():
    h, flow = array(3)
    w = write(h, 0, [1., 2], flow)
    r = read(h, 0, w)
    with tf.control_dependencies([r]):
        g, gflow = raw.TensorArrayGradV3(handle=h, flow_in=w, source="gradients")
    return [read(g, 0, gflow), read(g, 1, gflow)]


def gradient_arrays_fix_the_size():
    h, flow = array(3, dynamic_size=True)
    _, gflow = raw.TensorArrayGradV3(handle=h, flow_in=flow, source="gradients")
    with tf.control_dependencies([gflow]):
        return [write(h, 5, [1.], flow)]


def stacks():
    h = raw.StackV2(max_size=-1, elem_type=f32, stack_name="s")
    push = raw.StackPushV2(handle=h, elem=[1., 2])
    with tf.control_dependencies([push]):
        more = raw.StackPushV2(handle=h, elem=3.)
    with tf.control_dependencies([more]):
        a = raw.StackPopV2(handle=h, elem_type=f32)
    with tf.control_dependencies([a]):
        b = raw.StackPopV2(handle=h, elem_type=f32)
    with tf.control_dependencies([b]):
        c = raw.StackPopV2(handle=h, elem_type=f32)
    return [[a, b], c, a]


def old_stacks():
    h = raw.Stack(elem_type=f32, stack_name="s")
    push = raw.StackPush(handle=h, elem=[1., 2])
    with tf.control_dependencies([push]):
        return [raw.StackPop(handle=h, elem_type=f32)]


SCENARIOS = [one_by_one, together, split_and_joined, strings_and_bools, of_one_shape, of_several_shapes, gradient_arrays,
             gradient_arrays_know_shapes, gradient_arrays_fix_the_size, stacks, old_stacks]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_array_behaves_as_tensorflows(scenario):
    check(scenario)


def x_of(*shape):
    return v1.placeholder(f32, shape, name="x")


def unstack_and_stack():
    x = x_of(4, 3)
    ta = tf.TensorArray(f32, 4).unstack(x * x)
    return tf.stack([ta.read(i) * float(i + 1) for i in (0, 2)]) + ta.read(1), x, (4, 3)


def gather_some():
    x = x_of(4, 3)
    return tf.TensorArray(f32, 4, clear_after_read=False).unstack(tf.sin(x)).gather([3, 0, 3]), x, (4, 3)


def write_and_concat():
    x = x_of(3, 2)
    ta = tf.TensorArray(f32, 2, infer_shape=False).write(0, x[:1] * 2.).write(1, x * 3.)
    return tf.square(ta.concat()), x, (3, 2)


def split_and_read():
    x = x_of(3, 2)
    ta = tf.TensorArray(f32, 2, infer_shape=False).split(tf.exp(x), [1, 2])
    return ta.read(1) * 2., x, (3, 2)


def loop_over_rows():
    x = x_of(5, 2)
    rows = tf.TensorArray(f32, 5).unstack(x)
    out = tf.TensorArray(f32, 5)

    def body(i, h, out):
        h = tf.tanh(h + rows.read(i))
        return i + 1, h, out.write(i, h * 2.)
    _, _, out = tf.while_loop(lambda i, h, o: i < 5, body, [0, tf.zeros([2]), out])
    return out.stack(), x, (5, 2)


def loop_that_grows():
    x = x_of(2)
    out = tf.TensorArray(f32, 0, dynamic_size=True)
    _, out = tf.while_loop(lambda i, o: i < 3, lambda i, o: (i + 1, o.write(i, x * tf.cast(i, f32))), [0, out])
    return tf.reduce_sum(out.stack(), 0), x, (2,)


def scanned():
    x = x_of(4, 2)
    return tf.scan(lambda a, b: a * 0.5 + b * b, x), x, (4, 2)


def mapped():
    x = x_of(4, 2)
    return tf.map_fn(lambda r: tf.reduce_sum(r) * r, x), x, (4, 2)


GRADIENTS = [unstack_and_stack, gather_some, write_and_concat, split_and_read, loop_over_rows, loop_that_grows, scanned, mapped]


@pytest.mark.parametrize("build", GRADIENTS, ids=lambda s: s.__name__)
def test_gradients_through_arrays_are_tensorflows(build):
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as g:
        v1.disable_v2_tensorshape()
        y, x, shape = build()
        feed = np.random.RandomState(3).uniform(-1, 1, shape).astype(np.float32)
        definition = g.as_graph_def()
        dx = tf.gradients(y, x)[0]
        with v1.Session() as s:
            want = s.run([y, dx], {x: feed})
    w = weftlib.Graph(definition)
    ours = w.gradients([y.name], [x.name])
    got = weftlib.Session(w).run([y.name, ours[0]], {x.name: feed})
    assert not [d for d in map(compare.difference, ("y", "dx"), want, got) if d]
