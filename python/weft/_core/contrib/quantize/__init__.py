"""tf.contrib.quantize: graphs that simulate the rounding of 8-bit integers."""
