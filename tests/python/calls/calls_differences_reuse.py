"""Differences found by programs of 2016 to 2019: what is shared, what is refused, and what a refusal says."""
import collections
import contextlib
import logging
import os
import re
import sys

import numpy as np

from calls_differences_texts import text
from machine import case


def saved(folder):
    return sorted(f for f in os.listdir(folder) if f.endswith(".index"))


@case(nodes=False)
def two_saver_hooks_share_one_list(tf):
    os.makedirs("a")
    os.makedirs("b")
    step = tf.train.get_or_create_global_step()
    more = tf.assign_add(step, 1)
    tf.Variable(1.0)
    hooks = [tf.train.CheckpointSaverHook("a", save_steps=2), tf.train.CheckpointSaverHook("b", save_steps=3)]
    with tf.train.SingularMonitoredSession(hooks=hooks) as session:
        for _ in range(9):
            session.run(more)
    return saved("a"), saved("b"), [list(tf.train.get_checkpoint_state(d).all_model_checkpoint_paths) for d in "ab"]


@case(nodes=False)
def each_call_of_a_seeded_layer_draws_from_the_next_seed(tf):
    layers, x = tf.keras.layers, tf.ones([2, 3, 4])
    for layer in (layers.Dropout(0.5, seed=7), layers.SpatialDropout1D(0.5, seed=7), layers.GaussianNoise(0.5, seed=7),
                  layers.GaussianDropout(0.5, seed=7), layers.AlphaDropout(0.5, seed=7), tf.layers.Dropout(0.5, seed=7),
                  layers.Dropout(0.5)):
        for _ in range(3):
            layer(x, training=True)
    tf.layers.dropout(x, 0.5, seed=7, training=True)
    tf.layers.dropout(x, 0.5, seed=7, training=True)
    made = [o for o in tf.get_default_graph().get_operations() if o.type.startswith("Random")]
    return [(o.get_attr("seed"), o.get_attr("seed2")) for o in made], layers.Dropout(0.5, seed=7).get_config()["seed"]


@case(nodes=False)
def variables_with_and_without_a_partitioner(tf):
    cut, whole = dict(shape=[6, 4], partitioner=tf.fixed_size_partitioner(2)), dict(shape=[6, 4])

    def two(first, second, reuse, name="w"):
        with tf.Graph().as_default():
            with tf.variable_scope("m"):
                a = tf.get_variable("w", **first)
            with tf.variable_scope("m", reuse=reuse):
                b = tf.get_variable(name, **second)
            return a is b, b.name, b.shape.as_list(), [v.name for v in tf.global_variables()]
    pairs = [(cut, cut), (cut, whole), (whole, cut), (cut, {}), (cut, dict(shape=[6, 4], partitioner=tf.fixed_size_partitioner(3))),
             (cut, dict(shape=[6, 5])), (cut, dict(cut, dtype=tf.int32))]
    return ([text(lambda: two(a, b, reuse)) for a, b in pairs for reuse in (True, tf.AUTO_REUSE)],
            [text(lambda: two(a, b, None)) for a, b in pairs[:3]], text(lambda: two(cut, cut, True, "other")))


@case(nodes=False)
def partitioners_that_are_refused(tf):
    answers = ([2, 2], [2], 2, [0, 1])
    makers = [lambda shape, dtype, answer=answer: answer for answer in answers] + [3]
    return [text(lambda: tf.get_variable("a", [4, 4], partitioner=maker)) for maker in makers]


@case(nodes=False)
def a_layer_that_reuses_partitioned_variables(tf):
    x = tf.constant([[1.0, 2.0, 3.0, 4.0]])
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer()):
        first = tf.layers.dense(x, 3, name="d")
    with tf.variable_scope("s", reuse=True):
        second = tf.layers.dense(x, 3, name="d")
    return first, second, [v.name for v in tf.global_variables()]


