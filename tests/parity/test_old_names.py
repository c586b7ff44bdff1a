"""The names TF 0.9 to 1.0 gave to what came back as V2 and V3.

TF no longer runs all of them, so it judges from the graph with today's names; Weft runs the one with the old names.
"""
import os
import re
import tempfile

import pytest
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.python.framework import op_def_registry

import compare
import scenario
import weftlib

v1, raw = tf.compat.v1, tf.raw_ops
FLOW = re.compile(r"TensorArray(Grad)?V3(_\d+)?:1$")  # a flow that the old ops did not give out


def renamed(graph_def, rename):
    """The graph with its ops renamed, less the attributes the old op did not have yet."""
    out = graph_pb2.GraphDef()
    out.CopyFrom(graph_def)
    if rename.get("TensorArrayV3", "TensorArrayV3") != "TensorArrayV3":
        flow = out.node.add(name="no_flow", op="Const")
        flow.attr["dtype"].type = 1
        flow.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(0.0))
        for node in out.node:
            node.input[:] = ["no_flow" if FLOW.match(i) else i for i in node.input]
    for node in out.node:
        name = rename.get(node.op, node.op)
        if name == node.op:
            continue
        node.op = name
        if name == "Stack":
            del node.input[:]  # no limit to its size yet
        known = {a.name for a in op_def_registry.get(name).attr}
        for attr in [a for a in node.attr if a not in known and not a.startswith("_")]:
            del node.attr[attr]
    return out


def on_both(graph_def, steps, ours_def=None):
    """Each step is a list of fetches (or one target's name); the same values, or the same error code."""
    def play(run):
        out = []
        for step in steps:
            try:
                out.append(run(step))
            except (tf.errors.OpError, weftlib.Error) as e:
                out.append(getattr(e, "error_code", getattr(e, "code", None)))
        return out

    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")
        with v1.Session() as s:
            want = play(lambda step: s.run(step) if isinstance(step, list) else (s.run(step), [])[1])
    ours = weftlib.Session(weftlib.Graph(ours_def or graph_def))
    got = play(lambda step: ours.run(step) if isinstance(step, list) else ours.run((), targets=[step]))
    assert any(isinstance(w, list) for w in want)
    for step, w, g in zip(steps, want, got):
        assert isinstance(w, list) == isinstance(g, list), f"{step}: {g}, TensorFlow has {w}"
        different = [d for d in map(compare.difference, step, w, g) if d] if isinstance(w, list) and w else []
        assert not different and (isinstance(w, list) or w == g), f"{step}: {different or (g, w)}"


def names_of(*tensors):
    return [t.name for t in tensors]


QUEUES = {"FIFOQueueV2": "FIFOQueue", "RandomShuffleQueueV2": "RandomShuffleQueue", "PriorityQueueV2": "PriorityQueue",
          "PaddingFIFOQueueV2": "PaddingFIFOQueue"}
ON_QUEUES = {f"Queue{o}V2": f"Queue{o}" for o in ("Enqueue", "EnqueueMany", "Dequeue", "DequeueMany", "DequeueUpTo",
                                                  "Close", "Size")}


@pytest.mark.parametrize("kind", sorted(QUEUES))
def test_queue(kind):
    with tf.Graph().as_default() as g:
        if kind == "RandomShuffleQueueV2":
            q = v1.RandomShuffleQueue(10, 0, [tf.float32], [[]], seed=3)
        elif kind == "PriorityQueueV2":
            q = v1.PriorityQueue(10, [tf.float32], [[]])
        elif kind == "PaddingFIFOQueueV2":
            q = v1.PaddingFIFOQueue(10, [tf.float32], [[]])
        else:
            q = v1.FIFOQueue(10, [tf.float32], [[]])
        values = tf.constant([3.0, 1.0, 2.0])
        items = (tf.constant([3, 1, 2], tf.int64), values) if kind == "PriorityQueueV2" else (values,)
        many = q.enqueue_many(items)
        one = q.enqueue([tf.constant(5, tf.int64), tf.constant(9.0)] if kind == "PriorityQueueV2" else tf.constant(9.0))
        listed = lambda x: names_of(*x) if isinstance(x, (list, tuple)) else names_of(x)
        steps = [many.name, one.name, names_of(q.size()), listed(q.dequeue()), listed(q.dequeue_many(2)), q.close().name,
                 listed(q.dequeue_up_to(5))]
        if kind != "PriorityQueueV2":  # TF's loses what a failed dequeue had taken, ours gives it back
            steps.append(listed(q.dequeue()))
        graph_def = g.as_graph_def()
    on_both(graph_def, steps, renamed(graph_def, {**QUEUES, **ON_QUEUES}))


ON_READERS = {f"Reader{o}V2": f"Reader{o}" for o in ("Read", "ReadUpTo", "NumRecordsProduced", "NumWorkUnitsCompleted",
                                                     "Reset", "SerializeState", "RestoreState")}
