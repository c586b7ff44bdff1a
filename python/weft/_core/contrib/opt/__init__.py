"""The code of tf.contrib.opt: optimizers that are written on the protocol of tf.train.Optimizer."""
