"""Tools of training: estimators for TPUs on a CPU, checks of gradients, assertions, queue runners."""
import dataclasses
import os

import numpy as np

from machine import case


def tpu_model(tf):
    def model_fn(features, labels, mode, params):
        w = tf.get_variable("w", [1], initializer=tf.zeros_initializer())
        y = features["x"] * w * params["scale"]
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.tpu.TPUEstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean(tf.square(y - labels))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())

        def metric(a, b):
            return {"m": tf.metrics.mean_squared_error(b, a)}

        def host(value):
            return tf.summary.scalar("s", tf.reduce_mean(value))
        return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train, eval_metrics=(metric, [y, labels]),
                                                 host_call=(host, [tf.reshape(loss, [1])]))
    return model_fn


def tpu_input(tf):
    def input_fn(params):
        x = np.float32([[1], [2], [3], [4]])
        return tf.data.Dataset.from_tensor_slices(({"x": x}, 2 * x)).repeat().batch(params["batch_size"])
    return input_fn


@case(nodes=False)
def estimator_for_tpus_on_a_cpu(tf):
    config = tf.estimator.tpu.RunConfig(model_dir="m", save_checkpoints_steps=5, tpu_config=tf.estimator.tpu.TPUConfig(
        iterations_per_loop=5, num_shards=8, per_host_input_for_training=tf.estimator.tpu.InputPipelineConfig.PER_HOST_V2))
    model = tf.estimator.tpu.TPUEstimator(model_fn=tpu_model(tf), config=config, params={"scale": 2.0}, use_tpu=False,
                                          train_batch_size=2, eval_batch_size=4, predict_batch_size=1)
    model.train(input_fn=tpu_input(tf), max_steps=4)
    found = model.evaluate(input_fn=tpu_input(tf), steps=2)
    predicted = [p["y"].tolist() for _, p in zip(range(2), model.predict(input_fn=tpu_input(tf)))]
    wrong = []
    for make in (lambda: tf.estimator.tpu.TPUEstimator(model_fn=tpu_model(tf), config=tf.estimator.RunConfig(), use_tpu=False),
                 lambda: tf.estimator.tpu.TPUEstimator(model_fn=tpu_model(tf), config=config, params={"batch_size": 1}, use_tpu=False),
                 lambda: tf.estimator.tpu.TPUConfig(iterations_per_loop=0), lambda: tf.estimator.tpu.TPUConfig(num_shards=0),
                 lambda: tf.estimator.tpu.TPUEstimatorSpec("train", eval_metrics=3),
                 lambda: tf.estimator.tpu.TPUEstimatorSpec("train", host_call=(3, []))):
        try:
            make()
        except (ValueError, TypeError) as e:
            wrong.append(type(e).__name__)
    return [sorted((k, float(v)) for k, v in found.items()), predicted, wrong, config.tpu_config._asdict(),
            config.replace(save_checkpoints_steps=7).save_checkpoints_steps, config.evaluation_master]


@case(nodes=False, tolerance=1e-2)
def gradients_are_checked(tf):
    x = tf.placeholder(tf.float32, [2, 2])
    z = tf.placeholder(tf.float32, [2])
    y = tf.square(x) * z
    start = np.float32([[1, 2], [3, 4]])
    with tf.Session():
        one = tf.test.compute_gradient(x, [2, 2], y, [2, 2], x_init_value=start, extra_feed_dict={z: [1.0, 2.0]})
        several = tf.test.compute_gradient([x, z], [[2, 2], [2]], y, [2, 2], x_init_value=[start, np.float32([1, 2])], delta=0.01,
                                           extra_feed_dict={x: start, z: [1.0, 2.0]})
        error = tf.test.compute_gradient_error(x, [2, 2], y, [2, 2], x_init_value=start, extra_feed_dict={z: [1.0, 2.0]})
    return [a.tolist() for a in one], [[a.tolist() for a in pair] for pair in several], bool(error < 0.05)


def outcome(check, *args, **kwargs):
    """Whether an assertion passes or fails."""
    try:
        check(*args, **kwargs)
        return check.__name__, "passes"
    except AssertionError:
        return check.__name__, "fails"


