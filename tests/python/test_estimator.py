"""tf.estimator: the same model on Weft and on TensorFlow; a cluster told by TF_CONFIG; exports that TensorFlow loads."""
import json
import logging
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import scripts
import weft
from both import compare, oracle

X = np.random.RandomState(0).rand(64, 3).astype(np.float32)
Y = X.dot(np.array([[1], [2], [3]], np.float32))


def model(tf):
    def model_fn(features, labels, mode, params, config):
        assert config.model_dir
        w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
        p = tf.matmul(features["x"], w)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"p": p, "double": 2 * p})
        loss = tf.reduce_mean(tf.square(p - labels))
        train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op,
                                          eval_metric_ops={"mse": tf.metrics.mean_squared_error(labels, p)})
    return model_fn


def whole(tf):
    return {"x": tf.constant(X)}, tf.constant(Y)


def trained(tf, folder, **config):
    made = tf.estimator.Estimator(model(tf), model_dir=str(folder / tf.__name__), params={"rate": 0.1},
                                  config=tf.estimator.RunConfig(tf_random_seed=3, **config))
    return made.train(lambda: whole(tf), max_steps=30)


def once(tf):
    return tf.estimator.inputs.numpy_input_fn({"x": X}, Y, batch_size=24, num_epochs=1, shuffle=False)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("estimators")
    return [(tf, trained(tf, folder, save_checkpoints_steps=10, keep_checkpoint_max=2)) for tf in (weft, oracle)]


def test_training_evaluation_and_prediction_agree(pair):
    found = []
    for tf, estimator in pair:
        result = estimator.evaluate(once(tf))
        some = estimator.evaluate(once(tf), steps=2, name="two")
        rows = list(estimator.predict(once(tf)))
        key = list(estimator.predict(once(tf), predict_keys=["double"]))
        found.append([estimator.get_variable_names(), estimator.get_variable_value("w"), result["loss"], result["mse"],
                      int(result["global_step"]), some["loss"], [r["p"] for r in rows], [len(key), sorted(key[0])]])
    assert found[0][0] == found[1][0]
    assert found[0][7] == found[1][7]
    for a, b in zip(found[0][1:7], found[1][1:7]):
        compare(a, b)


def test_both_leave_the_same_files(pair):
    def files(estimator):
        names = [os.path.relpath(os.path.join(d, f), estimator.model_dir) for d, _, fs in os.walk(estimator.model_dir) for f in fs]
        return sorted(re.sub(r"tfevents.*", "tfevents", n) for n in names if not n.startswith("eval"))
    assert files(pair[0][1]) == files(pair[1][1])


def test_hooks_run_in_tensorflows_order(tmp_path):
    """Checkpoints are written before the model's own chief hooks run; the caller's hooks run before the logger of the loss."""
    found = []
    for tf in (weft, oracle):
        seen = []

        class Hook(tf.train.SessionRunHook):
            def __init__(self, name):
                self.name = name

            def after_create_session(self, session, coord):
                seen.append("created " + self.name)

            def after_run(self, context, values):
                seen.append("after " + self.name)

        class Listener(tf.train.CheckpointSaverListener):
            def after_save(self, session, step):
                seen.append("saved %d" % step)

        class Seen(logging.Handler):
            def emit(self, record):
                if record.getMessage().startswith("loss = "):
                    seen.append("loss")

        def model_fn(features, labels, mode):
            return model(tf)(features, labels, mode, {"rate": .1}, weft.estimator.RunConfig("x"))._replace(
                training_hooks=[Hook("of the model")], training_chief_hooks=[Hook("of the model's chief")])
        made = tf.estimator.Estimator(model_fn, str(tmp_path / tf.__name__),
                                      tf.estimator.RunConfig(log_step_count_steps=1, save_checkpoints_steps=1))
        logger, handler, before = logging.getLogger("tensorflow"), Seen(), tf.logging.get_verbosity()
        tf.logging.set_verbosity(tf.logging.INFO)
        logger.addHandler(handler)
        try:
            made.train(lambda: whole(tf), steps=2, hooks=[Hook("of the caller")], saving_listeners=[Listener()])
        finally:
            logger.removeHandler(handler)
            tf.logging.set_verbosity(before)
        found.append(seen)
    assert found[0] == found[1] and "loss" in found[0] and "saved 2" in found[0]


def test_training_goes_on_from_the_checkpoint_and_each_reads_the_others(pair, tmp_path):
    values = []
    for (tf, _), (_, other) in zip(pair, reversed(pair)):
        made = tf.estimator.Estimator(model(tf), model_dir=other.model_dir, params={"rate": 0.1})
        values.append(made.evaluate(once(tf))["loss"])
        assert made.train(lambda tf=tf: whole(tf), max_steps=30) is made  # it has been trained so far: nothing is done
    compare(*values)