@case(nodes=False)
def a_pattern_that_matches_no_file(tf):
    open("a.x", "w").close()

    def first(make):
        with tf.Graph().as_default(), tf.Session() as session:
            iterator = make(tf.data.Dataset).make_initializable_iterator()
            session.run(iterator.initializer)
            return session.run(iterator.get_next())
    return [text(lambda: first(make)) for make in (
        lambda d: d.list_files("./*.none"), lambda d: d.list_files(["./*.none", "./b.x"], shuffle=False), lambda d: d.list_files("./*.x"),
        lambda d: d.list_files([]), lambda d: d.from_tensors("./*.q").flat_map(d.list_files))]


@case(nodes=False)
def batches_that_cannot_be_padded(tf):
    rows = tf.data.Dataset.from_tensors(np.ones((2, 3), np.float32))
    shapes = ([2], [1, 3], [2, 2], [4, 4], [None, 4], [], tf.constant([4], tf.int64), tf.constant([1, 4], tf.int64))
    values = (1, np.float64(1), [1.0, 2.0], np.float32(1), 1.0)
    return ([text(lambda: rows.padded_batch(2, shape).output_shapes.as_list()) for shape in shapes],
            [text(lambda: rows.padded_batch(2, [4, 4], value).output_shapes.as_list()) for value in values])


@case(nodes=False)
def an_initializer_for_elements_of_another_structure(tf):
    data = tf.data.Dataset

    def fits(first, second):
        data_set = data.from_tensors(first)
        iterator = tf.data.Iterator.from_structure(data_set.output_types, data_set.output_shapes)
        return iterator.make_initializer(data.from_tensors(second)).type
    pairs = [((1, 2), 1), (1, 1.0), ({"a": 1}, {"b": 1}), ((1, 2), (1, 2, 3)), ([1, 2], [1, 2, 3]), ((1, 2), (1, (2,))), (1, 2)]
    return [text(lambda: fits(*pair)) for pair in pairs]


@case(nodes=False)
def numbers_among_strings(tf):
    given = [[1, "a"], ["a", 1], [1.5, "a"], [b"a", "b"], [True, "a"], [[1, 2], ["a", "b"]], ("a", 1), np.array([1, "a"]), [["a"], [1]],
             [np.int64(1), "a"], [np.str_("a"), "b"], ["a\0", "b"], "a"]
    made = [text(lambda: tf.constant(value)) for value in given]
    with tf.Session() as session:
        return [m[0] if isinstance(m, tuple) else np.array(session.run(m)).tolist() for m in made]


@case(nodes=False)
def feeds_are_refused_before_fetches(tf):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        y = x + 1
    with tf.Graph().as_default(), tf.Session() as session:
        tf.constant(1)
        return text(lambda: session.run(y, {x: [1, 2]})), text(lambda: session.run(y))[0]


@case(nodes=False)
def axes_of_sparse_concat(tf):
    one = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [3, 4])
    said = [text(lambda: tf.sparse_concat(axis, [one, one]).get_shape().as_list()) for axis in (2, -3, 5, -1, 0, 1.5, None, tf.constant(0))]
    said += [text(lambda: tf.sparse_concat(axis, [one, one], expand_nonconcat_dim=True).get_shape().as_list()) for axis in (2, -3, 1)]
    return [(s[0], s[1].split(":")[0]) if isinstance(s, tuple) else s for s in said]


@case(nodes=False)
def graphs_imported_into_a_scope_that_exists(tf):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.add(x, 1.0, name="y")
    found = graph.as_graph_def()
    feed = tf.constant(3.0)
    names = ("", "", "a/b/", "a/b/", "a/b", "a/b", None, "a/b/x")
    made = [tf.import_graph_def(found, {"x": feed}, ["y:0"], name=name)[0] for name in names]
    with tf.Session() as session:
        return [m.name for m in made], session.run(made)


@case(nodes=False)
def graphs_that_cannot_be_imported(tf):
    def one(**fields):
        found = tf.GraphDef()
        found.node.add(**fields)
        return found
    wrong = [one(name="", op="NoOp"), one(name="a", op="Identity", input=["zz"])]
    return [text(lambda: tf.import_graph_def(g, name="")) for g in wrong]


