"""Data sets and iterators: tf.data."""
