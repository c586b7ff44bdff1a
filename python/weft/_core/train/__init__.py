"""Optimizers, savers, the global step, clusters, supervision: tf.train."""
