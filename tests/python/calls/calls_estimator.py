"""Estimators, feature columns."""
import glob

import numpy as np

from machine import case

X = {"a": np.float32([[1], [2], [3], [4]]), "b": np.array([["x"], ["y"], ["x"], ["z"]])}
Y = np.array([0, 1, 1, 0])


def inputs(tf):
    return tf.estimator.inputs.numpy_input_fn(x=X, y=Y, batch_size=4, num_epochs=None, shuffle=False)


def once(tf):
    return tf.estimator.inputs.numpy_input_fn(X, Y, batch_size=2, num_epochs=1, shuffle=False)


def model(tf):
    def model_fn(features, labels, mode, params):
        w = tf.get_variable("w", [1, 1], initializer=tf.constant_initializer(0.5))
        logits = tf.squeeze(tf.matmul(tf.cast(features["a"], tf.float32), w), 1)
        predictions = {"p": tf.nn.sigmoid(logits)}
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=predictions,
                                              export_outputs={"p": tf.estimator.export.PredictOutput(predictions)})
        loss = tf.reduce_mean(tf.square(logits - tf.cast(labels, tf.float32)))
        train = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, global_step=tf.train.get_global_step())
        accuracy = tf.metrics.accuracy(labels=labels, predictions=tf.cast(logits > 0.5, labels.dtype))
        return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train,
                                          eval_metric_ops={"accuracy": accuracy}, training_hooks=[])
    return model_fn


@case(nodes=False, tolerance=1e-4)
def estimators(tf):
    config = tf.estimator.RunConfig(session_config=tf.ConfigProto(), log_step_count_steps=100, save_checkpoints_steps=2,
                                    keep_checkpoint_max=2, save_summary_steps=100)
    estimator = tf.estimator.Estimator(model_fn=model(tf), model_dir="m", params={"rate": 0.1}, config=config)
    train = tf.estimator.TrainSpec(input_fn=inputs(tf), max_steps=4, hooks=[])
    evaluate = tf.estimator.EvalSpec(input_fn=once(tf), steps=None, throttle_secs=0, start_delay_secs=0, exporters=None)
    tf.estimator.train_and_evaluate(estimator, train, evaluate)
    found = estimator.evaluate(once(tf))

    def receiver():
        a = tf.placeholder(tf.float32, [None, 1], name="a")
        return tf.estimator.export.ServingInputReceiver({"a": a}, {"a": a})
    estimator.export_savedmodel("exported", receiver)
    return [{k: v for k, v in found.items() if k != "global_step"}, int(found["global_step"]),
            [p["p"] for p in estimator.predict(once(tf))], len(glob.glob("exported/*/saved_model.pb")),
            tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.PREDICT, estimator.get_variable_value("w"),
            tf.estimator.RunConfig(save_checkpoints_secs=30).save_checkpoints_secs,
            tf.estimator.EvalSpec(once(tf)).steps, tf.estimator.TrainSpec(inputs(tf)).max_steps]


@case(nodes=False)
def ready_made(tf):
    number = tf.feature_column.numeric_column("a", shape=[1], normalizer_fn=lambda x: x / 4.0)
    kinds = tf.feature_column.categorical_column_with_hash_bucket("b", hash_bucket_size=5, dtype=tf.string)
    embedded = tf.feature_column.embedding_column(kinds, dimension=2, combiner="mean")
    config = tf.estimator.RunConfig(save_checkpoints_steps=100)
    made = [tf.estimator.DNNClassifier(config=config, feature_columns=[number, embedded], hidden_units=[4, 3], model_dir="d",
                                       dropout=0.1, n_classes=2, optimizer=tf.train.AdagradOptimizer(0.1)),
            tf.estimator.LinearClassifier(config=config, feature_columns=[number, kinds], model_dir="l"),
            tf.estimator.DNNLinearCombinedClassifier(config=config, linear_feature_columns=[kinds], dnn_hidden_units=[3],
                                                     dnn_feature_columns=[number], model_dir="c")]
    found = []
    for estimator in made:
        estimator.train(inputs(tf), steps=3)
        names = [n for n in estimator.get_variable_names() if "/Adagrad" not in n and "/Ftrl" not in n]
        found.append((sorted(names), sorted(estimator.evaluate(once(tf)))))
    return found