def test_the_loop_prints_what_tensorflow_prints(tmp_path):
    program = tmp_path / "p.py"
    program.write_text("import sys\nimport numpy as np\nimport tensorflow as tf\n" + LOGGED)
    ours = scripts.run(program, str(tmp_path / "ours"), cwd=tmp_path)
    assert ours[0] == 0, ours
    theirs = subprocess.run([sys.executable, str(program), str(tmp_path / "theirs")], cwd=tmp_path, capture_output=True, text=True,
                            timeout=300, env=dict(os.environ, PYTHONPATH=str(shim(tmp_path))))
    assert theirs.returncode == 0, theirs.stderr

    def lines(text):
        keep = [line for line in text.splitlines() if line.startswith("INFO:tensorflow:")]
        keep = [re.sub(r"at \d.*|\(.* sec\)|: [\d.]+s?$|/\S*/|(?<=\.\d{4})\d+", "", line) for line in keep if "Using config" not in line]
        return [line for line in keep if "for Train" not in line and "for Eval" not in line]
    assert lines(ours[2]) == lines(theirs.stderr)


def shim(folder):
    """A folder in which `import tensorflow` is TensorFlow as of version 1."""
    made = folder / "shim"
    made.mkdir()
    (made / "sitecustomize.py").write_text("import sys\nimport tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"
                                           "sys.modules['tensorflow'] = tf\n")
    return made


LOGGED = '''
tf.logging.set_verbosity(tf.logging.INFO)
X = np.arange(12, dtype=np.float32).reshape(6, 2)


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
    p = tf.matmul(features, w)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=p, export_outputs={"y": tf.estimator.export.PredictOutput(p)})
    loss = tf.reduce_mean(tf.square(p - labels))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.train.GradientDescentOptimizer(1e-3).minimize(
        loss, tf.train.get_global_step()))


e = tf.estimator.Estimator(model_fn, sys.argv[1], tf.estimator.RunConfig(save_checkpoints_steps=4, log_step_count_steps=None))
e.train(lambda: (tf.constant(X), tf.constant(X[:, :1])), steps=8)
e.train(lambda: (tf.constant(X), tf.constant(X[:, :1])), max_steps=8)
e.evaluate(lambda: (tf.constant(X), tf.constant(X[:, :1])), steps=3)
e.export_saved_model(sys.argv[1] + "/out", lambda: tf.estimator.export.TensorServingInputReceiver(
    *[tf.placeholder(tf.float32, [None, 2])] * 2))
'''


def test_an_export_answers_in_tensorflow(pair, tmp_path):
    tf, estimator = pair[0]
    with tf.Graph().as_default():
        like = tf.placeholder(tf.float32, [None, 3], name="x")
    path = estimator.export_savedmodel(str(tmp_path / "out"), tf.estimator.export.build_raw_serving_input_receiver_fn({"x": like}))
    rows = list(estimator.predict(once(tf)))
    with oracle.Graph().as_default(), oracle.Session() as sess:
        meta = oracle.saved_model.loader.load(sess, ["serve"], path.decode())
        signature = meta.signature_def["serving_default"]
        got = sess.run(signature.outputs["p"].name, {signature.inputs["x"].name: X})
    compare(np.array([r["p"] for r in rows]), got)


@pytest.mark.parametrize("program, kind, text", [
    (lambda tf: tf.estimator.EstimatorSpec("train", loss=tf.constant(1.)), ValueError, "Missing train_op"),
    (lambda tf: tf.estimator.EstimatorSpec("infer"), ValueError, "Missing predictions"),
    (lambda tf: tf.estimator.Estimator(lambda features: None, params={"a": 1}), ValueError, "does not include params"),
    (lambda tf: tf.estimator.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1), ValueError, "cannot be both set"),
    (lambda tf: tf.estimator.TrainSpec(3), TypeError, "`input_fn` must be callable"),
    (lambda tf: tf.estimator.inputs.numpy_input_fn({"x": X}), ValueError, "shuffle must be"),
])
def test_wrong_programs_are_told(program, kind, text):
    for tf in (weft, oracle):
        with pytest.raises(kind, match=text):
            program(tf)


class Frame(dict):
    """As much of a DataFrame as an input_fn looks at."""

    columns = property(list)
    index = property(lambda self: range(len(next(iter(self.values())))))


