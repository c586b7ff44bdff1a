"""Supervised and monitored training, hooks in Python, input pipelines: in one process and as a cluster."""
import numpy as np
import pytest

import scripts
import weft as tf

MONITORED = '''
import sys
import numpy as np
import tensorflow as tf

tf.app.flags.DEFINE_string("ps_hosts", "", "")
tf.app.flags.DEFINE_string("worker_hosts", "", "")
tf.app.flags.DEFINE_string("job_name", "", "")
tf.app.flags.DEFINE_integer("task_index", 0, "")
tf.app.flags.DEFINE_boolean("sync", False, "")
FLAGS = tf.app.flags.FLAGS


def main(_):
    workers = FLAGS.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": workers})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    chief = FLAGS.task_index == 0
    with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster)):
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.placeholder(tf.float32, [None])
        w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(x, w), 1) - y))
        step = tf.train.get_or_create_global_step()
        opt = tf.train.GradientDescentOptimizer(0.1)
        hooks = [tf.train.StopAtStepHook(last_step=150)]
        if FLAGS.sync:
            opt = tf.train.SyncReplicasOptimizer(opt, replicas_to_aggregate=len(workers), total_num_replicas=len(workers))
            hooks.append(opt.make_session_run_hook(chief))
        train = opt.minimize(loss, global_step=step)
    random = np.random.RandomState(FLAGS.task_index)
    with tf.train.MonitoredTrainingSession(server.target, chief, checkpoint_dir="ck", hooks=hooks) as sess:
        while not sess.should_stop():
            a = random.randn(16, 3).astype(np.float32)
            _, value = sess.run([train, loss], {x: a, y: a.dot([1., 2., 3.])})
    print("loss", value)


if __name__ == "__main__":
    tf.app.run()
'''


@pytest.mark.parametrize("flags", [[], ["--sync"]])
def test_a_monitored_cluster_trains_and_ends(tmp_path, flags):
    (tmp_path / "program.py").write_text(MONITORED)
    found = scripts.cluster(tmp_path / "program.py", 1, 2, *flags, cwd=tmp_path)
    for role, (code, out, err) in found.items():
        assert code == 0, (role, out, err)
    for i in range(2):
        assert float(found["worker", i][1].split()[-1]) < 1e-3
    assert tf.train.latest_checkpoint(str(tmp_path / "ck"))


class Recorder(tf.train.SessionRunHook):
    def __init__(self):
        self.seen = []

    def begin(self):
        self.seen.append("begin")

    def after_create_session(self, session, coord):
        self.seen.append(("created", int(session.run(tf.train.get_global_step()))))

    def before_run(self, run_context):
        self.seen.append(("before", run_context.original_args.fetches is not None))
        return tf.train.SessionRunArgs({"step": tf.train.get_global_step()})

    def after_run(self, run_context, run_values):
        self.seen.append(("after", sorted(run_values.results)))

    def end(self, session):
        self.seen.append("end")


def counting_graph():
    step = tf.train.get_or_create_global_step()
    return tf.assign_add(step, 1)


def test_hooks_written_in_python_are_called_in_order():
    with tf.Graph().as_default():
        train, hook = counting_graph(), Recorder()
        with tf.train.MonitoredTrainingSession(hooks=[hook, tf.train.StopAtStepHook(last_step=2)]) as sess:
            while not sess.should_stop():
                sess.run(train)
    one = [("before", True), ("after", ["step"])]
    assert hook.seen == ["begin", ("created", 0)] + one + one + ["end"]


def test_what_a_hook_raises_reaches_the_program():
    class Bad(tf.train.SessionRunHook):
        def before_run(self, run_context):
            raise KeyError("mine")
    with tf.Graph().as_default():
        train = counting_graph()
        with pytest.raises(KeyError, match="mine"), tf.train.MonitoredTrainingSession(hooks=[Bad()]) as sess:
            sess.run(train)


