"""Variables that begin with the values of a checkpoint, whichever system wrote it."""
import os

import numpy as np
import pytest

from both import oracle, outcome, weft

SYSTEMS = [weft, oracle]


def save(tf, path):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("old/a", initializer=[1.0, 2.0])
        tf.get_variable("old/b", initializer=[3.0, 4.0, 5.0])
        tf.get_variable("step", initializer=7, trainable=False)
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, str(path / "model"))


def new_model(tf):
    with tf.variable_scope("new"):
        a = tf.get_variable("a", [2], initializer=tf.zeros_initializer())
    with tf.variable_scope("old", partitioner=tf.fixed_size_partitioner(2)):
        b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    return a, b, tf.get_variable("step", [], tf.int32, tf.zeros_initializer(), trainable=False)


def started(tf, path, prepare):
    """What the variables hold after their initializers ran, or the kind of error and its text."""
    with tf.Graph().as_default() as graph:
        a, b, step = new_model(tf)
        try:
            prepare(tf, path, a, b, step)
        except ValueError as e:
            return "ValueError", str(e).partition(" checkpoint")[0].partition(" scope only")[0]
        restores = [n.name for n in graph.as_graph_def().node if n.op in ("RestoreV2", "Assign")]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return [sess.run(v).tolist() for v in (a, tf.convert_to_tensor(b), step)], restores


@pytest.mark.parametrize("writer", SYSTEMS, ids=["from_weft", "from_tf"])
@pytest.mark.parametrize("prepare", [
    lambda tf, path, a, b, step: tf.train.init_from_checkpoint(path, {"old/a": a, "old/b": "old/b", "step": step}),
    lambda tf, path, a, b, step: tf.train.init_from_checkpoint(os.path.dirname(path), {"old/a": "new/a"}),
    lambda tf, path, a, b, step: tf.train.init_from_checkpoint(path, {"old/": "old/"}),
    lambda tf, path, a, b, step: tf.train.init_from_checkpoint(path, [("old/b", list(b))]),
    lambda tf, path, a, b, step: tf.train.init_from_checkpoint(path, {"old/": "new/", "/": "old/"}),
    lambda tf, path, a, b, step: tf.train.init_from_checkpoint(path, {"nowhere": a}),
    lambda tf, path, a, b, step: tf.train.init_from_checkpoint(path, {"old/b": a}),
    lambda tf, path, a, b, step: tf.train.init_from_checkpoint(path, {"old": "new"}),
    lambda tf, path, a, b, step: tf.train.warm_start(path, vars_to_warm_start="old/.*"),
    lambda tf, path, a, b, step: tf.train.warm_start(path, var_name_to_prev_var_name={"new/a": "old/a"}),
    lambda tf, path, a, b, step: tf.train.warm_start(path, vars_to_warm_start=["step", "old"]),
    lambda tf, path, a, b, step: tf.train.warm_start(path, vars_to_warm_start=[step]),
    lambda tf, path, a, b, step: tf.train.warm_start(path, vars_to_warm_start=None),
    lambda tf, path, a, b, step: tf.train.warm_start(path),
])
def test_variables_begin_with_the_checkpoints_values(prepare, writer, tmp_path):
    path = save(writer, tmp_path)
    assert started(weft, path, prepare) == started(oracle, path, prepare)


@pytest.mark.parametrize("tf", SYSTEMS, ids=["weft", "tf"])
def test_supervised_sessions_run_the_new_initializers(tf, tmp_path):
    (tmp_path / "old").mkdir()
    path = save(tf, tmp_path / "old")
    for opened in ("monitored", "supervisor"):
        with tf.Graph().as_default():
            a = tf.get_variable("old/a", [2], initializer=tf.zeros_initializer())
            tf.train.get_or_create_global_step()
            tf.train.init_from_checkpoint(path, {"old/": "old/"})
            if opened == "monitored":
                with tf.train.MonitoredTrainingSession() as sess:
                    assert sess.run(a).tolist() == [1.0, 2.0]
            else:
                with tf.train.Supervisor(logdir=str(tmp_path / "new")).managed_session() as sess:
                    assert sess.run(a).tolist() == [1.0, 2.0]


def estimator(tf, folder, warm_start_from=None):
    def model(features, labels, mode):
        loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1, name="out"))
        step = tf.train.GradientDescentOptimizer(0.0).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)
    return tf.estimator.Estimator(model, str(folder), warm_start_from=warm_start_from)


def test_an_estimator_starts_from_another_ones_checkpoint(tmp_path):
    def batch():
        return {"x": weft.constant([[1.0, 2.0]])}, weft.constant([[1.0]])
    first = estimator(weft, tmp_path / "first")
    first.train(batch, steps=1)
    wanted = first.get_variable_value("out/kernel")
    for name, given in (("path", str(tmp_path / "first")),
                        ("settings", weft.estimator.WarmStartSettings(str(tmp_path / "first"), vars_to_warm_start="out.*"))):
        second = estimator(weft, tmp_path / name, given)
        second.train(batch, steps=2)
        np.testing.assert_array_equal(second.get_variable_value("out/kernel"), wanted)
        assert second.get_variable_value("global_step") == 2
    with pytest.raises(ValueError, match="warm_start_from must be a string or a WarmStartSettings"):
        estimator(weft, tmp_path / "wrong", 3)


# ---- which variables a name means ----

def _plain(tf, path):
    tf.Variable(5.0, name="a/v")


def _other(tf, path):
    tf.get_variable("a/v", initializer=5.0)
    tf.Variable(7.0, name="a/other")


def _imported(tf, path):
    tf.train.import_meta_graph(path + ".meta")


def _local(tf, path):
    tf.get_variable("a/v", initializer=5.0, collections=["local_variables"])


@pytest.mark.parametrize("named", [{"a/": "a/"}, {"/": "/"}, {"a/v": "a/v"}, {"nowhere/": "a/"}], ids=str)
@pytest.mark.parametrize("make", [_plain, _other, _imported, _local])
def test_a_name_means_only_variables_of_get_variable(make, named, tmp_path):
    with oracle.Graph().as_default(), oracle.Session() as sess:
        oracle.get_variable("a/v", initializer=1.0)
        sess.run(oracle.global_variables_initializer())
        path = oracle.train.Saver().save(sess, str(tmp_path / "m"))

    def found(tf):
        with tf.Graph().as_default(), tf.Session() as sess:
            make(tf, path)
            tf.train.init_from_checkpoint(path, named)
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            return sess.run(tf.global_variables() + tf.local_variables())
    assert outcome(lambda: found(weft)) == outcome(lambda: found(oracle))
