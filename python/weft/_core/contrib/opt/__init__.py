"""The implementation of tf.contrib.opt: optimizers that use the protocol of tf.train.Optimizer."""
