"""Gradients of single ops that no case can express: lists, optional values, arrays by old names, references in loops."""
import pytest
import tensorflow as tf

import compare
import weftlib
from test_gradients import name_of, ph, rand, tensorflows, v1, variable
from test_old_names import renamed

raw = tf.raw_ops
f32 = tf.float32


def rows(x):
    return raw.TensorListFromTensor(tensor=x, element_shape=[2])


def stacked(handle):
    return raw.TensorListStack(input_handle=handle, element_shape=[2], element_dtype=f32)


def list_from_tensor_and_stack():
    x = ph("x", 3, 2)
    return [stacked(rows(x)) * rand(3, 2)], [x], {x: rand(3, 2)}


def list_push_and_pop(whole):
    x = ph("x", 2)
    handle = raw.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=f32)
    for factor in (1., 2.):
        handle = raw.TensorListPushBack(input_handle=handle, tensor=x * factor)
    rest, last = raw.TensorListPopBack(input_handle=handle, element_shape=[2], element_dtype=f32)
    return [last * rand(2)] + ([stacked(rest) * rand(1, 2)] if whole else []), [x], {x: rand(2)}


def list_get_and_set(resize):
    x = ph("x", 2)
    handle = raw.TensorListReserve(element_shape=[2], num_elements=2 if resize else 3, element_dtype=f32)
    for i, factor in ((1, 1.), (2, 3.)):
        handle = raw.TensorListSetItem(input_handle=handle, index=i, item=x * factor, resize_if_index_out_of_bounds=resize)
    one = raw.TensorListGetItem(input_handle=handle, index=1, element_shape=[2], element_dtype=f32)
    return [one * rand(2), stacked(handle) * rand(3, 2)], [x], {x: rand(2)}


def list_gather(indices):
    x = ph("x", 3, 2)
    y = raw.TensorListGather(input_handle=rows(x), indices=indices, element_shape=[2], element_dtype=f32)
    return [y * rand(len(indices), 2)], [x], {x: rand(3, 2)}


def list_scatter():
    x = ph("x", 2, 2)
    handle = raw.TensorListScatter(tensor=x, indices=[2, 0], element_shape=[2])
    second = raw.TensorListScatterV2(tensor=x, indices=[2, 0], element_shape=[2], num_elements=4)
    return [stacked(handle) * rand(3, 2), stacked(second) * rand(4, 2)], [x], {x: rand(2, 2)}


def list_scatter_into():
    x, y = ph("x", 3, 2), ph("y", 2, 2)
    handle = raw.TensorListScatterIntoExistingList(input_handle=rows(x), tensor=y, indices=[2, 0])
    return [stacked(handle) * rand(3, 2)], [x, y], {x: rand(3, 2), y: rand(2, 2)}


def list_split_and_concat(second):
    x = ph("x", 3, 2)
    handle = raw.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=tf.constant([1, 2], tf.int64))
    if second:
        y = raw.TensorListConcatV2(input_handle=handle, element_shape=[-1, 2], leading_dims=tf.constant([], tf.int64),
                                   element_dtype=f32)[0]
    else:
        y = raw.TensorListConcat(input_handle=handle, element_dtype=f32, element_shape=[None, 2])[0]
    return [y * rand(3, 2)], [x], {x: rand(3, 2)}


def list_resize(size):
    x = ph("x", 3, 2)
    return [stacked(raw.TensorListResize(input_handle=rows(x), size=size)) * rand(size, 2)], [x], {x: rand(3, 2)}


def optional_value():
    x, y = ph("x", 2), ph("y", 3)
    handle = raw.OptionalFromValue(components=[x * 2., y])
    got = raw.OptionalGetValue(optional=handle, output_types=[f32, f32], output_shapes=[[2], [3]])
    return [got[0] * rand(2), got[1] * got[1]], [x, y], {x: rand(2), y: rand(3)}


def reference_in_loop():
    """A reference that goes round a loop unchanged, and one that is an invariant of it."""
    w, u, x = variable("w", 3), variable("u", 3), ph("x", 3)
    step = lambda i, a, kept: (i + 1, tf.sin(a * tf.identity(u._variable)) + x * kept, kept)
    _, y, kept = v1.while_loop(lambda i, *_: i < 3, step, [0, x, w._variable])
    return [y * kept], [u, w, x], {x: rand(3)}


LISTS = [(list_from_tensor_and_stack,), (list_push_and_pop, False), (list_push_and_pop, True), (list_get_and_set, False),
         (list_get_and_set, True), (list_gather, [2, 0]), (list_gather, [2, 0, 2]), (list_scatter,), (list_scatter_into,),
         (list_split_and_concat, False), (list_split_and_concat, True), (list_resize, 2), (list_resize, 4),
         (optional_value,)]


def ours(graph_def, ys, xs, feeds):
    g = weftlib.Graph(graph_def)
    d = g.gradients(ys, xs)
    session = weftlib.Session(g)
    session.run((), targets=["init"])
    got = iter(session.run([o for o in d if o is not None], feeds, timeout_ms=20000))
    return [None if o is None else next(got) for o in d]


def assert_equal(names, want, got):
    assert [w is None for w in want] == [v is None for v in got]
    different = [compare.difference(n, w, v) for n, w, v in zip(names, want, got) if w is not None]
    assert not [d for d in different if d], different


@pytest.mark.parametrize("graph", LISTS, ids=name_of)
def test_gradients_are_tensorflows(graph):
    graph_def, ys, xs, feeds, want = tensorflows(graph)
    assert_equal(xs, want, ours(graph_def, ys, xs, feeds))


ARRAYS = ("TensorArray", "TensorArrayWrite", "TensorArrayRead", "TensorArrayGather", "TensorArrayScatter",
          "TensorArrayConcat", "TensorArraySplit")


def arrays():
    x, y = ph("x", 3, 2), ph("y", 2)
    source, flow = raw.TensorArrayV3(size=4, dtype=f32, element_shape=[2], clear_after_read=False)
    flow = raw.TensorArrayScatterV3(handle=source, indices=[0, 2, 1], value=x, flow_in=flow)
    flow = raw.TensorArrayWriteV3(handle=source, index=3, value=y, flow_in=flow)
    one = raw.TensorArrayReadV3(handle=source, index=3, flow_in=flow, dtype=f32)
    some = raw.TensorArrayGatherV3(handle=source, indices=[1, 2], flow_in=flow, dtype=f32)
    parts, flow = raw.TensorArrayV3(size=2, dtype=f32)
    flow = raw.TensorArraySplitV3(handle=parts, value=x * 2., lengths=tf.constant([1, 2], tf.int64), flow_in=flow)
    whole = raw.TensorArrayConcatV3(handle=parts, flow_in=flow, dtype=f32)[0]
    return [one * rand(2), some * rand(2, 2), whole * rand(3, 2)], [x, y], {x: rand(3, 2), y: rand(2)}


@pytest.mark.parametrize("version", ["", "V2"])
def test_arrays_by_old_names_have_the_gradients_of_todays(version):
    graph_def, ys, xs, feeds, want = tensorflows((arrays,))
    old = renamed(graph_def, {f"{name}V3": name + version for name in ARRAYS})
    assert_equal(xs, want, ours(old, ys, xs, feeds))


def test_a_reference_that_enters_a_loop_has_tensorflows_gradient():
    graph_def, ys, xs, feeds, want = tensorflows((reference_in_loop,))
    assert {"RefEnter", "RefExit", "RefNextIteration", "RefMerge", "RefSwitch"} <= {n.op for n in graph_def.node}
    assert_equal(xs, want, ours(graph_def, ys, xs, feeds))
