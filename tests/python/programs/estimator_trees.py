"""Boosted trees on a cluster told by TF_CONFIG: FOLDER, STEPS."""
import sys

import numpy as np
import tensorflow as tf

fc = tf.feature_column
rng = np.random.RandomState(0)
x = rng.uniform(-2, 2, [1000, 2]).astype(np.float32)
y = (np.floor(x).sum(1) % 2).astype(np.int64)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"a": x[:, :1], "b": x[:, 1:]}, y)).batch(250)


tf.logging.set_verbosity(tf.logging.INFO)
columns = [fc.bucketized_column(fc.numeric_column("a"), np.linspace(-1.75, 1.75, 15).tolist()), fc.numeric_column("b")]
made = tf.estimator.BoostedTreesClassifier(columns, n_batches_per_layer=4, model_dir=sys.argv[1], n_trees=25, max_depth=4,
                                           learning_rate=0.5, center_bias=True)
result = tf.estimator.train_and_evaluate(made, tf.estimator.TrainSpec(lambda: input_fn().repeat(), max_steps=int(sys.argv[2])),
                                         tf.estimator.EvalSpec(input_fn, steps=None, start_delay_secs=0, throttle_secs=1))
print("result", result)
