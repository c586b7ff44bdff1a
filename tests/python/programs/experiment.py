"""A program of 2017: tf.contrib.learn's Experiment, run by learn_runner."""
import sys

import numpy as np
import tensorflow as tf
from tensorflow.contrib.learn.python.learn import learn_runner
from tensorflow.contrib.learn.python.learn.estimators import model_fn as model_fn_lib
from tensorflow.contrib.learn.python.learn.estimators import run_config

tf.logging.set_verbosity(tf.logging.INFO)
X = np.random.RandomState(0).rand(40, 3).astype(np.float32)


def model_fn(features, labels, mode, params):
    line = tf.contrib.layers.fully_connected(features, 1, activation_fn=None)
    loss = tf.losses.mean_squared_error(labels, line)
    train_op = None
    if mode == model_fn_lib.ModeKeys.TRAIN:
        train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.contrib.framework.get_global_step())
    return tf.contrib.learn.ModelFnOps(mode, line, loss, train_op, {"off": tf.metrics.mean_absolute_error(labels, line)})


def input_fn():
    return tf.constant(X), tf.constant(X.sum(1, keepdims=True))


def experiment_fn(output_dir):
    estimator = tf.contrib.learn.Estimator(model_fn=model_fn, model_dir=output_dir, params={"rate": 0.3},
                                           config=run_config.RunConfig(save_checkpoints_steps=100))
    return tf.contrib.learn.Experiment(estimator, train_input_fn=input_fn, eval_input_fn=input_fn, train_steps=300, eval_steps=2)


print("result", learn_runner.run(experiment_fn=experiment_fn, output_dir=sys.argv[1], schedule="train_and_evaluate"))
