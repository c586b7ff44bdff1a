"""The code of tf.contrib.kfac."""
