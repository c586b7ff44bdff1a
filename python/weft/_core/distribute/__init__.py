"""tf.distribute: one program on several devices or tasks."""