@case(nodes=False)
def assertions_of_absl(tf):
    t = type("Case", (tf.test.TestCase,), {"runTest": lambda self: None})()
    point = dataclasses.make_dataclass("Point", ["x", "y"])
    pairs = [
        (t.assertContainsSubset, [1, 2], [3, 2, 1]), (t.assertContainsSubset, [1, 2], [1]), (t.assertNoCommonElements, [1, 2], [3]),
        (t.assertNoCommonElements, [1, 2], [2]), (t.assertSequenceStartsWith, [1], [1, 2]), (t.assertSequenceStartsWith, [2], [1, 2]),
        (t.assertSequenceStartsWith, [], [1]), (t.assertContainsSubsequence, [1, 2, 3], [1, 3]),
        (t.assertContainsSubsequence, [1, 2, 3], [3, 1]), (t.assertContainsExactSubsequence, [1, 2, 3], [2, 3]),
        (t.assertContainsExactSubsequence, [1, 2, 3], [1, 3]), (t.assertTotallyOrdered, [1], [2, 2], [3]),
        (t.assertTotallyOrdered, [2], [1]), (t.assertTotallyOrdered, [1, 2]),
        (t.assertSameStructure, {"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}), (t.assertSameStructure, {"a": [1]}, {"a": [1, 2]}),
        (t.assertSameStructure, {"a": 1}, {"b": 1}), (t.assertMappingEqual, {1: 2}, {1: 2}), (t.assertMappingEqual, {1: 2}, {1: 3}),
        (t.assertMappingEqual, {1: 2}, {}), (t.assertDictAlmostEqual, {"a": 1.0}, {"a": 1.0 + 1e-9}),
        (t.assertDictAlmostEqual, {"a": 1.0}, {"a": 1.1}), (t.assertDictAlmostEqual, {"a": 1.0}, {"b": 1.0}),
        (t.assertSequenceAlmostEqual, [1.0], [1.04], 1), (t.assertSequenceAlmostEqual, [1.0], [1.2]),
        (t.assertSequenceAlmostEqual, [1.0], []), (t.assertDataclassEqual, point(1, 2), point(1, 2)),
        (t.assertDataclassEqual, point(1, 2), point(1, 3)), (t.assertDataclassEqual, 1, 1), (t.assertNotStartsWith, "abc", "b"),
        (t.assertNotStartsWith, "abc", "a"), (t.assertEndsWith, "abc", "bc"), (t.assertEndsWith, "abc", "b"),
        (t.assertNotEndsWith, "abc", "b"), (t.assertNotEndsWith, "abc", "c"), (t.assertContainsInOrder, ["a", "c"], "abc"),
        (t.assertContainsInOrder, ["c", "a"], "abc"), (t.assertRegexMatch, "abc", ["x", "b."]), (t.assertRegexMatch, "abc", ["x"]),
        (t.assertIsSubclass, bool, int), (t.assertIsSubclass, int, bool), (t.assertNotIsSubclass, int, bool),
        (t.assertNotIsSubclass, bool, int), (t.assertJsonEqual, '{"a": [1]}', '{ "a":[1] }'),
        (t.assertJsonEqual, '{"a": 1}', '{"a": 2}'), (t.assertUrlEqual, "http://a/b?x=1&y=2", "http://a/b?y=2&x=1"),
        (t.assertUrlEqual, "http://a/b", "http://a/c"), (t.assertCommandSucceeds, ["echo", "one"], [b"on"]),
        (t.assertCommandSucceeds, ["echo", "one"], [b"two"]), (t.assertCommandSucceeds, ["false"]),
        (t.assertCommandFails, ["false"], [b""]), (t.assertCommandFails, ["true"], [b""]),
        (t.assertRaisesWithLiteralMatch, ValueError, "no", fail_with, ValueError("no")),
        (t.assertRaisesWithLiteralMatch, ValueError, "n", fail_with, ValueError("no")),
        (t.assertProtoEqualsVersion, "node { name: 'x' }", tf.GraphDef(node=[tf.NodeDef(name="x")], versions={"producer": 7}), 7),
        (t.assertProtoEqualsVersion, "node { name: 'x' }", tf.GraphDef(node=[tf.NodeDef(name="x")]), 7)]
    said = [outcome(*call) for call in pairs]
    with t.assertRaisesIncompatibleShapesError(ValueError):
        tf.zeros([2]) + tf.zeros([3])
    tf.app.flags.FLAGS(["program"])  # absl reads the folder of temporary files from them
    made = t.create_tempfile("a/b.txt", "text")
    folder = t.create_tempdir("folder")
    t.record_property("key", 3)
    said += [made.full_path.endswith("a/b.txt"), made.read_text(), made.read_bytes(), os.path.basename(folder.full_path),
             open(folder.create_file("f", b"xy")).read(), os.path.isdir(folder.mkdir("sub")), t.get_recorded_properties(),
             t.evaluate_if_both_tensors(1, 2)]
    t.doCleanups()
    return said + [os.path.exists(folder), os.path.exists(made)]


def fail_with(error):
    raise error


@case(nodes=False)
def assertions_of_tests(tf):
    class Case(tf.test.TestCase):
        def runTest(self):
            pass
    t = Case()
    half = np.float16([1, 2])
    calls = [
        (t.assertAllClose, {"a": [1.0, 2.0]}, {"a": [1.0, 2.0 + 1e-9]}), (t.assertAllClose, {"a": [1.0]}, {"b": [1.0]}),
        (t.assertAllClose, [1.0, 2.0], [1.0, 2.1]), (t.assertAllClose, [[1.0]], [1.0]), (t.assertNotAllClose, [1.0], [1.0]),
        (t.assertAllCloseAccordingToType, half, half * np.float16(1.0005)), (t.assertAllEqual, [1, 2], [1, 2]),
        (t.assertAllEqual, [1, 2], [[1, 2]]), (t.assertNotAllEqual, [1], [1]), (t.assertAllGreater, [1, 2], 1),
        (t.assertAllGreaterEqual, [1, 2], 1), (t.assertAllLess, [1, 2], 2), (t.assertAllLessEqual, [1, 2], 2),
        (t.assertAllInRange, [1, 2], 1, 2), (t.assertAllInRange, [1, 2], 1, 2, True), (t.assertAllInSet, [1, 2], {1, 3}),
        (t.assertArrayNear, [1.0], [1.1], 0.2), (t.assertArrayNear, [1.0], [1.1], 0.01), (t.assertNear, 1.0, 1.5, 0.1),
        (t.assertNDArrayNear, half, half, 0.1), (t.assertDTypeEqual, half, np.float16), (t.assertDTypeEqual, half, np.float32),
        (t.assertShapeEqual, half, tf.zeros([2])), (t.assertShapeEqual, half, tf.zeros([3])), (t.assertStartsWith, "abc", "ab"),
        (t.assertStartsWith, "abc", "b"), (t.assertLen, [1], 2), (t.assertEmpty, []), (t.assertNotEmpty, []),
        (t.assertItemsEqual, [1, 2], [2, 1]), (t.assertSameElements, [1, 1], [1]), (t.assertBetween, 1, 0, 2),
        (t.assertDeviceEqual, "/job:a/cpu:0", "/job:a/device:CPU:0"),
        (t.assertProtoEquals, "node { name: 'x' op: 'y' }", tf.GraphDef(node=[tf.NodeDef(name="x", op="y")])),
        (t.assertProtoEquals, "node { name: 'z' op: 'y' }", tf.GraphDef(node=[tf.NodeDef(name="x", op="y")]))]
    said = [outcome(*call) for call in calls]
    with t.assertRaisesOpError("nothing"), tf.Session() as sess:
        sess.run(tf.check_numerics(tf.constant(np.nan), "nothing"))
    with t.assertRaisesWithPredicateMatch(ValueError, lambda e: "3" in str(e)):
        raise ValueError("3")
    thread = t.checkedThread(target=said.append, args=(("thread", "runs"),))
    thread.start()
    thread.join()
    return said


@case(nodes=False)
def graphs_are_compared(tf):
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    one = tf.get_default_graph().as_graph_def()
    tf.test.assert_equal_graph_def(one, one)
    tf.add(a, b)
    try:
        tf.test.assert_equal_graph_def(one, tf.get_default_graph().as_graph_def())
    except AssertionError:
        return "differs"


@case(nodes=False)
def a_queue_is_filled_by_the_module_of_queue_runners(tf):
    queue = tf.FIFOQueue(3, tf.int32)
    tf.train.queue_runner.add_queue_runner(tf.train.queue_runner.QueueRunner(queue, [queue.enqueue(7)]))
    out = queue.dequeue()
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.queue_runner.start_queue_runners(sess, coord)
        value = int(sess.run(out))
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=5)
    return value


@case(nodes=False)
def functions_that_are_not_converted(tf):
    @tf.autograph.experimental.do_not_convert
    def double(x):
        return x * 2
    tf.autograph.set_verbosity(0)
    return int(double(3)), int(tf.autograph.experimental.do_not_convert(double)(2))


@case(nodes=False)
def a_loop_of_a_supervisor(tf):
    step = tf.train.get_or_create_global_step()
    more = tf.assign_add(step, 1)
    sv = tf.train.Supervisor(logdir="s", global_step=step, save_model_secs=0, save_summaries_secs=0)
    seen = []

    def train(sess, limit):
        seen.append(int(sess.run(more)))
        if seen[-1] >= limit:
            sv.request_stop()
    tf.train.basic_train_loop(sv, train, args=(3,))
    return seen


@case(nodes=False)
def checkpoints_one_after_the_other(tf):
    v = tf.Variable(1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        tf.train.Saver([v]).save(sess, "c/model", global_step=3)
    return list(tf.train.checkpoints_iterator("c", timeout=0)), list(
        tf.train.checkpoints_iterator("none", timeout=0, timeout_fn=lambda: True))


def line_model(tf):
    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [1], initializer=tf.zeros_initializer())
        y = features["x"] * w
        if mode == tf.estimator.ModeKeys.PREDICT:
            outputs = {"serving_default": tf.estimator.export.PredictOutput({"y": y})}
            return tf.estimator.EstimatorSpec(mode, {"y": y}, export_outputs=outputs)
        loss = tf.reduce_mean(tf.square(y - labels))
        train = tf.train.GradientDescentOptimizer(0.02).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, {"y": y}, loss, train)
    return model_fn


