"""A real TensorFlow client on a Weft server: it must not be able to tell."""
import threading
import time

import numpy as np
import pytest
import tensorflow as tf2
from tensorflow.core.protobuf import config_pb2

tf = tf2.compat.v1


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not become true"
        time.sleep(0.01)


def session(server, config=None):
    return tf.Session(server.target, config=config)


def test_a_client_runs_a_graph(server):
    c = tf.constant("Hello, distributed TensorFlow!")
    with session(server) as s:
        assert s.run(c) == b"Hello, distributed TensorFlow!"


def test_a_graph_may_grow_between_runs(server):
    a = tf.constant(3.0)
    with session(server) as s:
        assert s.run(a) == 3.0
        b = a * 2.0
        assert s.run(b) == 6.0
        v = tf.Variable(5.0)
        s.run(v.initializer)
        assert s.run(v + b) == 11.0


def test_variables_are_shared_between_two_clients(server):
    v = tf.Variable(1.0, name="shared", use_resource=False)
    add = v.assign_add(1.0)
    with session(server) as one, session(server) as two:
        one.run(v.initializer)
        one.run(add)
        assert two.run(v) == 2.0
        two.run(add)
        assert one.run(v) == 3.0
    with session(server) as three:
        assert three.run(v) == 3.0
    tf.Session.reset(server.target)
    with session(server) as four, pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
        four.run(v)


def test_resource_variables_are_shared_too(server):
    v = tf.get_variable("r", initializer=np.float32(4), use_resource=True)
    with session(server) as one, session(server) as two:
        one.run(v.initializer)
        two.run(v.assign_add(1.0))
        assert one.run(v.value()) == 5.0


def test_queues_are_shared_between_clients(server):
    q = tf.FIFOQueue(10, tf.int32, shared_name="q")
    put, get, close = q.enqueue([7]), q.dequeue(), q.close()
    got = []
    with session(server) as one, session(server) as two:
        waiting = threading.Thread(target=lambda: got.append(two.run(get)))
        waiting.start()
        time.sleep(0.2)  # a dequeue that does not wait would end meanwhile
        assert not got
        one.run(put)
        waiting.join(10)
        assert got == [7]
        one.run(close)
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient elements"):
            two.run(get)
        with pytest.raises(tf.errors.CancelledError, match="is closed"):
            two.run(put)


def test_errors_have_tensorflows_classes(server):
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.identity(x, name="y")
    v = tf.Variable(0.0, name="v", use_resource=False)
    bad = tf.reshape(tf.range(6), tf.placeholder_with_default([4, 4], [2]), name="bad")
    with session(server) as s:
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'x'"):
            s.run(y)
        with pytest.raises(tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value v"):
            s.run(v)
        with pytest.raises(tf.errors.InvalidArgumentError, match="reshape"):
            s.run(bad)
        assert list(s.run(y, {x: [1, 2]})) == [1, 2]  # the session goes on


def test_a_hundred_megabytes_go_both_ways(server):
    x = tf.placeholder(tf.float32, [None])
    v = tf.Variable(tf.zeros([25 << 20]), use_resource=False)
    put = v.assign(x)
    data = np.random.RandomState(1).rand(25 << 20).astype(np.float32)
    with session(server) as s:
        s.run(v.initializer)
        s.run(put.op, {x: data})
        assert np.array_equal(s.run(v), data)


def test_strings_go_both_ways(server):
    x = tf.placeholder(tf.string, [None])
    words = [b"", b"a", b"\0\xff" * 1000]
    with session(server) as s:
        assert list(s.run(tf.identity(x), {x: words})) == words


def test_callables_are_made_run_and_released(server):
    x = tf.placeholder(tf.float32, [], name="x")
    y = x * 3.0
    with session(server) as s:
        assert s.make_callable(y, [x])(2.0) == 6.0
        options = config_pb2.CallableOptions()
        options.feed.append("x:0")
        options.fetch.append(y.name)
        run = s._make_callable_from_options(options)
        assert [float(run(np.float32(i))[0]) for i in range(3)] == [0.0, 3.0, 6.0]
        del run


def test_a_partial_run_feeds_as_it_goes(server):
    a, b, c = (tf.placeholder(tf.float32, []) for _ in range(3))
    r1 = a + b
    r2 = r1 * c
    with session(server) as s:
        h = s.partial_run_setup([r1, r2], [a, b, c])
        assert s.partial_run(h, r1, {a: 1.0, b: 2.0}) == 3.0
        assert s.partial_run(h, r2, {c: 17.0}) == 51.0


def test_a_timeout_ends_a_run_that_waits(server):
    q = tf.FIFOQueue(1, tf.int32)
    get = q.dequeue()
    with session(server) as s:
        begin = time.monotonic()
        with pytest.raises(tf.errors.DeadlineExceededError):
            s.run(get, options=tf.RunOptions(timeout_in_ms=300))
        assert time.monotonic() - begin < 5
        assert s.run(q.size()) == 0


def test_closing_a_session_ends_what_it_runs(server):
    q, begun = tf.FIFOQueue(1, tf.int32), tf.Variable(False, name="begun", use_resource=False)
    with tf.control_dependencies([begun.assign(True)]):
        get = q.dequeue()
    caught = []

    def wait(s):
        try:
            s.run(get)
        except tf.errors.OpError as e:
            caught.append(type(e))

    s = session(server)
    s.run(begun.initializer)
    waiting = threading.Thread(target=wait, args=[s])
    waiting.start()
    with session(server) as other:
        until(lambda: other.run(begun))
    s.close()
    waiting.join(10)
    assert caught == [tf.errors.CancelledError]


def test_devices_are_listed(server):
    with session(server) as s:
        names = [d.name for d in s.list_devices()]
    assert "/job:worker/replica:0/task:0/device:CPU:0" in names


def test_loops_and_branches_run(server):
    tf.disable_control_flow_v2()
    i = tf.while_loop(lambda i: i < 10, lambda i: i + 3, [tf.constant(0)])
    p = tf.placeholder(tf.bool, [])
    c = tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2))
    with session(server) as s:
        assert s.run(i) == 12
        assert [s.run(c, {p: True}), s.run(c, {p: False})] == [1, 2]


