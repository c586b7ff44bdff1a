"""The events that hooks, sessions and evaluations write: the same ones in both systems, in one file for each folder."""
import os

import numpy as np
import pytest

import weft
from both import oracle

X = np.arange(12, dtype=np.float32).reshape(6, 2)


def told(value):
    """What is compared of a value of a summary: its tag and type, and what does not depend on the clock or a folder."""
    kind = value.WhichOneof("value")
    if kind == "tensor":
        return value.tag, value.node_name, value.tensor.dtype, [d.size for d in value.tensor.tensor_shape.dim]
    if kind == "simple_value":
        return value.tag, None if value.tag.endswith("/sec") else round(value.simple_value, 3)
    return value.tag, kind


def row(event):
    kind = event.WhichOneof("what")
    if kind == "summary":
        return event.step, [told(v) for v in event.summary.value]
    if kind == "session_log":
        return event.step, kind, event.session_log.status, os.path.basename(event.session_log.checkpoint_path)
    return event.step, kind, getattr(event, kind).tag if kind == "tagged_run_metadata" else None


def events(tf, top):
    """{folder: (events without graphs, was there a graph, files)} below a folder."""
    found = {}
    for folder, _, names in os.walk(top):
        files = sorted(n for n in names if "tfevents" in n)
        rows = [row(e) for n in files for e in tf.train.summary_iterator(os.path.join(folder, n))]
        graphs = {"graph_def", "meta_graph_def"} & {r[1] for r in rows if isinstance(r[1], str)}
        if files:
            found[os.path.relpath(folder, top)] = (
                [r for r in rows if r[1] not in ("file_version", "graph_def", "meta_graph_def")], sorted(graphs), len(files))
    return found


def monitored(tf, folder, make_hooks, **more):
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        tf.summary.scalar("x", tf.constant(3.0))
        train = tf.assign_add(step, 1)
        hooks = make_hooks(tf, folder)
        with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, log_step_count_steps=2, **more) as sess:
            for _ in range(5):
                sess.run(train)
    tf.summary.FileWriterCache.clear()
    return events(tf, folder)


def no_hooks(tf, folder):
    return []


def own_summaries(tf, folder):
    made = tf.summary.scalar("mine", tf.constant(4.0))
    return [tf.train.SummarySaverHook(save_steps=2, output_dir=folder, summary_op=made),
            tf.train.SummarySaverHook(save_steps=1, output_dir=folder + "/more", summary_op=[made, made])]


def own_writers(tf, folder):
    return [tf.train.StepCounterHook(2, output_dir=folder), tf.train.ProfilerHook(save_steps=2, output_dir=folder + "/more"),
            tf.train.CheckpointSaverHook(folder + "/copies", save_steps=2)]


@pytest.mark.parametrize("hooks", [no_hooks, own_summaries, own_writers])
@pytest.mark.parametrize("apart", [False, True])
def test_sessions_and_their_hooks_write_tensorflows_events(tmp_path, hooks, apart):
    found = []
    for tf in (weft, oracle):
        folder = str(tmp_path / tf.__name__)
        more = {"summary_dir": folder + "/summaries"} if apart else {}
        found.append(monitored(tf, folder, hooks, save_summaries_steps=2, save_checkpoint_steps=2, **more))
    assert found[0] == found[1]
    assert all(files == 1 for _, _, files in found[0].values())


def model_fn(tf):
    def build(features, labels, mode):
        w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
        p = tf.matmul(features["x"], w)
        loss = tf.reduce_mean(tf.square(p - labels))
        train = tf.train.GradientDescentOptimizer(0.001).minimize(loss, tf.train.get_global_step())
        still = {k: (v, tf.no_op()) for k, v in {
            "whole": tf.constant(3), "yes": tf.constant(True), "wide": tf.constant(2.0, tf.float64),
            "image": tf.summary.image("picture", tf.zeros([1, 2, 2, 1]))}.items()}
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, eval_metric_ops={
            "mse": tf.metrics.mean_squared_error(labels, p), "row": tf.metrics.mean_tensor(tf.reduce_mean(p, 0)), **still})
    return build


def estimator(tf, folder):
    config = tf.estimator.RunConfig(save_checkpoints_steps=2, save_summary_steps=2, log_step_count_steps=2, tf_random_seed=1)
    return tf.estimator.Estimator(model_fn(tf), folder, config)


def input_fn(tf):
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": X}, X[:, :1] * 2)).batch(2).repeat(3)


class Summaries:
    """Delegates to a SummarySaverHook, which is made in begin() because the graph is not there before."""

    def __new__(cls, tf, folder):
        class Hook(tf.train.SessionRunHook):
            def begin(self):
                self._hook = tf.train.SummarySaverHook(save_steps=2, output_dir=folder, summary_op=tf.summary.merge_all())
                self._hook.begin()

            def before_run(self, run_context):
                return self._hook.before_run(run_context)

            def after_run(self, run_context, run_values):
                self._hook.after_run(run_context, run_values)

            def end(self, session):
                self._hook.end(session)
        return Hook()


def test_evaluations_write_tensorflows_events(tmp_path):
    found = []
    for tf in (weft, oracle):
        folder = str(tmp_path / tf.__name__)
        made = estimator(tf, folder)
        made.train(input_fn(tf), steps=4)
        for more in ({}, {"name": "two"}, {"hooks": [Summaries(tf, folder + "/eval")]}):
            made.evaluate(input_fn(tf), **more)
        made.train(input_fn(tf), steps=2)
        made.evaluate(input_fn(tf))
        read = events(tf, folder)
        found.append({k: v[:2] for k, v in read.items()})
        assert all(read[k][2] == 1 for k in ("eval", "eval_two"))
    assert found[0] == found[1]
    assert ("row", "row", 1, [1]) in found[0]["eval"][0][0][1]


def test_training_with_evaluations_writes_one_file(tmp_path):
    found = []
    for tf in (weft, oracle):
        folder = str(tmp_path / tf.__name__)
        tf.estimator.train_and_evaluate(estimator(tf, folder), tf.estimator.TrainSpec(input_fn(tf), max_steps=6),
                                        tf.estimator.EvalSpec(input_fn(tf), steps=2, throttle_secs=0))
        tf.summary.FileWriterCache.clear()
        found.append(events(tf, folder))
    assert found[0] == found[1]
    assert found[0]["."][2] == found[0]["eval"][2] == 1


def test_a_process_that_ends_writes_what_it_added(tmp_path):
    import subprocess
    import sys

    import scripts
    text = "import weft as tf\nw = tf.summary.FileWriterCache.get(%r)\nw.add_session_log(tf.SessionLog(status=1), 7)\n" % str(tmp_path)
    subprocess.run([sys.executable, "-c", text], env=dict(os.environ, PYTHONPATH=scripts.PACKAGE), check=True, timeout=60)
    assert events(weft, str(tmp_path))["."][0] == [(7, "session_log", 1, "")]
