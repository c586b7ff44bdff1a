"""Traces: memory of each op, ProfilerHook, and what TensorFlow's and TensorBoard's readers make of Weft's step stats."""
import glob
import json
import pathlib
import subprocess

import numpy as np

import scripts
from both import oracle, weft


def model(tf):
    x = tf.placeholder(tf.float32, [64, 100], name="x")
    w = tf.get_variable("w", [100, 50], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(tf.nn.relu(tf.matmul(x, w, name="mm"), name="relu"), name="sum")
    step = tf.train.get_or_create_global_step()
    return x, loss, tf.train.GradientDescentOptimizer(.01).minimize(loss, global_step=step)


def traced(tf):
    """(the graph, the RunMetadata of a training step)"""
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x, loss, train = model(tf)
        feed = {x: np.ones([64, 100])}
        sess.run(tf.global_variables_initializer())
        sess.run([loss, train], feed)
        found = tf.RunMetadata()
        sess.run([loss, train], feed, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=found)
    return graph, found


def nodes(metadata):
    return {n.node_name: n for d in metadata.step_stats.dev_stats for n in d.node_stats}


def outputs(node):
    return [o.tensor_description.allocation_description.requested_bytes for o in node.output]


def test_step_stats_say_the_memory_of_each_op_as_tensorflow_does():
    ours, theirs = (nodes(traced(tf)[1]) for tf in (weft, oracle))
    for name in ("mm", "relu", "sum", "w", "gradients/mm_grad/MatMul_1"):
        assert outputs(ours[name]) == outputs(theirs[name]), name
    for name in ("mm", "gradients/mm_grad/MatMul_1"):
        a, b = ours[name].memory[0], theirs[name].memory[0]
        assert (a.total_bytes, a.peak_bytes) == (b.total_bytes, b.peak_bytes), name
        assert a.allocator_name == "cpu" and b.allocator_name.endswith("cpu")
    assert ours["w"].memory_stats.persistent_memory_size == theirs["w"].memory_stats.persistent_memory_size == 20000
    assert not ours["w"].memory


def test_tensorflows_profiler_reads_our_step_stats():
    graph, ours = traced(weft)
    metadata = oracle.RunMetadata.FromString(ours.SerializeToString())
    with oracle.Graph().as_default() as same:
        model(oracle)
        options = oracle.profiler.ProfileOptionBuilder(oracle.profiler.ProfileOptionBuilder.time_and_memory()).with_empty_output().build()
        made = oracle.profiler.profile(same, metadata, cmd="op", options=options)
    found, node = {}, made
    while node.children:
        node = node.children[0]
        found[node.name] = node
    assert found["MatMul"].requested_bytes == 12800 + 20000 and found["MatMul"].exec_micros > 0


def test_tensorboards_profile_plug_in_reads_what_weft_trace_writes(tmp_path):
    from tensorflow.python.profiler.internal import _pywrap_profiler
    from tensorflow.tsl.profiler.protobuf import xplane_pb2
    (tmp_path / "meta").write_bytes(traced(weft)[1].SerializeToString())
    program = str(pathlib.Path(scripts.PACKAGE).parent / "bin" / "weft")
    told = subprocess.run([program, "trace", str(tmp_path / "meta"), "--json", "--tensorboard", str(tmp_path / "board")],
                          capture_output=True, text=True, timeout=60)
    assert told.returncode == 0, told
    ops = {o["op"]: o for o in json.loads(told.stdout)["devices"][0]["ops"]}
    assert ops["MatMul"]["bytes"] == 12800 + 20000
    assert glob.glob(str(tmp_path / "board" / "events.out.tfevents.*.profile-empty"))
    path, = glob.glob(str(tmp_path / "board" / "plugins" / "profile" / "*" / "job_localhost_replica_0_task_0.xplane.pb"))
    with open(path, "rb") as f:
        space = xplane_pb2.XSpace.FromString(f.read())
    assert [p.name for p in space.planes] == ["/host:CPU"] and list(space.hostnames) == ["job_localhost_replica_0_task_0"]
    plane, = space.planes
    names = {m.name for m in plane.event_metadata.values()}
    assert {"mm:MatMul", "relu:Relu"} <= names
    event = next(e for line in plane.lines for e in line.events if plane.event_metadata[e.metadata_id].name == "mm:MatMul")
    assert event.duration_ps > 0 and event.stats[0].int64_value == 12800
    assert plane.stat_metadata[event.stats[0].metadata_id].name == "bytes_allocated"
    for tool, wanted in (("tensorflow_stats", b"MatMul"), ("trace_viewer", b"mm")):
        data, good = _pywrap_profiler.xspace_to_tools_data([path], tool)
        assert good and wanted in data, tool


def timelines(tf, folder, runs, by, **how):
    """The steps of the timelines that ProfilerHook writes in so many runs, and the tags of the RunMetadata in its events."""
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        x = tf.get_variable("v", [50, 50])
        for _ in range(20):  # so that TensorFlow's hook, which reads the step at any time, reads it before the update
            x = tf.matmul(x, x)
        with tf.control_dependencies([x]):
            train = step.assign_add(by)
        creator = tf.train.ChiefSessionCreator(config=tf.ConfigProto(inter_op_parallelism_threads=1))
        with tf.train.MonitoredSession(creator, [tf.train.ProfilerHook(output_dir=str(folder), **how)]) as sess:
            for _ in range(runs):
                sess.run(train)
    tf.summary.FileWriterCache.clear()
    events, = glob.glob(str(folder / "events*"))
    tags = [e.tagged_run_metadata.tag for e in oracle.train.summary_iterator(events) if e.HasField("tagged_run_metadata")]
    return sorted(int(p.rpartition("-")[2][:-5]) for p in glob.glob(str(folder / "timeline-*.json"))), tags


def test_profiler_hook_writes_at_tensorflows_steps(tmp_path):
    """TensorFlow may read the global step before or after a busy machine has incremented it, so it has five tries."""
    for runs, by, every in ((7, 1, 2), (4, 1, 1), (9, 1, 3), (6, 5, 2)):
        ours = timelines(weft, tmp_path / ("ours-%d-%d" % (runs, by)), runs, by, save_steps=every)
        theirs = [timelines(oracle, tmp_path / ("theirs-%d-%d-0" % (runs, by)), runs, by, save_steps=every)]
        while theirs[-1] != ours and len(theirs) < 5:
            theirs.append(timelines(oracle, tmp_path / ("theirs-%d-%d-%d" % (runs, by, len(theirs))), runs, by, save_steps=every))
        assert ours == theirs[-1] and ours[0], (runs, by, every, theirs)


def counted(tf):
    """Ops that a profile counts, with strides, dilations, broadcasts and gradients."""
    x, i = tf.placeholder(tf.float32, [2, 3, 4]), tf.placeholder(tf.float32, [1, 10, 10, 2])
    for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "pow", "squared_difference", "equal", "not_equal",
                 "greater", "greater_equal", "less", "less_equal", "floordiv"):
        getattr(tf, name)(x, x[:, :1], name=name)
    for name in ("negative", "reciprocal", "square", "log", "rsqrt", "exp", "argmax", "reduce_mean", "reduce_sum"):
        getattr(tf, name)(x, name=name)
    average = tf.nn.avg_pool(i, [1, 3, 3, 1], [1, 2, 2, 1], "VALID", name="average")
    largest = tf.nn.max_pool(i, [1, 3, 2, 1], [1, 2, 1, 1], "SAME", name="largest")
    convolved = tf.nn.depthwise_conv2d(i, tf.ones([3, 3, 2, 2]), [1, 1, 1, 1], "VALID", name="depthwise")
    loss = tf.nn.l2_loss(average) + tf.reduce_sum(largest) + tf.reduce_sum(tf.rsqrt(convolved))
    tf.gradients(loss, [i], name="back")
    tf.nn.dilation2d(i, tf.ones([3, 2, 2]), [1, 2, 2, 1], [1, 2, 1, 1], "VALID", name="dilation")
    for shared in (False, True):
        v = tf.get_variable("v%d" % shared, [4, 3], use_resource=shared)
        v.assign_add(tf.ones([4, 3]), name="more%d" % shared), v.assign_sub(tf.ones([4, 3])), v.assign(tf.ones([4, 3]))


def float_ops(tf):
    with tf.Graph().as_default() as graph:
        counted(tf)
        options = dict(tf.profiler.ProfileOptionBuilder.float_operation(), output="none")
        waiting, found = [tf.profiler.profile(graph, cmd="scope", options=options)], {}
        while waiting:
            node = waiting.pop()
            found[node.name] = node.float_ops, node.total_float_ops
            waiting.extend(node.children)
        return found


def test_a_profile_counts_the_operations_that_tensorflow_counts():
    assert float_ops(weft) == float_ops(oracle)