def frames_without_conditions(inside=""):
    """Frames that are entered and left, once or in several iterations, without what while_loop builds."""
    def enter(x, name):
        return tf.raw_ops.Enter(data=x, frame_name=name)

    def leave(x):
        return tf.raw_ops.Exit(data=x)
    x = tf.placeholder_with_default(3.0, [])
    once, outer, again = enter(x, "once"), enter(x, "outer"), enter(x, "again")
    with tf.device(inside):
        inner = enter(outer, "inner")
        made = [once * once, leave(inner + inner)]
    return [leave(m) for m in made] + ([] if inside else [leave(tf.raw_ops.NextIteration(data=again))])


def test_frames_that_while_loop_did_not_build(server):
    made = frames_without_conditions() + [tf.constant(7.0)]
    with session(server) as ours, tf.Session() as theirs:
        assert ours.run(made) == theirs.run(made) == [9.0, 6.0, 3.0, 7.0]
        assert [ours.run(m) for m in made] == [9.0, 6.0, 3.0, 7.0]


def test_such_a_frame_on_two_tasks(cluster):
    two = cluster(ps=1, workers=1)
    for job in "ps", "worker":
        two.serve(job, 0).until("Started server with target")
    with tf.device("/job:worker/task:0"):
        made = frames_without_conditions("/job:ps/task:0")
    with tf.Session("grpc://" + two.hosts["worker"][0]) as s:
        assert s.run(made, options=tf.RunOptions(timeout_in_ms=30000)) == [9.0, 6.0]


def test_a_step_can_be_traced(server):
    y = tf.matmul(tf.ones([4, 4]), tf.ones([4, 4]), name="product")
    metadata = tf.RunMetadata()
    with session(server) as s:
        s.run(y, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    assert any(metadata.step_stats.dev_stats)


def test_sessions_that_come_and_go_leave_nothing(server):
    v = tf.Variable(tf.zeros([1000]), use_resource=False)
    add = v.assign_add(tf.ones([1000]))
    with session(server) as s:
        s.run(v.initializer)

    def come_and_go(n):
        for _ in range(n):
            with session(server) as s:
                s.run(add.op)

    come_and_go(100)
    before = server.memory_mb()
    come_and_go(400)
    grown = server.memory_mb() - before
    assert grown < 8, f"{grown:.1f} MB more after 400 sessions"
    assert server.process.poll() is None


def test_file_ops_touch_the_allowed_directories_only(cluster, tmp_path):
    alone = cluster(ps=0, workers=1)
    allowed, other = tmp_path / "allowed", tmp_path / "other"
    for folder in (allowed, other):
        folder.mkdir()
        (folder / "file").write_text("text")
    task = alone.serve("worker", 0, "--allow-dir", str(allowed))
    task.until("Started server with target")
    with tf.Session("grpc://" + alone.hosts["worker"][0]) as sess:
        path = tf.placeholder(tf.string, [])
        text = tf.io.read_file(path)
        assert sess.run(text, {path: str(allowed / "file")}) == b"text"
        for outside in (other / "file", allowed / ".." / "other" / "file"):
            with pytest.raises(tf.errors.PermissionDeniedError, match="file"):
                sess.run(text, {path: str(outside)})


def test_paths_with_a_scheme(server, tmp_path):
    (tmp_path / "file").write_text("text")
    path = tf.placeholder(tf.string, [])
    text, found = tf.io.read_file(path), tf.io.matching_files(path)
    with session(server) as ours, tf.Session() as theirs:
        for prefix in ("file://", "file://localhost", ""):
            here = prefix + str(tmp_path / "file")
            assert ours.run(text, {path: here}) == theirs.run(text, {path: here}) == b"text"
        for scheme in ("hdfs", "s3", "gs"):
            for node in (text, found):
                with pytest.raises(tf.errors.UnimplementedError, match="'%s' not implemented.*mount" % scheme):
                    ours.run(node, {path: scheme + "://name/dir/file"})
        with pytest.raises(tf.errors.UnimplementedError, match="'hdfs' not implemented"):
            theirs.run(text, {path: "hdfs://name/dir/file"})