@case(nodes=False)
def what_constant_checks_say(tf):
    def whole(call):
        try:
            return type(call()).__name__
        except Exception as e:  # noqa: BLE001 - compared
            return type(e).__name__, getattr(e, "message", "") or str(e)
    one = tf.constant(1)
    return [whole(call) for call in (
        lambda: tf.assert_equal(one, 2), lambda: tf.assert_equal(one, 2, message="M"), lambda: tf.assert_less([1, 2], [1, 1]),
        lambda: tf.assert_positive([-1.0]), lambda: tf.assert_non_negative([-1], message="M"), lambda: tf.assert_none_equal([1], [1]),
        lambda: tf.assert_rank(one, 2), lambda: tf.assert_rank(one, 2, message="M"), lambda: tf.assert_rank_at_least([1], 2),
        lambda: tf.assert_type(one, tf.float32), lambda: tf.assert_type(one, tf.float32, message="M"))]


@case(nodes=False)
def tensors_of_another_graph_and_constants_are_not_assigned(tf):
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    said = text(lambda: other + tf.constant(2.0))
    return said[0], re.sub(r" \(graphs are .*\)", "", said[1]), text(lambda: tf.assign(tf.constant([1.0]), [2.0]))[0]


@case(nodes=False)
def scopes_of_a_checkpoint_that_do_not_fit(tf):
    with tf.variable_scope("s"):
        tf.get_variable("v", [2])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, "./m")
    return [text(lambda: tf.train.init_from_checkpoint("./m", {theirs: ours})) for theirs, ours in (
        ("nope", "s/"), ("nope/", "s/"), ("s/v", "s/w"))]


@case(nodes=False, tolerance=1e-4)
def generators_with_weights_and_validation_without(tf):
    x, y = np.float32([[0, 1], [1, 0], [1, 1], [0, 0]]), np.float32([[1, 0], [0, 1], [1, 0], [0, 1]])

    def fit(weights, **more):
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, "softmax", input_shape=(2,), kernel_initializer="ones")])
        model.compile("sgd", "categorical_crossentropy", metrics=["acc"])

        def batches():
            while True:
                yield (x, y, weights) if weights is not None else (x, y)
        return model.fit_generator(batches(), 2, 2, validation_data=(x, y), verbose=0, workers=0, **more).history
    return fit(None, class_weight={0: 1.0, 1: 3.0}), fit(np.float32([1, 2, 0, 1])), fit(None)


@case(nodes=False)
def the_signal_of_an_early_stop_is_saved(tf):
    def model(features, labels, mode):
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.square(w * features - 3.0))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)
    steps, estimator = [], tf.estimator.Estimator(model, "m")
    hook = tf.estimator.experimental.make_early_stopping_hook(estimator, lambda: len(steps) > 3 or steps.append(0), run_every_secs=None,
                                                              run_every_steps=2)
    estimator.train(lambda: tf.data.Dataset.from_tensors((2.0, 0.0)).repeat(), hooks=[hook], steps=50)
    return [(n, estimator.get_variable_value(n)) for n in estimator.get_variable_names()], tf.train.latest_checkpoint("m")


METRICS = ("mean_squared_error", "root_mean_squared_error", "accuracy", "precision", "auc", "false_positives")


def streamed(tf, make):
    """The name and the value of a metric after one batch, or what was refused."""
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            value, update = make()
            session.run(tf.local_variables_initializer())
            session.run(update)
            return value.name, np.round(session.run(value), 5)
        except Exception as e:  # noqa: BLE001 - compared
            return type(e).__name__


