"""tf.estimator's heads: predictions, losses, metrics and training steps; estimators that take a head; specs of examples."""
import numpy as np

from machine import case


def spec(tf, head, labels, logits, features=None):
    """What a head makes of logits in each mode."""
    found, features = [], features or {"x": [[1.], [2.]]}
    for mode in ("infer", "eval", "train"):
        with tf.Graph().as_default():
            tf.train.get_or_create_global_step()
            w = tf.get_variable("w", initializer=np.array(logits, "float32"))
            given = {k: tf.constant(v) for k, v in features.items()}
            truth = {k: tf.constant(v) for k, v in labels.items()} if isinstance(labels, dict) else tf.constant(labels)
            made = head.create_estimator_spec(
                given, mode, tf.identity(w), labels=None if mode == "infer" else truth,
                train_op_fn=(lambda loss: tf.train.GradientDescentOptimizer(.1).minimize(loss, tf.train.get_global_step()))
                if mode == "train" else None)
            found.append(ran(tf, made, w))
    return found, head.name, head.logits_dimension, head.loss_reduction


def ran(tf, made, w):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        if made.mode == "infer":
            predicted = sess.run(made.predictions)
            return {k if isinstance(k, str) else "/".join(k): v for k, v in predicted.items()}, sorted(made.export_outputs)
        if made.mode == "eval":
            sess.run([m[1] for m in made.eval_metric_ops.values()])
            return sess.run(made.loss), {k: sess.run(m[0]) for k, m in made.eval_metric_ops.items()}
        loss, _ = sess.run([made.loss, made.train_op])
        return loss, sess.run(w), sess.run(tf.train.get_global_step())


@case(nodes=False)
def heads_of_classes(tf):
    e, weights = tf.estimator, {"wt": [[1.], [3.]]}
    return [spec(tf, e.BinaryClassHead(), [[1], [0]], [[.5], [1.]]),
            spec(tf, e.BinaryClassHead(weight_column="wt", thresholds=[.4, .7], name="h", loss_reduction="sum"), [[1], [0]], [[.5], [1.]],
                 weights),
            spec(tf, e.BinaryClassHead(label_vocabulary=["a", "b"]), [["b"], ["a"]], [[.5], [1.]]),
            spec(tf, e.MultiClassHead(3, name="m"), [[1], [2]], [[.5, 1, 0], [1., 0, 3]])]


@case(nodes=False)
def heads_of_several_labels(tf):
    e, weights = tf.estimator, {"wt": [[1.], [3.]]}
    return [spec(tf, e.MultiLabelHead(2, thresholds=[.3]), [[1, 0], [1, 1]], [[.5, 1], [1., -1]]),
            spec(tf, e.MultiLabelHead(2, weight_column="wt", classes_for_class_based_metrics=[0]), [[1, 0], [1, 1]], [[.5, 1], [1., -1]],
                 weights),
            spec(tf, e.MultiHead([e.RegressionHead(name="a"), e.BinaryClassHead(name="b")], head_weights=[1., 2.]),
                 {"a": [[1.], [2.]], "b": [[1], [0]]}, [[.5, 1], [1., 2]])]


@case(nodes=False)
def heads_of_numbers(tf):
    e, weights = tf.estimator, {"wt": [[1.], [3.]]}
    return [spec(tf, e.RegressionHead(), [[1.], [2.]], [[.5], [1.]]),
            spec(tf, e.RegressionHead(2, weight_column="wt", inverse_link_fn=tf.exp, name="r"), [[1., 2], [2., 3]], [[.5, 1], [1., 2]],
                 weights),
            spec(tf, e.RegressionHead(loss_fn=lambda labels, logits: tf.abs(labels - logits)), [[1.], [2.]], [[.5], [1.]]),
            spec(tf, e.PoissonRegressionHead(), [[1.], [2.]], [[.5], [1.]]),
            spec(tf, e.PoissonRegressionHead(compute_full_loss=False), [[1.], [2.]], [[.5], [1.]]),
            spec(tf, e.LogisticRegressionHead(), [[1.], [0.]], [[.5], [1.]])]


@case(nodes=False)
def estimators_with_a_head(tf):
    e, x = tf.estimator, tf.feature_column.numeric_column("x")

    def given():
        return tf.data.Dataset.from_tensors(({"x": [[1.], [2.]]}, [[1.], [0.]])).repeat(3)
    found = []
    for made in (e.BaselineEstimator(e.RegressionHead()),
                 e.DNNLinearCombinedEstimator(e.RegressionHead(), linear_feature_columns=[x], dnn_feature_columns=[x],
                                              dnn_hidden_units=[2])):
        made.train(given)
        found.append(sorted(made.get_variable_names()))
        found.append(sorted(made.evaluate(given)))
        if isinstance(made, e.BaselineEstimator):
            found.append({k: float(v) for k, v in made.evaluate(given).items()})
    return found


@case(nodes=False)
def specs_of_examples(tf):
    e, x = tf.estimator, tf.feature_column.numeric_column("x")
    return [sorted((k, str(v)) for k, v in found.items()) for found in (
        e.classifier_parse_example_spec([x], "y", label_dtype=tf.string, weight_column="w"),
        e.classifier_parse_example_spec([x], label_key="y"),
        e.regressor_parse_example_spec([x], "y", label_dimension=2, label_default=1.))]


def refused(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except ValueError as e:
        return str(e).split("Given")[0]
    return None


@case(nodes=False)
def refused_heads(tf):
    e, x = tf.estimator, tf.feature_column.numeric_column("x")
    return [refused(e.BinaryClassHead, thresholds=[2.]), refused(e.MultiClassHead, 2), refused(e.MultiHead, []),
            refused(e.MultiHead, [e.RegressionHead()]), refused(e.RegressionHead, 0), refused(e.BinaryClassHead, loss_reduction="none"),
            refused(e.classifier_parse_example_spec, [x], "x") is None]


@case(alone=True, nodes=False)
def estimators_with_a_head_and_an_old_optimizer(tf):
    """TensorFlow 2.15 refuses optimizers of tf.train in heads; TensorFlow 1 took them."""
    e, x = tf.estimator, tf.feature_column.numeric_column("x")

    def given():
        return tf.data.Dataset.from_tensors(({"x": [[1.], [2.]]}, [[1.], [0.]])).repeat(20)
    seeded = e.RunConfig(tf_random_seed=3)
    linear = e.LinearEstimator(e.RegressionHead(), [x], optimizer=tf.train.GradientDescentOptimizer(0.1), config=seeded)
    dnn = e.DNNEstimator(e.BinaryClassHead(), [16], [x], optimizer=tf.train.AdamOptimizer(0.1), config=seeded)
    for made in (linear, dnn):
        first = made.train(given, steps=1).evaluate(given, steps=1)["loss"]
        assert made.train(given).evaluate(given, steps=1)["loss"] < first