def line_input(tf):
    x = np.float32([[1], [2], [3], [4]])
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": x}, 2 * x)).repeat(2).batch(4)


@case(nodes=False)
def metrics_are_added_to_an_estimator(tf):
    model = tf.estimator.Estimator(line_model(tf), "m")
    model.train(line_input(tf), steps=2)
    more = tf.estimator.add_metrics(model, lambda labels, predictions: {"far": tf.metrics.mean_absolute_error(labels, predictions["y"])})
    wrong = None
    try:
        tf.estimator.add_metrics(model, lambda nothing: {})
    except ValueError as e:
        wrong = str(e).partition("has following")[2]
    return sorted((k, float(v)) for k, v in more.evaluate(line_input(tf)).items()), wrong


@case(nodes=False)
def a_training_stops_early(tf):
    often = dict(run_every_secs=None, run_every_steps=1)
    found = []
    for name, make in (
            ("higher", lambda m: tf.estimator.experimental.stop_if_higher_hook(m, "loss", 1e-9, **often)),
            ("lower", lambda m: tf.estimator.experimental.stop_if_lower_hook(m, "loss", 1e-9, min_steps=1, **often)),
            ("increase", lambda m: tf.estimator.experimental.stop_if_no_increase_hook(m, "loss", 1, **often)),
            ("decrease", lambda m: tf.estimator.experimental.stop_if_no_decrease_hook(m, "loss", 100, **often))):
        model = tf.estimator.Estimator(line_model(tf), name)
        for _ in range(2):
            model.train(line_input(tf), steps=1, hooks=[make(model)])
            model.evaluate(line_input(tf))
        model.train(line_input(tf), steps=2, hooks=[make(model)])
        found.append((name, int(model.get_variable_value("global_step"))))
    for wrong in (lambda m: tf.estimator.experimental.make_early_stopping_hook(m, 3),
                  lambda m: tf.estimator.experimental.make_early_stopping_hook(m, lambda: True, run_every_secs=1, run_every_steps=1)):
        try:
            wrong(model)
        except (TypeError, ValueError) as e:
            found.append(type(e).__name__)
    return found


