"""A classifier of tf.contrib.boosted_trees, as programs of 2018 wrote it: FOLDER."""
from __future__ import print_function

import sys

import numpy as np
import tensorflow as tf
from tensorflow.contrib.boosted_trees.estimator_batch.estimator import GradientBoostedDecisionTreeClassifier
from tensorflow.contrib.boosted_trees.proto import learner_pb2 as gbdt_learner

rng = np.random.RandomState(1)
images = rng.uniform(size=[1200, 9]).astype(np.float32)
labels = (images[:, 0] > 0.5).astype(np.int32) + (images[:, 1] * images[:, 2] > 0.3)

learner_config = gbdt_learner.LearnerConfig()
learner_config.learning_rate_tuner.fixed.learning_rate = 0.3
learner_config.regularization.l1 = 0.
learner_config.regularization.l2 = 1. / 600
learner_config.constraints.max_tree_depth = 4
learner_config.growing_mode = gbdt_learner.LearnerConfig.LAYER_BY_LAYER
learner_config.multi_class_strategy = gbdt_learner.LearnerConfig.DIAGONAL_HESSIAN
run_config = tf.contrib.learn.RunConfig(save_checkpoints_secs=300)

model = GradientBoostedDecisionTreeClassifier(model_dir=sys.argv[1], learner_config=learner_config, n_classes=3, examples_per_layer=600,
                                              num_trees=10, center_bias=False, config=run_config)
input_fn = tf.estimator.inputs.numpy_input_fn(x={"images": images}, y=labels, batch_size=300, num_epochs=None, shuffle=True)
model.fit(input_fn=input_fn, max_steps=1000)
input_fn = tf.estimator.inputs.numpy_input_fn(x={"images": images}, y=labels, batch_size=300, num_epochs=1, shuffle=False)
e = model.evaluate(input_fn=input_fn)
print("accuracy", e["accuracy"], "steps", e["global_step"])
