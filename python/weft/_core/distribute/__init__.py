"""tf.distribute: strategies that run one program on several devices or tasks."""
