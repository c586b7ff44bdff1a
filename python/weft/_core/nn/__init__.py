"""Neural networks: tf.nn, tf.layers, tf.losses, tf.metrics and tf.feature_column."""
