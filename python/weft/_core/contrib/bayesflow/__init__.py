"""The code of tf.contrib.bayesflow."""
