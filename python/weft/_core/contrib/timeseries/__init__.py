"""tf.contrib.timeseries: readers of time series, windows of them, and an autoregressive model."""
