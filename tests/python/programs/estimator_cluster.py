"""A job of tf.estimator.train_and_evaluate: each task learns from TF_CONFIG what it is."""
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.INFO)


def data(seed):
    x = np.random.RandomState(seed).rand(256, 4).astype(np.float32)
    return {"x": x}, x.dot(np.array([[1.], [2.], [-1.], [0.5]], np.float32))


def model_fn(features, labels, mode, params):
    made = tf.layers.dense(features["x"], 1, name="line")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": made})
    loss = tf.losses.mean_squared_error(labels, made)
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = tf.train.AdagradOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, {"y": made}, loss, train_op,
                                      eval_metric_ops={"error": tf.metrics.mean_absolute_error(labels, made)})


def main(_):
    steps = int(sys.argv[2])
    config = tf.estimator.RunConfig(model_dir=sys.argv[1], save_checkpoints_steps=steps // 2, log_step_count_steps=50,
                                    tf_random_seed=7)
    estimator = tf.estimator.Estimator(model_fn, params={"rate": 0.5}, config=config)
    inputs = tf.estimator.inputs.numpy_input_fn
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 4], name="x")})
    made = tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(inputs(*data(1), batch_size=32, num_epochs=None, shuffle=True), max_steps=steps),
        tf.estimator.EvalSpec(inputs(*data(2), batch_size=64, num_epochs=1, shuffle=False), steps=None, start_delay_secs=0,
                              throttle_secs=0, exporters=tf.estimator.LatestExporter("served", serving)))
    print("result", made)


if __name__ == "__main__":
    tf.app.run()
