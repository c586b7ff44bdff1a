"""The implementation of tf.contrib.image and tf.contrib.resampler."""