@case(nodes=False)
def weights_of_metrics_align_with_the_first_axes(tf):
    p, y = np.float32([[0, 1, 1], [0, 0, 1]]), np.float32([[0, 1, 0], [0, 0, 1]])
    given = [2.0, [2.0], [1.0, 2.0], [1.0, 2.0, 3.0], [[1.0], [2.0]], [[1.0, 2.0, 3.0]], p.T + 1, (p + 1)[:, :, None]]
    return [streamed(tf, lambda: getattr(tf.metrics, name)(y, p, np.float32(w))) for name in METRICS for w in given] + [
        streamed(tf, lambda: tf.metrics.mean(p, np.float32(w))) for w in given] + [
        streamed(tf, lambda: tf.metrics.auc(y, p, np.float32(w), curve="PR", summation_method="minoring")) for w in given[2:5]]


@case(nodes=False)
def weights_of_metrics_that_only_a_step_knows(tf):
    def late(value):
        return tf.placeholder_with_default(np.float32(value), None)
    p, y = np.float32([[0, 1, 1], [0, 0, 1]]), np.float32([[0, 1, 0], [0, 0, 1]])
    return [streamed(tf, lambda: tf.metrics.mean_squared_error(late(y), late(p), late(w))) for w in (
        2.0, [1.0, 2.0], [1.0, 2.0, 3.0], [[1.0], [2.0]], (p + 1)[:, :, None])]


@case(nodes=False)
def one_column_of_labels_or_predictions(tf):
    p, y, w = np.float32([0, 1, 1, 0]), np.float32([0, 1, 0, 0]), np.float32([1, 2, 0, 1])
    shapes = [(y[:, None], p), (y, p[:, None]), (y[:, None], p[:, None])]
    found = [streamed(tf, lambda: getattr(tf.metrics, name)(a, b, w)) for name in METRICS for a, b in shapes]
    return found + [streamed(tf, lambda: tf.metrics.recall_at_thresholds(a, b, [0.5], w)) for a, b in shapes] + [
        streamed(tf, lambda: tf.metrics.mean_absolute_error(tf.placeholder_with_default(a, None), tf.placeholder_with_default(b, None)))
        for a, b in shapes[:2]]


@case(nodes=False)
def predictions_that_are_no_probabilities(tf):
    y, late = [True, False], tf.placeholder_with_default
    return [streamed(tf, lambda: make(p)) for make in (
        lambda p: tf.metrics.auc(y, p), lambda p: tf.metrics.auc(y, p, curve="PR", summation_method="majoring"),
        lambda p: tf.metrics.precision_at_thresholds(y, p, [0.5]),
        lambda p: tf.metrics.false_negatives_at_thresholds(y, late(p, [2]), [0.5]),
        lambda p: tf.metrics.sensitivity_at_specificity(y, late(p, [2]), 0.5)) for p in (
            np.float32([0.5, 1.5]), np.float32([-0.5, 0.5]), np.float32([np.nan, 0.5]), np.float32([0, 1]))]


@case(nodes=False)
def names_of_metrics(tf):
    y, p = tf.constant([[1], [2]], tf.int64), tf.constant([[0.1, 0.5, 0.4], [0.2, 0.3, 0.5]])
    label, chance = y > 1, tf.cast(y, tf.float32) / 3
    with tf.variable_scope("m"):
        made = [tf.metrics.recall_at_k(y, p, 2), tf.metrics.precision_at_k(y, p, 2, name="own"),
                tf.metrics.recall_at_k(y, p, 2, class_id=1), tf.metrics.root_mean_squared_error(p, p),
                tf.metrics.root_mean_squared_error(p, p, name="own"),
                tf.metrics.auc(label, chance, curve="PR", summation_method="careful_interpolation"),
                tf.metrics.auc(label, chance, curve="PR", summation_method="minoring"), tf.metrics.auc(label, chance)]
    return [(value.name, update.name) for value, update in made]


OF_THE_LIBRARY = ("Graph was finalized", "Running local_init_op", "Done running local_init_op", "Restoring parameters", "Using config",
                  "Assets added", "No assets", "SavedModel written")


