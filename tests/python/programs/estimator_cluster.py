"""A job of tf.estimator.train_and_evaluate: each task learns from TF_CONFIG what it is."""
import argparse
import time

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.INFO)


def data(seed):
    x = np.random.RandomState(seed).rand(256, 4).astype(np.float32)
    return {"x": x}, x.dot(np.array([[1.], [2.], [-1.], [0.5]], np.float32))


class ExamplesPerSecondHook(tf.train.SessionRunHook):
    """Logs now and then how many examples this worker has trained on."""

    def __init__(self, batch_size, every_n_steps=50):
        self._batch_size = batch_size
        self._timer = tf.train.SecondOrStepTimer(every_steps=every_n_steps)

    def begin(self):
        self._start, self._runs = time.time(), 0
        self._global_step = tf.train.get_global_step()

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._global_step)

    def after_run(self, run_context, run_values):
        self._runs += 1
        if self._timer.should_trigger_for_step(run_values.results):
            self._timer.update_last_triggered_step(run_values.results)
            speed = self._runs * self._batch_size / max(time.time() - self._start, 1e-6)
            tf.logging.info("%d examples/s at step %d", speed, run_values.results)


def model_fn(features, labels, mode, params):
    made = tf.layers.dense(features["x"], 1, name="line")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": made})
    loss = tf.losses.mean_squared_error(labels, made)
    train_op, hooks = None, []
    if mode == tf.estimator.ModeKeys.TRAIN:
        tf.summary.scalar("error", tf.reduce_mean(tf.abs(labels - made)))
        train_op = tf.train.AdagradOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
        hooks = [ExamplesPerSecondHook(params["batch_size"])]
    return tf.estimator.EstimatorSpec(mode, {"y": made}, loss, train_op, training_hooks=hooks,
                                      eval_metric_ops={"error": tf.metrics.mean_absolute_error(labels, made)})


def main(args):
    config = tf.estimator.RunConfig(model_dir=args.model_dir, save_checkpoints_steps=args.steps // 2, log_step_count_steps=50,
                                    tf_random_seed=7)
    estimator = tf.estimator.Estimator(model_fn, params={"rate": args.rate, "batch_size": args.batch_size}, config=config)
    inputs = tf.estimator.inputs.numpy_input_fn
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 4], name="x")})
    made = tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(inputs(*data(1), batch_size=args.batch_size, num_epochs=None, shuffle=True), max_steps=args.steps),
        tf.estimator.EvalSpec(inputs(*data(2), batch_size=64, num_epochs=1, shuffle=False), steps=None, start_delay_secs=0,
                              throttle_secs=0, exporters=tf.estimator.LatestExporter("served", serving)))
    print("result", made)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("model_dir")
    parser.add_argument("steps", type=int)
    parser.add_argument("--rate", type=float, default=0.5)
    parser.add_argument("--batch_size", type=int, default=32)
    main(parser.parse_args())
