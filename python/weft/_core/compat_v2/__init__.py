"""tf.compat.v2: TensorFlow 2's names, in graphs."""