class Lines(logging.Handler):
    """Keeps lines, but those that Weft's library writes itself and those with values of the machine."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.lines = kind, []

    def emit(self, record):
        line = re.sub(r"\([\d.]+ sec\)|\d{6,}|\d{4}-.*|[\d.]+s$", "#", record.getMessage())
        if record.levelno == self.kind and not line.startswith(OF_THE_LIBRARY):
            self.lines.append(line)


@contextlib.contextmanager
def logged(tf, kind=logging.INFO):
    """The lines of a kind that the body logs."""
    level, handler = tf.logging.get_verbosity(), Lines(kind)
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.get_logger().addHandler(handler)
    try:
        yield handler.lines
    finally:
        tf.get_logger().removeHandler(handler)
        tf.logging.set_verbosity(level)


@case(nodes=False)
def what_logging_hooks_log(tf):
    step = tf.train.get_or_create_global_step()
    more, x = tf.assign_add(step, 1), tf.constant(2.5, name="x")
    tags = []
    hooks = [tf.train.LoggingTensorHook([x], every_n_iter=2), tf.train.LoggingTensorHook(["x:0"], every_n_iter=2),
             tf.train.LoggingTensorHook({"z": x, "a": step}, every_n_iter=2, at_end=True),
             tf.train.LoggingTensorHook(collections.OrderedDict([("z", x), ("a", x)]), every_n_iter=2),
             tf.train.LoggingTensorHook([x], every_n_iter=2, formatter=lambda d: tags.append(list(map(str, d))) or "formatted")]
    with logged(tf) as lines, tf.train.SingularMonitoredSession(hooks=hooks) as session:
        for _ in range(3):
            session.run(more)
    return lines, tags


def model_of_two_outputs(features, labels, mode, tf):
    w = tf.get_variable("w", [], initializer=tf.ones_initializer())
    out = tf.reshape(w * features["x"], [-1, 1])
    loss = tf.reduce_mean(tf.square(out - 3.0))
    outputs = {"serving_default": tf.estimator.export.PredictOutput({"y": out}), "class": tf.estimator.export.ClassificationOutput(out),
               "number": tf.estimator.export.RegressionOutput(out)}
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, {"y": out}, loss, train, export_outputs=outputs)


@case(nodes=False)
def what_training_and_exporters_log(tf):
    def data():
        return tf.data.Dataset.from_tensors(({"x": [1.0, 2.0]}, [1.0, 2.0])).repeat(4)

    def serving():
        x = tf.placeholder(tf.float32, [None], name="x")
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})
    estimator = tf.estimator.Estimator(lambda features, labels, mode: model_of_two_outputs(features, labels, mode, tf), "m")
    best = tf.estimator.BestExporter("best", serving, exports_to_keep=1)
    with logged(tf) as lines:
        tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(data, 3),
                                        tf.estimator.EvalSpec(data, exporters=best, start_delay_secs=0, throttle_secs=0))
    return lines


@case(nodes=False)
def best_exporters_that_are_refused(tf):
    best = tf.estimator.BestExporter
    found = [text(lambda: best("b", len, compare_fn=None)), text(lambda: best("b", len, exports_to_keep=0)),
             text(lambda: best("b", len, compare_fn=lambda best_eval_result: True))]
    return [(kind, re.sub(r"\(<.*>\)", "", said)) for kind, said in found]


@case(nodes=False)
def initializers_without_a_shape(tf):
    made = [lambda: tf.get_variable("a", initializer=tf.zeros_initializer()),
            lambda: tf.get_variable("b", initializer=lambda: tf.ones([2])), lambda: tf.get_variable("c", initializer=1.5)]
    found = [text(m) for m in made]
    return [f[0] if isinstance(f, tuple) else (f.name, f.shape.as_list()) for f in found]


@contextlib.contextmanager
def first_lines():
    """What is logged only so many times in a process: the number and the text of each, however often it was logged before."""
    names = ("weft._core.platform.logging", "tensorflow.python.platform.tf_logging")  # of which Weft may have a stand-in
    told, place = [], next(sys.modules[n] for n in names if n in sys.modules)
    before, place.log_first_n = place.log_first_n, lambda level, said, n, *args: told.append((n, said % args))
    try:
        yield told
    finally:
        place.log_first_n = before


@case(nodes=False)
def a_step_that_nothing_increments(tf):
    with tf.variable_scope("a"):
        step = tf.train.get_or_create_global_step()
    x = tf.constant(1.0)
    nan = tf.train.NanTensorHook(x / 0 - x / 0, fail_on_nan_loss=False)
    with logged(tf, logging.WARNING) as lines, tf.train.SingularMonitoredSession(hooks=[nan]) as session:
        session.run(x)
    with first_lines() as told, tf.train.SingularMonitoredSession(hooks=[tf.train.StepCounterHook(1)]) as session:
        for _ in range(3):
            session.run(x)
    return lines, told, step.name


@case(nodes=False)
def noise_shapes_with_unknown_dimensions(tf):
    x = tf.ones([3, 4])
    return tf.nn.dropout(x, 0.5, [None, 1], seed=1), tf.nn.dropout(x, rate=0.5, noise_shape=tf.TensorShape([3, None]), seed=1)


@case(nodes=False)
def weights_of_losses_that_only_a_step_knows(tf):
    p, y = np.float32([[0, 1, 1], [0, 0, 1]]), np.float32([[0, 1, 0], [0, 0, 1]])

    def found(make, weights):
        with tf.Graph().as_default(), tf.Session() as session:
            try:
                return session.run(make(tf.placeholder_with_default(np.float32(weights), None)))
            except Exception as e:  # noqa: BLE001 - compared
                return type(e).__name__
    losses = (lambda w: tf.losses.mean_squared_error(y, p, w), lambda w: tf.losses.softmax_cross_entropy(y, p, w),
              lambda w: tf.losses.sparse_softmax_cross_entropy([1, 2], p, w), lambda w: tf.losses.cosine_distance(y, p, 1, w),
              lambda w: tf.losses.mean_pairwise_squared_error(y, p, w), lambda w: tf.losses.compute_weighted_loss(p, w))
    late = [found(make, w) for make in losses for w in (2.0, [1.0, 2.0], [1.0, 2.0, 3.0], [[1.0], [2.0]])]
    return late, [text(lambda: tf.losses.mean_pairwise_squared_error(y, p, np.float32(w)))[0] for w in ([1.0], [1.0, 2.0, 3.0])]


@case(nodes=False)
def a_meta_graph_with_inputs_that_it_does_not_have(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    tf.add(x, tf.Variable(1.0, name="v"), name="y")
    made = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        said = text(lambda: tf.train.import_meta_graph(made, input_map={"nope:0": tf.constant(1.0)}))
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(made, input_map={"x": tf.constant(2.0, name="two")})
        return said, [i.name for i in graph.get_operation_by_name("y").inputs]


@case(nodes=False)
def sample_weights_that_only_a_step_knows(tf):
    p, y = np.float32([[0.1, 0.7, 0.6], [0.2, 0.1, 0.9]]), np.float32([[0, 1, 0], [0, 0, 1]])
    metrics = tf.keras.metrics

    def found(make, weights):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.keras.backend.set_session(session)
            metric = make()
            update = metric.update_state(y, p, sample_weight=weights())
            tf.keras.backend.get_session()
            session.run(update)
            return session.run(metric.result())
    late = [lambda: tf.placeholder_with_default([1.0, 2.0], None), lambda: tf.placeholder_with_default([[1.0], [2.0]], None),
            lambda: tf.placeholder_with_default(3.0, None)]
    makers = (metrics.MeanSquaredError, metrics.CategoricalAccuracy, metrics.Precision, metrics.RootMeanSquaredError)
    return [found(make, weights) for make in makers for weights in late] + [
        found(make, lambda: np.float32(p + 1)[:, :, None]) for make in makers[:2]]