def test_columns_of_a_frame_are_batches():
    frame, labels = Frame(a=[1., 2., 3.], b=[4, 5, 6]), Frame(y=[0, 1, 2])
    with weft.Graph().as_default():
        made = weft.estimator.inputs.pandas_input_fn(frame, labels, batch_size=2, num_epochs=1, shuffle=False)()
        with weft.train.MonitoredSession() as sess:
            first, second = sess.run(made), sess.run(made)
            with pytest.raises(weft.errors.OutOfRangeError):
                sess.run(made)
    assert list(first[1]["y"]) == [0, 1] and list(first[0]["a"]) == [1., 2.] and list(second[0]["b"]) == [6]


def config_of(monkeypatch, tf, **given):
    monkeypatch.setenv("TF_CONFIG", json.dumps(given))
    made = tf.estimator.RunConfig()
    return [made.task_type, made.task_id, made.is_chief, made.master, made.num_ps_replicas, made.num_worker_replicas,
            made.evaluation_master, made.global_id_in_cluster, made.session_config and list(made.session_config.device_filters)]


CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}


@pytest.mark.parametrize("kind, index", [("chief", 0), ("worker", 1), ("ps", 0), ("evaluator", 0)])
def test_tf_config_says_what_a_task_is(monkeypatch, kind, index):
    ours, theirs = (config_of(monkeypatch, tf, cluster=CLUSTER, task={"type": kind, "index": index}) for tf in (weft, oracle))
    assert ours == theirs


def run_cluster(folder, cluster, roles, program="estimator_cluster.py", steps="200"):
    """{role: (stdout, stderr)} of the tasks of a job, each of which ended well."""
    tasks, said = {}, {}
    for kind, index in roles:
        os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})
        try:
            tasks[kind, index] = scripts.start(scripts.PROGRAMS / program, str(folder / "model"), steps, cwd=folder)
        finally:
            del os.environ["TF_CONFIG"]
    try:
        for role, task in tasks.items():
            said[role] = task.communicate(timeout=150)
    finally:
        for task in tasks.values():
            task.kill()
    for role, task in tasks.items():
        assert task.returncode == 0, (role, said)
    return said


def ended(text):
    """Did a worker train to the end, or come when the others were there already?"""
    return "Loss for final step" in text or "Skipping training since max_steps has already saved" in text


def evaluated(said):
    """The last error that a task of a cluster logged; train_and_evaluate returns None there, as in TensorFlow."""
    assert "result None" in said[0], said
    return float(re.findall(r"error = ([\d.e-]+)", said[1])[-1])


def test_a_cluster_without_a_chief_is_led_by_its_first_worker(tmp_path):
    hosts = ["localhost:%d" % p for p in scripts.free_ports(3)]
    said = run_cluster(tmp_path, {"ps": hosts[:1], "worker": hosts[1:]}, [("ps", 0), ("worker", 0), ("worker", 1)])
    assert evaluated(said["worker", 0]) < 0.05, said
    assert ended(said["worker", 1][1]), said


@pytest.mark.parametrize("listed", [False, True], ids=["apart", "listed"])
def test_a_cluster_trains_evaluates_and_exports(tmp_path, listed):
    hosts = ["localhost:%d" % p for p in scripts.free_ports(3 + listed)]  # an evaluator is in some clusters' lists
    roles = ["ps", "chief", "worker", "evaluator"]
    found = run_cluster(tmp_path, dict(zip(roles, ([h] for h in hosts))), [(s, 0) for s in roles])
    said = {kind: texts for (kind, _), texts in found.items()}
    assert int(re.findall(r"Saving checkpoints for (\d+)", said["chief"][1])[-1]) >= 200, said["chief"]
    assert evaluated(said["evaluator"]) < 0.05, said["evaluator"]
    assert ended(said["worker"][1]), said["worker"]
    exported, = [d for d in [tmp_path / "model" / "export" / "served"] if d.is_dir()]
    newest = max(exported.iterdir())
    with oracle.Graph().as_default(), oracle.Session() as sess:
        meta = oracle.saved_model.loader.load(sess, ["serve"], str(newest))
        signature = meta.signature_def["serving_default"]
        got = sess.run(signature.outputs["y"].name, {signature.inputs["x"].name: np.eye(4, dtype=np.float32)})
    np.testing.assert_allclose(got[:, 0] - got[:, 0].mean(), np.array([1, 2, -1, 0.5]) - 0.625, atol=0.2)


def figures(log):
    """The last line of an evaluation: its step, its loss, and the mean absolute error."""
    line = re.findall(r"Saving dict for global step (\d+): error = ([\d.e-]+), global_step = \d+, loss = ([\d.e-]+)", log)[-1]
    return int(line[0]), float(line[1]), float(line[2])


