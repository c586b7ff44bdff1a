"""The modules of tf.train: optimizers, savers, the global step, clusters and supervision."""
