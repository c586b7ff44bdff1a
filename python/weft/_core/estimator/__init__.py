"""tf.estimator: models as functions, and the loops that train and evaluate them."""
