"""The networks of tf.contrib.slim.nets."""
