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
    for seat, (code, out, err) in found.items():
        assert code == 0, (seat, out, err)
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


def test_interrupts_end_a_run_that_waits(tmp_path):
    import signal
    import time
    script = tmp_path / "wait.py"
    script.write_text("import tensorflow as tf\nq = tf.FIFOQueue(1, tf.float32)\nprint('ready', flush=True)\n"
                      "tf.Session().run(q.dequeue())\n")
    task = scripts.start(script, cwd=tmp_path)
    assert task.stdout.readline() == "ready\n"
    time.sleep(0.7)
    task.send_signal(signal.SIGINT)
    _, err = task.communicate(timeout=20)
    assert "KeyboardInterrupt" in err


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
