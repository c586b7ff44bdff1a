"""Input pipelines of queues: the same nodes and queue runners as TensorFlow's."""
import ctypes as C

import pytest
import tensorflow as tf

import weftlib
from test_saver import nodes
from weftlib import NO, Out, check, lib

v1 = tf.compat.v1


class Producer(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("num_epochs", C.c_int64), ("shuffle", C.c_int), ("has_seed", C.c_bool), ("seed", C.c_int64),
                ("capacity", C.c_int), ("shared_name", C.c_char_p), ("name", C.c_char_p)]


class Batch(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("batch_size", C.c_int), ("num_threads", C.c_int), ("capacity", C.c_int),
                ("min_after_dequeue", C.c_int64), ("has_seed", C.c_bool), ("seed", C.c_int64),
                ("enqueue_many", C.c_bool), ("dynamic_pad", C.c_bool), ("smaller", C.c_bool),
                ("shared_name", C.c_char_p), ("name", C.c_char_p)]


for name in ("input_producer", "string_input_producer", "range_input_producer", "limit_epochs", "batch",
             "shuffle_batch", "batch_join", "shuffle_batch_join"):
    getattr(lib, "weft_" + name).restype = Out
NONE = Out(-1, 0)


def inputs():
    tf.constant([[1, 2], [3, 4]], name="x")
    tf.constant([1., 2.], name="y")
    tf.constant(3., name="z")
    v1.placeholder(tf.float32, [None, None], name="open")


def outs(g, *names):
    return (Out * len(names))(*[g.find(n) for n in names])


def tensors(*names):
    return [v1.get_default_graph().get_tensor_by_name(n + ":0") for n in names]


T = v1.train
CASES = {
    "strings": (lambda: T.string_input_producer(["a", "b"], num_epochs=2, seed=3),
                lambda g: lib.weft_string_input_producer(g.ptr, NONE, 2, (C.c_char_p * 2)(b"a", b"b"),
                                                         C.byref(Producer(num_epochs=2, has_seed=True, seed=3)))),
    "strings in order": (lambda: T.string_input_producer(["a", "b"], shuffle=False, shared_name="s", capacity=7),
                         lambda g: lib.weft_string_input_producer(
                             g.ptr, NONE, 2, (C.c_char_p * 2)(b"a", b"b"),
                             C.byref(Producer(shuffle=NO, shared_name=b"s", capacity=7)))),
    "range": (lambda: T.range_input_producer(10, seed=1, name="r"),
              lambda g: lib.weft_range_input_producer(g.ptr, NONE, C.c_int64(10),
                                                      C.byref(Producer(has_seed=True, seed=1, name=b"r")))),
    "slices": (lambda: T.slice_input_producer(tensors("x", "y"), num_epochs=1, seed=1),
               lambda g: lib.weft_slice_input_producer(g.ptr, 2, outs(g, "x", "y"), (Out * 2)(),
                                                       C.byref(Producer(num_epochs=1, has_seed=True, seed=1)))),
    "rows": (lambda: T.input_producer(tensors("x")[0], shuffle=False),
             lambda g: lib.weft_input_producer(g.ptr, g.find("x"), C.byref(Producer(shuffle=NO)))),
    "epochs": (lambda: T.limit_epochs(tensors("z")[0], 2),
               lambda g: lib.weft_limit_epochs(g.ptr, g.find("z"), C.c_int64(2), None)),
    "batch": (lambda: T.batch(tensors("x", "z"), 4, num_threads=2),
              lambda g: lib.weft_batch(g.ptr, 2, outs(g, "x", "z"), C.byref(Batch(batch_size=4, num_threads=2)))),
    "padded batch": (lambda: T.batch(tensors("open"), 4, enqueue_many=True, allow_smaller_final_batch=True,
                                     dynamic_pad=True, shared_name="s"),
                     lambda g: lib.weft_batch(g.ptr, 1, outs(g, "open"), C.byref(
                         Batch(batch_size=4, enqueue_many=True, smaller=True, dynamic_pad=True, shared_name=b"s")))),
    "shuffle": (lambda: T.shuffle_batch(tensors("x", "z"), 4, 50, 10, num_threads=2, seed=7),
                lambda g: lib.weft_shuffle_batch(g.ptr, 2, outs(g, "x", "z"), C.byref(
                    Batch(batch_size=4, capacity=50, min_after_dequeue=10, num_threads=2, has_seed=True, seed=7)))),
    "join": (lambda: T.batch_join([tensors("x"), tensors("x")], 4),
             lambda g: lib.weft_batch_join(g.ptr, 2, 1, outs(g, "x", "x"), C.byref(Batch(batch_size=4)))),
    "shuffle join": (lambda: T.shuffle_batch_join([tensors("y"), tensors("y")], 4, 50, 10, enqueue_many=True),
                     lambda g: lib.weft_shuffle_batch_join(
                         g.ptr, 2, 1, outs(g, "y", "y"),
                         C.byref(Batch(batch_size=4, capacity=50, min_after_dequeue=10, enqueue_many=True)))),
}


@pytest.mark.parametrize("case", CASES)
def test_the_nodes_and_runners_are_tensorflows(case):
    on_tensorflow, on_weft = CASES[case]
    with tf.Graph().as_default() as g, v1.variable_scope("", use_resource=False):
        inputs()
        before = g.as_graph_def()
        on_tensorflow()
        want, meta = nodes(g.as_graph_def(), {n.name for n in before.node}), v1.train.export_meta_graph()
    mine = weftlib.Graph(before)
    on_weft(mine)
    check(lib.weft_graph_error(mine.ptr))
    got = nodes(mine.export(), {n.name for n in before.node})
    assert sorted(got) == sorted(want)
    for name in want:
        assert got[name] == want[name], name
    collections = mine.export_meta().collection_def
    for key in ("queue_runners", "summaries", "local_variables"):
        assert collections[key] == meta.collection_def[key], key