READERS = {f"{r}V2": r for r in ("TextLineReader", "TFRecordReader", "WholeFileReader", "FixedLengthRecordReader",
                                 "IdentityReader")}


@pytest.mark.parametrize("kind", sorted(READERS))
def test_reader(kind):
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "data")
    if kind == "TFRecordReaderV2":
        with tf.io.TFRecordWriter(path) as w:
            for record in (b"one", b"two", b"three"):
                w.write(record)
    else:
        with open(path, "wb") as f:
            f.write(b"one\ntwo\nred\n")
    with tf.Graph().as_default() as g:
        q = v1.FIFOQueue(10, [tf.string], [[]])
        fill = q.enqueue_many([[path, path]])
        more = {"record_bytes": 4} if kind.startswith("Fixed") else {}
        r = getattr(raw, kind)(**more)
        read = raw.ReaderReadV2(reader_handle=r, queue_handle=q.queue_ref)
        up_to = raw.ReaderReadUpToV2(reader_handle=r, queue_handle=q.queue_ref, num_records=tf.constant(2, tf.int64))
        counts = [raw.ReaderNumRecordsProducedV2(reader_handle=r), raw.ReaderNumWorkUnitsCompletedV2(reader_handle=r)]
        state = raw.ReaderSerializeStateV2(reader_handle=r)
        back = raw.ReaderRestoreStateV2(reader_handle=r, state=tf.constant(b""))
        reset = raw.ReaderResetV2(reader_handle=r)
        steps = [fill.name, names_of(*read), names_of(*up_to), names_of(*counts), names_of(state), back.name, reset.name,
                 names_of(*counts)]
        graph_def = g.as_graph_def()
    on_both(graph_def, steps, renamed(graph_def, {**QUEUES, **ON_QUEUES, **READERS, **ON_READERS}))


ARRAY = ("", "Grad", "Write", "Read", "Gather", "Scatter", "Concat", "Split", "Size", "Close")


@pytest.mark.parametrize("version", ["", "V2", "V3"])
def test_tensor_array(version):
    with tf.Graph().as_default() as g:
        x = v1.placeholder_with_default(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), [3, 2], name="x")
        a = raw.TensorArrayV3(size=3, dtype=tf.float32, element_shape=None, clear_after_read=False)
        h = a.handle
        flow = raw.TensorArrayScatterV3(handle=h, indices=tf.range(3), value=x, flow_in=a.flow)
        read = raw.TensorArrayReadV3(handle=h, index=1, flow_in=flow, dtype=tf.float32)
        gathered = raw.TensorArrayGatherV3(handle=h, indices=[2, 0], flow_in=flow, dtype=tf.float32)
        joined = raw.TensorArrayConcatV3(handle=h, flow_in=flow, dtype=tf.float32)
        size = raw.TensorArraySizeV3(handle=h, flow_in=flow)
        b = raw.TensorArrayV3(size=2, dtype=tf.float32, element_shape=None)
        split = raw.TensorArraySplitV3(handle=b.handle, value=x[:, 0], lengths=tf.constant([1, 2], tf.int64), flow_in=b.flow)
        part = raw.TensorArrayReadV3(handle=b.handle, index=1, flow_in=split, dtype=tf.float32)
        c = raw.TensorArrayV3(size=1, dtype=tf.float32, element_shape=None)
        written = raw.TensorArrayWriteV3(handle=c.handle, index=0, value=x, flow_in=c.flow)
        got = raw.TensorArrayReadV3(handle=c.handle, index=0, flow_in=written, dtype=tf.float32)
        with tf.control_dependencies([read, gathered, joined.value, size]):
            close = raw.TensorArrayCloseV3(handle=h)
        d = raw.TensorArrayGradV3(handle=c.handle, flow_in=written, source="gradients")
        fed = raw.TensorArrayWriteV3(handle=d.grad_handle, index=0, value=x * 2.0, flow_in=d.flow_out)
        back = raw.TensorArrayReadV3(handle=d.grad_handle, index=0, flow_in=fed, dtype=tf.float32)
        steps = [names_of(read, gathered, joined.value, joined.lengths, size, part, got, back), close.name]
        graph_def = g.as_graph_def()
    on_both(graph_def, steps, renamed(graph_def, {f"TensorArray{o}V3": f"TensorArray{o}{version}" for o in ARRAY}))


def test_tensor_array_grad_with_shape():
    with tf.Graph().as_default() as g:
        x = v1.placeholder_with_default(tf.constant([1.0, 2.0]), [2], name="x")
        a = raw.TensorArrayV3(size=1, dtype=tf.float32, element_shape=[2])
        flow = raw.TensorArrayWriteV3(handle=a.handle, index=0, value=x, flow_in=a.flow)
        d = raw.TensorArrayGradWithShape(handle=a.handle, flow_in=flow, shape_to_prepend=[3], source="g")
        fed = raw.TensorArrayWriteV3(handle=d.grad_handle, index=0, value=tf.ones([3, 2]) * x, flow_in=d.flow_out)
        back = raw.TensorArrayReadV3(handle=d.grad_handle, index=0, flow_in=fed, dtype=tf.float32)
        graph_def = g.as_graph_def()
    on_both(graph_def, [names_of(back)])