def test_a_cluster_ends_with_the_figures_of_tensorflows_cluster(tmp_path):
    """Two workers race, so only the last evaluation agrees: its error (labels from -1 to 3.5) within 0.05, its loss within 0.005."""
    hosts = ["localhost:%d" % p for p in scripts.free_ports(6)]
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    said = run_cluster(ours, {"ps": hosts[:1], "chief": hosts[1:2], "worker": hosts[2:3]},
                       [("ps", 0), ("chief", 0), ("worker", 0), ("evaluator", 0)])
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONWARNINGS="ignore")
    cluster = json.dumps({"ps": hosts[3:4], "chief": hosts[4:5], "worker": hosts[5:6]})
    subprocess.run([sys.executable, str(scripts.HERE / "cluster_of_tf.py"), str(theirs), str(scripts.PROGRAMS / "estimator_cluster.py"),
                    cluster, str(theirs / "model"), "200"], env=env, check=True, timeout=240)
    logs = {kind: (theirs / (kind + "-0.txt")).read_text() for kind in ("chief", "worker", "evaluator")}
    for kind in logs:
        assert (theirs / (kind + "-0.code")).read_text() == "0", logs[kind][-3000:]
    last, wanted = figures(said["evaluator", 0][1]), figures(logs["evaluator"])
    assert last[0] >= 200 and wanted[0] >= 200, (last, wanted)
    assert last[1] == pytest.approx(wanted[1], abs=0.05) and last[2] == pytest.approx(wanted[2], abs=0.005), (last, wanted)
    assert ended(said["worker", 0][1]) and ended(logs["worker"]), (said, logs)
    for folder in (ours, theirs):
        assert len(list((folder / "model" / "export" / "served").iterdir())) >= 1


def test_the_environment_of_tf_config_is_in_contrib_learns_configuration(monkeypatch):
    assert weft.contrib.learn.RunConfig().environment == "local"
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"master": ["a:1"], "ps": ["b:1"]}, "environment": "cloud",
                                                "task": {"type": "master", "index": 0}}))
    config = weft.contrib.learn.RunConfig()
    assert (config.environment, config.is_chief, config.num_worker_replicas) == ("cloud", True, 1)


def test_a_tf_config_that_is_not_json_is_named(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", "{'cluster': {}}")
    with pytest.raises(ValueError, match="TF_CONFIG is not JSON"):
        weft.estimator.RunConfig()


def test_an_input_fn_may_give_a_dataset(tmp_path):
    found = []
    for tf in (weft, oracle):
        def rows(epochs, tf=tf):
            made = tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(epochs).batch(24)
            return made.map(lambda features, labels: ({"x": features["x"] * 2.}, labels))
        estimator = tf.estimator.Estimator(model(tf), model_dir=str(tmp_path / tf.__name__), params={"rate": 0.05})
        estimator.train(lambda r=rows: r(4))  # to the end of the data
        result = estimator.evaluate(lambda r=rows: r(1))
        found.append([result["loss"], int(result["global_step"]), [r["p"] for r in estimator.predict(lambda r=rows: r(1))]])
    compare(found[0], found[1])


def test_an_evaluator_skips_a_checkpoint_that_is_deleted_meanwhile(tmp_path, monkeypatch):
    """The chief keeps few checkpoints; a slow evaluator finds that the one it began with is gone."""
    def model_fn(features, labels, mode):
        w = weft.get_variable("w", [], initializer=weft.zeros_initializer())
        loss = weft.square(w - weft.reduce_mean(features))
        train = weft.train.GradientDescentOptimizer(0.1).minimize(loss, weft.train.get_global_step())
        return weft.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    def input_fn():
        return weft.data.Dataset.from_tensors([1.0])

    def slow_input_fn():
        calls.append(1)
        if len(calls) == 1:
            for file in tmp_path.glob("model.ckpt-1.*"):
                file.unlink()
            weft.train.update_checkpoint_state(str(tmp_path), str(tmp_path / "model.ckpt-2"))
        return input_fn()

    calls = []
    config = weft.estimator.RunConfig(model_dir=str(tmp_path), save_checkpoints_steps=1)
    weft.estimator.Estimator(model_fn, config=config).train(lambda: input_fn().repeat(), max_steps=2)
    weft.train.update_checkpoint_state(str(tmp_path), str(tmp_path / "model.ckpt-1"))
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"chief": ["a:1"]}, "task": {"type": "evaluator", "index": 0}}')
    estimator = weft.estimator.Estimator(model_fn, config=weft.estimator.RunConfig(model_dir=str(tmp_path)))
    weft.estimator.train_and_evaluate(estimator, weft.estimator.TrainSpec(input_fn, max_steps=2),
                                    weft.estimator.EvalSpec(slow_input_fn, start_delay_secs=0, throttle_secs=0))
    assert len(calls) == 2