def test_a_supervisor_saves_and_goes_on(tmp_path):
    for start in (0, 5):
        with tf.Graph().as_default():
            step = tf.Variable(0, trainable=False, name="global_step")
            train = tf.assign_add(step, 1)
            sv = tf.train.Supervisor(logdir=str(tmp_path), global_step=step, save_model_secs=600)
            with sv.managed_session("") as sess:
                assert sess.run(step) == start
                for _ in range(5):
                    sess.run(train)
                sv.saver.save(sess, sv.save_path, global_step=step)
            with pytest.raises(RuntimeError, match="finalized"):
                tf.constant(1)


def test_batches_come_from_queues(tmp_path):
    with tf.python_io.TFRecordWriter(str(tmp_path / "r")) as writer:
        for i in range(12):
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))})).SerializeToString())
    with tf.Graph().as_default():
        names = tf.train.string_input_producer([str(tmp_path / "r")], num_epochs=1, shuffle=False)
        _, record = tf.TFRecordReader().read(names)
        n = tf.parse_single_example(record, features={"n": tf.FixedLenFeature([], tf.int64)})["n"]
        batch = tf.train.batch([n], batch_size=4)
        with tf.Session() as sess:
            sess.run(tf.local_variables_initializer())
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess, coord)
            seen = []
            with pytest.raises(tf.errors.OutOfRangeError):
                while not coord.should_stop():
                    seen.extend(sess.run(batch).tolist())
            coord.request_stop()
            coord.join(threads)
    assert seen == list(range(12))


def test_cluster_flags_come_from_tf_config(tmp_path, monkeypatch):
    (tmp_path / "flags.py").write_text(
        "import tensorflow as tf\nf = tf.app.flags\nf.DEFINE_string('ps_hosts', '', '')\nf.DEFINE_string('workers', '', '')\n"
        "f.DEFINE_string('job_name', '', '')\nf.DEFINE_integer('task_id', 7, '')\nF = f.FLAGS\n"
        "print(F.ps_hosts, F.workers, F.job_name, F.task_id)\n")
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"ps": ["a:1"], "worker": ["b:2", "c:3"]}, '
                                    '"task": {"type": "worker", "index": 1}}')
    assert scripts.run(tmp_path / "flags.py", cwd=tmp_path)[1] == "a:1 b:2,c:3 worker 1\n"
    assert scripts.run(tmp_path / "flags.py", "--task_id=0", cwd=tmp_path)[1] == "a:1 b:2,c:3 worker 0\n"


PYTHON_2 = '''
import tensorflow as tf
from helper import twice
total = 7
total /= 2
print "half", 7 / 2, 7 / 2.0, total
d = {"a": 1}
for k, v in d.iteritems():
\tprint k, v
        print len(map(lambda x: x, range(3))), twice(xrange(2)[1])
with tf.Session() as sess:
    print sess.run(tf.constant("text")), sess.run(tf.constant(range(3)))
try:
    raise ValueError, "old"
except ValueError, e:
    print e
undefined_name
'''


def test_python_2_programs_mean_what_they_meant(tmp_path):
    (tmp_path / "old.py").write_text(PYTHON_2)
    (tmp_path / "helper.py").write_text("def twice(x):\n    print 'helped'\n    return 2 * x\n")
    code, out, err = scripts.run(tmp_path / "old.py", cwd=tmp_path)
    assert out.split("\n")[:6] == ["half 3 3.5 3", "a 1", "helped", "3 2", "text [0 1 2]", "old"], (out, err)
    assert code == 1 and 'old.py", line 17' in err and err.count("is Python 2") == 2


def test_runs_do_not_leak():
    import gc
    import resource
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None])
        y = [x * 2, tf.constant([b"text", b"more"]), tf.reduce_sum(x)]
        fed = np.ones(10000, np.float32)

        def some(n):
            for _ in range(n):
                sess.run(y, {x: fed})
        some(300)
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        some(3000)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8000  # KiB; one array a run would be 120 MB


def test_graphs_are_freed():
    import gc
    import weakref
    graph = tf.Graph()
    with graph.as_default(), tf.device(lambda op: "/cpu:0"):
        v = tf.Variable(1.0)
        with tf.Session() as sess:
            sess.run(v.initializer)
    seen = weakref.ref(graph)
    del graph, v, sess
    gc.collect()
    assert seen() is None