@case(nodes=False)
def an_evaluator_in_memory(tf):
    model = tf.estimator.Estimator(line_model(tf), "m")
    hook = tf.estimator.experimental.InMemoryEvaluatorHook(model, line_input(tf), every_n_iter=1, name="memory")
    model.train(line_input(tf), hooks=[hook], steps=2)
    return int(model.get_variable_value("global_step"))


@case(alone=True)
def predictors(tf):
    model = tf.estimator.Estimator(line_model(tf), "m")
    model.train(line_input(tf), steps=2)
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 1], name="x")})
    x = np.float32([[3], [5]])
    want = x * model.get_variable_value("w")
    of_model = tf.contrib.predictor.from_estimator(model, serving)
    np.testing.assert_allclose(of_model({"x": x})["y"], want, rtol=1e-6)
    folder = model.export_savedmodel("e", serving)
    of_files = tf.contrib.predictor.from_saved_model(folder)
    np.testing.assert_allclose(of_files({"x": x})["y"], want, rtol=1e-6)
    by_name = tf.contrib.predictor.from_saved_model(folder, input_names={"a": of_files.feed_tensors["x"].name},
                                                    output_names={"b": of_files.fetch_tensors["y"].name})
    np.testing.assert_allclose(by_name({"a": x})["b"], want, rtol=1e-6)
    for make, said in ((lambda: of_files({"z": x}), "unexpected keys"),
                       (lambda: tf.contrib.predictor.from_saved_model(folder, "none"), "none"),
                       (lambda: tf.contrib.predictor.from_saved_model(folder, input_names={}), "both be specified")):
        try:
            make()
        except ValueError as e:
            assert said in str(e), e
        else:
            raise AssertionError(said)


