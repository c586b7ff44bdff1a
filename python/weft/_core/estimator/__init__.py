"""Models as functions, with the loops around them: tf.estimator."""