def test_threads_run_one_session():
    import threading
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(0)
        add = tf.assign_add(v, 1, use_locking=True)
        sess.run(v.initializer)
        threads = [threading.Thread(target=lambda: [sess.run(add) for _ in range(200)]) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert sess.run(v) == 800


def test_errors_name_the_line_that_made_the_node():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, None])
        y = tf.matmul(x, x, name="product")
        with pytest.raises(tf.errors.InvalidArgumentError) as found:
            sess.run(y, {x: np.zeros((2, 3))})
        assert found.value.op is y.op and found.value.error_code == 3
        assert "test_train.py" in str(found.value) and found.value.node_def.op == "MatMul"


def test_interrupts_end_a_run_that_waits(tmp_path):
    import signal
    script = tmp_path / "wait.py"
    script.write_text("import tensorflow as tf, sys\n"
                      "with tf.control_dependencies([tf.print('running', output_stream=sys.stdout)]):\n"
                      "    x = tf.FIFOQueue(1, tf.float32).dequeue()\ntf.Session().run(x)\n")
    task = scripts.start(script, cwd=tmp_path)
    assert task.stdout.readline() == "running\n"
    task.send_signal(signal.SIGINT)
    _, err = task.communicate(timeout=20)
    assert "KeyboardInterrupt" in err


HANDLERS = {"none": ("", -15, 3), "exit": ("signal.signal(signal.SIGTERM, lambda *a: sys.exit(143))\n", 143, 15),
            "note": ("signal.signal(signal.SIGTERM, lambda *a: print('noted', flush=True))\n", 1, 15)}


@pytest.mark.parametrize("handler", HANDLERS)
@pytest.mark.parametrize("run", ["tf.FIFOQueue(1, tf.float32).dequeue()",
                                 "tf.while_loop(lambda i, x: i >= 0, lambda i, x: (i + 0, tf.matmul(x, x)), [0, tf.ones([50, 50])])"],
                         ids=["waits", "computes"])
def test_sigterm_ends_a_run_that_does_not_end(tmp_path, monkeypatch, handler, run):
    import signal
    import time
    lines, code, seconds = HANDLERS[handler]
    monkeypatch.setenv("WEFT_TERMINATE_SECS", "1")
    script = tmp_path / "wait.py"
    script.write_text("import tensorflow as tf, signal, sys\n%s"
                      "with tf.control_dependencies([tf.print('running', output_stream=sys.stdout)]):\n    x = %s\n"
                      "tf.Session().run(x)\n" % (lines, run))
    task = scripts.start(script, cwd=tmp_path)
    assert task.stdout.readline() == "running\n"
    start = time.monotonic()
    task.send_signal(signal.SIGTERM)
    out, err = task.communicate(timeout=30)
    assert task.returncode == code and time.monotonic() - start < seconds, (task.returncode, out, err)
    assert out == ("noted\n" if handler == "note" else ""), out


def test_a_handler_of_sigterm_runs_after_a_step_that_ends(tmp_path, monkeypatch):
    """The step is not disturbed, nor is a later one."""
    import signal
    monkeypatch.setenv("WEFT_TERMINATE_SECS", "3")
    script = tmp_path / "note.py"
    script.write_text("""import tensorflow as tf, signal, time
v = tf.Variable(0)
slow = tf.py_func(lambda: (print('running', flush=True), time.sleep(2), 1)[2], [], tf.int64)
with tf.control_dependencies([slow]):
    add = v.assign_add(1)
noted = []
signal.signal(signal.SIGTERM, lambda *a: noted.append(1))
sess = tf.Session()
sess.run(v.initializer)
sess.run(add)
for _ in range(4):
    sess.run(tf.py_func(lambda: (time.sleep(1), 1)[1], [], tf.int64))
print(sess.run(v), noted)
""")
    task = scripts.start(script, cwd=tmp_path)
    assert task.stdout.readline() == "running\n"
    task.send_signal(signal.SIGTERM)
    out, err = task.communicate(timeout=40)
    assert out == "1 [1]\n", (out, err)