@case(alone=True)
def features_are_forwarded_and_gradients_clipped(tf):
    model = tf.estimator.Estimator(line_model(tf), "m")
    model.train(line_input(tf), steps=1)
    more = tf.contrib.estimator.forward_features(model, "x")
    first = next(more.predict(line_input(tf)))
    assert sorted(first) == ["x", "y"] and first["x"].tolist() == [1.0]
    assert sorted(tf.contrib.estimator.read_eval_metrics(model.eval_dir())) == []
    v = tf.Variable([3.0, 4.0])
    step = tf.contrib.estimator.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(1.0), 0.5).minimize(tf.reduce_sum(tf.square(v)))
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(step)
        np.testing.assert_allclose(sess.run(v), [2.7, 3.6], rtol=1e-5)


@case(alone=True)
def estimators_of_contrib(tf):
    x, y = np.float32([[1, 2], [2, 1], [1.5, 2.5], [3, 0.5]]), np.array([0, 1, 0, 1])
    columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
    model = tf.contrib.learn.DNNClassifier(hidden_units=[4], feature_columns=columns, n_classes=2, model_dir="d",
                                           optimizer=tf.train.GradientDescentOptimizer(0.1),
                                           config=tf.contrib.learn.RunConfig(tf_random_seed=3))
    monitor = tf.contrib.learn.monitors.ValidationMonitor(x, y, every_n_steps=5)
    model.fit(x=x, y=y, steps=60, monitors=[monitor])
    found = model.evaluate(x=x, y=y, steps=1, metrics={"right": tf.contrib.learn.MetricSpec(
        tf.contrib.metrics.streaming_accuracy, prediction_key=tf.contrib.learn.PredictionKey.CLASSES)})
    weights = [model.get_variable_value("dnn/%s" % n) for n in (
        "hiddenlayer_0/weights", "hiddenlayer_0/biases", "logits/weights", "logits/biases")]
    hidden = np.maximum(x @ weights[0] + weights[1], 0)
    logits = hidden @ weights[2] + weights[3]
    assert list(model.predict(x)) == (logits[:, 0] > 0).astype(int).tolist()
    np.testing.assert_allclose(np.array(list(model.predict_proba(x)))[:, 1], 1 / (1 + np.exp(-logits[:, 0])), rtol=1e-4)
    loss = np.mean(np.log1p(np.exp(-logits[:, 0] * (2 * y - 1))))
    np.testing.assert_allclose([found["loss"], found["right"]], [loss, np.mean((logits[:, 0] > 0) == y)], rtol=1e-4)
    line = tf.contrib.learn.LinearRegressor(columns, model_dir="l", optimizer=tf.train.FtrlOptimizer(0.5))
    tf.contrib.learn.SKCompat(line).fit(x, x[:, 0].astype(np.float32), steps=100)
    assert "linear/bias_weight" in line.get_variable_names() and abs(next(line.predict(x)) - 1) < 0.3
    words = tf.contrib.learn.preprocessing.VocabularyProcessor(3, min_frequency=0)
    assert [r.tolist() for r in words.fit_transform(["a cat", "a dog saw it"])] == [[1, 2, 0], [1, 3, 4]] and len(words.vocabulary_) == 6


@case(nodes=False)
def parameters_and_float_operations(tf):
    x = tf.placeholder(tf.float32, [4, 8, 8, 3], name="x")
    y = tf.layers.conv2d(x, 5, 3, name="c")
    z = tf.layers.dense(tf.reshape(y, [4, 180]), 7, name="d")
    tf.nn.softmax(tf.nn.relu(tf.nn.l2_normalize(z, 1)))

    def tree(node, names=True):
        return (node.name if names else node.total_float_ops, node.total_parameters, node.parameters, node.total_float_ops, node.float_ops,
                [tree(c, names) for c in node.children])
    builder = tf.profiler.ProfileOptionBuilder
    graph = tf.get_default_graph()
    counted = dict(builder.trainable_variables_parameter(), output="none")
    worked = builder(builder.float_operation()).with_empty_output().build()
    few = builder(worked).with_min_float_operations(100).order_by("name").build()
    return [tree(tf.profiler.profile(graph, options=counted)), tree(tf.profiler.profile(graph, options=worked)),
            tree(tf.profiler.profile(graph, options=few, cmd="scope")), tree(tf.profiler.profile(graph, options=worked, cmd="op"), False),
            sorted(builder.time_and_memory(min_micros=3).items(), key=str), tree(tf.profiler.Profiler(graph).profile_name_scope(counted))]


