"""The code of tf.contrib.image and tf.contrib.resampler."""