def test_a_program_that_caught_an_interrupt_goes_on(tmp_path):
    import signal
    script = tmp_path / "catch.py"
    script.write_text("import tensorflow as tf, time\nc = tf.constant(5)\nsess = tf.Session()\nsess.run(c)\n"
                      "try:\n    print('ready', flush=True)\n    time.sleep(20)\n"
                      "except KeyboardInterrupt:\n    print('caught', sess.run(c), sess.run(c + 1))\n"
                      "    import os, signal\n"
                      "    def again(f):\n        try:\n            os.kill(os.getpid(), signal.SIGINT)\n            time.sleep(20)\n"
                      "        except KeyboardInterrupt:\n            return f()\n"
                      "    x = tf.placeholder(tf.float32, [])\n    y = x + 1.0\n"
                      "    def parts():\n        h = sess.partial_run_setup([y], [x])\n        return sess.partial_run(h, y, {x: 2.0})\n"
                      "    def monitored():\n        with tf.train.MonitoredSession() as s:\n            return s.run(y, {x: 3.0})\n"
                      "    print(again(parts), again(monitored))\n")
    task = scripts.start(script, cwd=tmp_path)
    assert task.stdout.readline() == "ready\n"
    task.send_signal(signal.SIGINT)
    out, err = task.communicate(timeout=20)
    assert out == "caught 5 6\n3.0 4.0\n", err


def interrupted_loop(tf):
    """What leaves the loop of a monitored session when SIGINT comes while it runs, and what a second session gives."""
    import os
    import signal
    import threading
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        train = step.assign_add(1)
        own = type("Own", (tf.train.SessionRunHook,), {})()
        sender = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        try:
            with tf.train.MonitoredSession(hooks=[own]) as sess:
                sess.run(train)
                sender.start()
                while not sess.should_stop():
                    sess.run(train)
        except BaseException as e:  # noqa: BLE001 - that is the question
            left = type(e).__name__
    with tf.Session() as sess:
        return left, sess.run(tf.constant(5))


def test_ctrl_c_leaves_a_monitored_session_as_keyboard_interrupt():
    import signal

    from both import oracle
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores SIGINT
    try:
        assert interrupted_loop(tf) == interrupted_loop(oracle) == ("KeyboardInterrupt", 5)
    finally:
        signal.signal(signal.SIGINT, before)


def test_fetched_arrays_are_the_programs_own():
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(np.zeros(4, np.float32))
        sess.run(v.initializer)
        a = sess.run(v)
        a[:] = 7
        fed = np.ones(4, np.float32)
        sess.run(v.initializer, {v.initial_value: fed})
        fed[:] = 9
        np.testing.assert_array_equal(sess.run(v), np.ones(4))


def test_a_forked_child_leaves_the_parents_cluster_alone(tmp_path):
    """It has none of the network's threads: calls fail at once, and its end does not disturb the parent's server."""
    script = tmp_path / "forks.py"
    script.write_text("""import os, signal, sys
import tensorflow as tf
if sys.argv[1:]:
    tf.train.Server({"local": [sys.argv[1]]}, "local", 0).join()
import socket, subprocess, time
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    address = "127.0.0.1:%d" % s.getsockname()[1]
other = subprocess.Popen([sys.executable, "-m", "weft", __file__, address])
server = tf.train.Server.create_local_server()
c = tf.constant(5)
own, remote = tf.Session(server.target), tf.Session("grpc://" + address)
print(own.run(c), remote.run(c), flush=True)
if os.fork() == 0:
    signal.alarm(20)
    for call in (lambda: tf.Session().run(c), lambda: remote.run(c), remote.close):
        try:
            print("child", call(), flush=True)
        except tf.errors.FailedPreconditionError as e:
            print("child:", "was forked" in str(e), flush=True)
    own.close()
    del own, remote, server
    sys.exit(7)
print("exit code", os.waitstatus_to_exitcode(os.wait()[1]))
print(own.run(c), remote.run(c), flush=True)
other.kill()
""")
    code, out, err = scripts.run(script, cwd=tmp_path)
    assert out == "5 5\nchild 5\nchild: True\nchild: True\nexit code 7\n5 5\n", (code, out, err)