@case(alone=True)
def eager_names(tf):
    assert not tf.contrib.eager.in_eager_mode() and tf.contrib.eager.num_gpus() >= 0
    with tf.Session() as sess:
        assert sess.run(tf.contrib.eager.defun(abs)(-3)) == 3
    assert any("CPU" in name for name in tf.contrib.eager.list_devices())
    try:
        tf.contrib.eager.enable_eager_execution()
    except NotImplementedError as e:
        assert "calls_tooling.py, line" in str(e) and "tf.Session" in str(e), e
    else:
        raise AssertionError("it was accepted")


@case(alone=True)
def generators_and_discriminators(tf):
    """Both are lines: the figures of two steps are those of numpy."""
    real, noise = np.float32([[3], [5]]), np.float32([[1], [2]])

    def line(name, start):
        def build(x, *rest):
            return x * tf.get_variable(name, [1], initializer=tf.constant_initializer(start))
        return build
    model = tf.contrib.gan.gan_model(line("g", 0.5), line("d", 2.0), real_data=real, generator_inputs=noise)
    assert [v.op.name for v in model.generator_variables + model.discriminator_variables] == ["Generator/g", "Discriminator/d"]
    loss = tf.contrib.gan.gan_loss(model)
    ops = tf.contrib.gan.gan_train_ops(model, loss, tf.train.GradientDescentOptimizer(0.1), tf.train.GradientDescentOptimizer(0.1))
    penalty = tf.contrib.gan.losses.wasserstein_gradient_penalty(model)
    half = tf.contrib.gan.gan_loss(model, tf.contrib.gan.losses.least_squares_generator_loss,
                                   tf.contrib.gan.losses.least_squares_discriminator_loss, gradient_penalty_weight=2.0)
    entropy = [tf.contrib.gan.losses.modified_generator_loss(model), tf.contrib.gan.losses.modified_discriminator_loss(model),
               tf.contrib.gan.losses.minimax_generator_loss(model)]
    g, d = 0.5, 2.0
    a, b = d * real, d * g * noise

    def plus(x):
        return np.log1p(np.exp(x))
    fooled, smooth = np.mean(plus(-b)), np.mean(plus(a) - a * (1 - 0.25 + 0.125))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(sess.run(loss), [-np.mean(b), np.mean(b) - np.mean(a)], rtol=1e-5)
        np.testing.assert_allclose(sess.run(penalty), (d - 1) ** 2, rtol=1e-5)
        np.testing.assert_allclose(sess.run(half), [np.mean((b - 1) ** 2) / 2, np.mean((a - 1) ** 2) / 2 + np.mean(b ** 2) / 2
                                                    + 2 * (d - 1) ** 2], rtol=1e-5)
        np.testing.assert_allclose(sess.run(entropy), [fooled, np.mean(plus(b)) + smooth, -np.mean(plus(b)) - plus(-1.0)], rtol=1e-5)
    steps = tf.contrib.gan.GANTrainSteps(1, 2)
    last = tf.contrib.gan.gan_train(ops, None, get_hooks_fn=tf.contrib.gan.get_sequential_train_hooks(steps), save_checkpoint_secs=None,
                                    save_summaries_steps=None, hooks=[tf.train.StopAtStepHook(last_step=1), _Values(tf, model)])
    g += 0.1 * np.mean(d * noise)
    for _ in range(2):
        d -= 0.1 * (np.mean(g * noise) - np.mean(real))
    assert last == 1
    np.testing.assert_allclose(_Values.found, [[g], [d]], rtol=1e-5)


class _Values:
    """A hook that keeps the values of a model's variables when the session ends."""

    found = None

    def __new__(cls, tf, model):
        class Hook(tf.train.SessionRunHook):
            def end(self, session):
                cls.found = session.run(model.generator_variables + model.discriminator_variables)
        return Hook()