@pytest.mark.parametrize("unpack", [False, True])
def test_tensor_array_pack(unpack):
    """Pack and Unpack were Gather and Scatter of everything."""
    g = graph_pb2.GraphDef()
    with tf.Graph().as_default() as graph:
        v1.placeholder_with_default(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [2, 2], name="x")
        tf.constant(2, name="size")
        g.CopyFrom(graph.as_graph_def())

    def add(name, op, inputs, **types):
        node = g.node.add(name=name, op=op, input=inputs)
        for k, v in types.items():
            node.attr[k].type = v.as_datatype_enum

    g.versions.producer = 15  # TF takes these names only from graphs older than 16
    add("a", "TensorArray", ["size"], dtype=tf.float32)
    add("zero", "Const", [], dtype=tf.float32)
    g.node[-1].attr["value"].tensor.CopyFrom(tf.make_tensor_proto(0.0))
    add("in", "TensorArrayUnpack", ["a", "x", "zero"], T=tf.float32)
    add("out", "TensorArrayPack", ["a", "in"], dtype=tf.float32)
    on_both(g, [["out:0"]] if not unpack else [["out:0", "in:0"]])


@pytest.mark.parametrize("old", [False, True])
def test_stack(old):
    with tf.Graph().as_default() as g:
        x = v1.placeholder_with_default(tf.constant(4.0), [], name="x")
        s = raw.StackV2(max_size=2, elem_type=tf.float32)
        push = raw.StackPushV2(handle=s, elem=x)
        with tf.control_dependencies([push]):
            pop = raw.StackPopV2(handle=s, elem_type=tf.float32)
        with tf.control_dependencies([pop]):
            close = raw.StackCloseV2(handle=s)
        with tf.control_dependencies([close]):
            out = tf.identity(pop)
        graph_def = g.as_graph_def()
    rename = {f"Stack{o}V2": f"Stack{o}" for o in ("", "Push", "Pop", "Close")} if old else {}
    on_both(graph_def, [names_of(out)], renamed(graph_def, rename))


def test_a_loop_over_a_reference():
    """RefEnter, RefMerge, RefSwitch, RefNextIteration, RefExit: a variable counted up inside a loop."""
    g = graph_pb2.GraphDef()
    with tf.Graph().as_default() as graph:
        tf.constant(0.0, name="zero"), tf.constant(1.0, name="one"), tf.constant(5.0, name="limit")
        g.CopyFrom(graph.as_graph_def())

    def add(name, op, *inputs, frame=None, n=None):
        node = g.node.add(name=name, op=op, input=inputs)
        known = {a.name for a in op_def_registry.get(op).attr}
        if "T" in known:
            node.attr["T"].type = 1
        if frame:
            node.attr["frame_name"].s = frame
            node.attr["is_constant"].b = not op.startswith("Ref")
            node.attr["parallel_iterations"].i = 1
        if n:
            node.attr["N"].i = n

    node = g.node.add(name="v", op="VariableV2")
    node.attr["dtype"].type = 1
    node.attr["shape"].shape.SetInParent()
    add("init", "Assign", "v", "zero")
    add("enter", "RefEnter", "v", frame=b"f")
    add("merge", "RefMerge", "enter", "next", n=2)
    add("limit_in", "Enter", "limit", frame=b"f")
    add("one_in", "Enter", "one", frame=b"f")
    add("now", "Identity", "merge")
    add("less", "Less", "now", "limit_in")
    add("cond", "LoopCond", "less")
    add("switch", "RefSwitch", "merge", "cond")
    add("add", "AssignAdd", "switch:1", "one_in")
    add("next", "RefNextIteration", "add")
    add("exit", "RefExit", "switch")
    add("out", "Identity", "exit")
    on_both(g, ["init", ["out:0"]])


def test_a_serialized_tensor_is_parsed():
    with tf.Graph().as_default() as g:
        x = v1.placeholder_with_default(tf.constant([[1, 2], [3, 4]], tf.int64), [2, 2], name="x")
        back = tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.int64)
        bad = tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.float32)
        graph_def = g.as_graph_def()
    on_both(graph_def, [names_of(back), names_of(bad)])


def test_a_resource_queue_has_an_older_handle():
    def build():
        queue = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32], shapes=[[]], shared_name="of_resource")
        old = tf.raw_ops.FakeQueue(resource=queue)
        add = tf.raw_ops.QueueEnqueue(handle=old, components=[tf.constant(3.0)])
        return [add, [tf.raw_ops.QueueSize(handle=old)], [tf.raw_ops.QueueDequeueV2(handle=queue, component_types=[tf.float32])[0]]]
    scenario.check(build)
