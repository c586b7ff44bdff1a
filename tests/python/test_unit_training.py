"""What unit tests of TensorFlow 1 say of training: queue runners, coordinators, supervisors, savers and loops."""
import glob
import os
import subprocess
import sys
import threading

import pytest

import weft
from both import oracle
from test_idioms import on_both
from test_unit_idioms import refused


def test_threads_without_a_coordinator_are_joined():
    def program(tf, sess):
        count = tf.Variable(0)
        runner = tf.train.QueueRunner(tf.FIFOQueue(10, tf.float32), [count.count_up_to(2000)])
        sess.run(count.initializer)
        threads = runner.create_threads(sess, start=True)
        for t in threads:
            t.join()
        return [int(sess.run(count)), [t.is_alive() for t in threads], len(runner.exceptions_raised)]
    assert on_both(program)[0] == 2000


def test_a_queue_runner_keeps_the_error_of_a_thread():
    def program(tf, sess):
        runner = tf.train.QueueRunner(tf.FIFOQueue(10, tf.float32), [tf.Assert(False, ["no"])])
        thread, = runner.create_threads(sess)
        thread.start()
        thread.join()
        return [type(e).__name__ for e in runner.exceptions_raised]
    assert on_both(program) == ["InvalidArgumentError"]


def test_a_queue_runner_of_a_message_ends_at_the_same_errors():
    def program(tf, sess):
        kinds = tf.errors.OutOfRangeError, tf.errors.CancelledError
        runner = tf.train.QueueRunner(tf.FIFOQueue(9, tf.int32), [tf.no_op()], queue_closed_exception_types=kinds)
        again = tf.train.QueueRunner.from_proto(runner.to_proto())
        return [k.__name__ for k in again.queue_closed_exception_types]
    assert on_both(program) == ["OutOfRangeError", "CancelledError"]


def test_what_is_no_session_or_coordinator_is_refused():
    with weft.Graph().as_default():
        with pytest.raises(TypeError, match="must be a `tf.Session`"):
            weft.train.start_queue_runners(sess="a")
        with pytest.raises(ValueError, match="must be a Coordinator"):
            weft.train.LooperThread(3, 1)


def test_an_error_after_the_join_is_raised_at_once():
    for tf in (weft, oracle):
        coord = tf.train.Coordinator()
        thread = threading.Thread(target=coord.request_stop)
        thread.start()
        coord.join([thread])
        with pytest.raises(RuntimeError, match="late"):
            try:
                raise RuntimeError("late")
            except RuntimeError as e:
                coord.request_stop(e)


def test_a_supervisor_of_an_empty_name_has_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for tf in (weft, oracle):
        with tf.Graph().as_default():
            v = tf.Variable(1.0, name="v")
            with tf.Session() as sess:
                sess.run(v.assign(5.0))
                tf.train.Saver().save(sess, os.path.join(str(tmp_path), "model"))
            sv = tf.train.Supervisor(logdir="", summary_op=None)
            sess = sv.prepare_or_wait_for_session("")
            assert sess.run(v) == 1 and sv.summary_writer is None
            with pytest.raises(RuntimeError, match="requires a summary writer"):
                sv.summary_computed(sess, b"")
            sv.stop()
        assert not glob.glob("events*")


def test_only_a_chief_starts_services():
    for tf in (weft, oracle):
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
            tf.constant(1)
            with pytest.raises(RuntimeError, match="Only chief supervisor"):
                tf.train.Supervisor(is_chief=False).start_standard_services(sess)


def test_a_slice_and_a_whole_variable_of_one_name_are_refused():
    def program(tf):
        v, part = tf.Variable([1.0], name="v"), tf.Variable([2.0], name="w")
        part._set_save_slice_info(tf.Variable.SaveSliceInfo("v", [1], [0], [1]))
        tf.train.Saver([v, part])
    refused(program, "same name: v")


def test_an_invariant_must_have_the_shape_at_the_start():
    def program(tf):
        tf.while_loop(lambda i, m: i < 2, lambda i, m: [i + 1, m], [tf.constant(0), tf.ones([2, 2])],
                      [tf.TensorShape([]), tf.TensorShape([3, None])])
    refused(program, "shape invariant")


def test_summaries_come_every_so_many_steps(tmp_path):
    def steps(tf, folder):
        with tf.Graph().as_default():
            step = tf.train.get_or_create_global_step()
            read = step + 0
            tf.add_to_collection("global_step_read_op_cache", read)  # what the hooks read; unordered, it may see either value
            with tf.control_dependencies([read]):
                increment = tf.assign_add(step, 1)
            tf.summary.scalar("twice", increment * 2)
            with tf.train.MonitoredTrainingSession(checkpoint_dir=str(folder), save_summaries_steps=10, log_step_count_steps=5) as sess:
                for _ in range(30):
                    sess.run(increment)
        found = [(v.tag, e.step) for path in glob.glob(str(folder / "events*")) for e in tf.train.summary_iterator(path)
                 for v in e.summary.value]
        return sorted(found)
    ours, theirs = steps(weft, tmp_path / "ours"), steps(oracle, tmp_path / "theirs")
    assert ours == theirs and ("twice", 21) in ours


def test_a_graph_is_open_again_after_a_monitored_session():
    for tf in (weft, oracle):
        with tf.Graph().as_default() as graph:
            x = tf.constant(1)
            with tf.train.MonitoredSession() as sess:
                assert sess.run(x) == 1 and graph.finalized
            assert not graph.finalized
            assert tf.Session().run(x + 1) == 2


def test_how_often_tensors_are_logged_is_checked():
    for given in (dict(every_n_iter=0), dict(every_n_iter=2, every_n_secs=3, at_end=True), {}):
        refused(lambda tf, given=given: tf.train.LoggingTensorHook(["x"], **given), "every_n_iter")


@pytest.mark.parametrize("level, count", [("INFO", 7), ("WARN", 0)])
def test_handlers_of_the_program_get_the_lines_of_the_library(tmp_path, level, count):
    program = tmp_path / "program.py"
    program.write_text("""
import atexit, logging, sys
lines = []

class Handler(logging.Handler):
    def emit(self, record):
        lines.append(record.levelname + " " + record.getMessage())
atexit.register(lambda: print("\\n".join(lines)))
import tensorflow as tf
logger = logging.getLogger("tensorflow")
logger.handlers[:] = [Handler()]
logger.setLevel(logging.%s)
tf.train.get_or_create_global_step()
with tf.train.MonitoredTrainingSession(checkpoint_dir=sys.argv[1]) as sess:
    pass
""" % level)
    done = subprocess.run([sys.executable, "-m", "weft", str(program), str(tmp_path / "d")], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(weft.__file__))}, timeout=60)
    assert done.stdout.split("\n")[:2] == (["INFO Create CheckpointSaverHook.", "INFO Graph was finalized."] if count else ["", ""])
    assert (len(done.stdout.split()) > 0) == (count > 0) and "tensorflow:" not in done.stderr, done.stderr
