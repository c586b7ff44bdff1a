"""ARModel: predicts a window of values from the values of the window before it, and from where its times lie in each period."""
import math

import weft as tf
from weft._core.framework.absent import Named

_SMALLEST = 1e-6  # the least variance


class ARModel(metaclass=Named):
    """An autoregressive model, linear or with hidden layers.

    Args:
      periodicities: the length of each period of the series, a number or a list.
      input_window_size: how many values a prediction is made from.
      output_window_size: how many values are predicted at a time.
      num_features: the number of variables of the series.
      num_time_buckets: into how many parts each period is cut.
      loss: SQUARED_LOSS, or NORMAL_LIKELIHOOD_LOSS, which trains the variance too.
      hidden_layer_sizes: the sizes of layers between the inputs and the prediction.
    """

    SQUARED_LOSS, NORMAL_LIKELIHOOD_LOSS = "squared_loss", "normal_likelihood_loss"

    def __init__(self, periodicities, input_window_size, output_window_size, num_features, num_time_buckets=10,
                 loss=NORMAL_LIKELIHOOD_LOSS, hidden_layer_sizes=None):
        if loss not in (ARModel.SQUARED_LOSS, ARModel.NORMAL_LIKELIHOOD_LOSS):
            raise ValueError("loss is %r: give ARModel.SQUARED_LOSS or ARModel.NORMAL_LIKELIHOOD_LOSS" % (loss,))
        listed = isinstance(periodicities, (list, tuple))
        self.periods = [float(p) for p in (periodicities if listed else [periodicities]) if p is not None]
        if any(p <= 0 for p in self.periods):
            raise ValueError("periodicities are %s; each must be positive" % (self.periods,))
        if input_window_size < 0 or output_window_size < 1:
            raise ValueError("input_window_size is %d and output_window_size %d; they must be at least 0 and 1" % (
                input_window_size, output_window_size))
        self.inputs, self.outputs, self.features = input_window_size, output_window_size, num_features
        self.buckets, self.loss, self.hidden = num_time_buckets, loss, list(hidden_layer_sizes or [])
        self.window_size = input_window_size + output_window_size

    # ---- one window ----

    def _time_features(self, times):
        """Returns where each time lies in each period: in its bucket, how far it has come from 0 to 1; 0 in the others."""
        if not self.periods:
            return None
        periods = tf.constant(self.periods)
        phase = tf.mod(tf.expand_dims(tf.cast(times, tf.float32), -1), periods) / periods * self.buckets
        come = tf.expand_dims(phase, -1) - tf.range(self.buckets, dtype=tf.float32)
        inside = tf.logical_and(come >= 0, come < 1)
        return tf.reshape(tf.where(inside, come, tf.zeros_like(come)), [tf.shape(times)[0], self.window_size * len(
            self.periods) * self.buckets])

    def predict_window(self, times, before):
        """Returns the means and variances of the output window, from the times of both windows and the values before."""
        parts = [tf.reshape(before, [tf.shape(before)[0], self.inputs * self.features])] if self.inputs else []
        seasonal = self._time_features(times)
        parts += [] if seasonal is None else [seasonal]
        if not parts:
            raise ValueError("the model has no inputs: give periodicities, or an input_window_size above 0")
        layer = tf.concat(parts, 1)
        for i, size in enumerate(self.hidden):
            layer = tf.layers.dense(layer, size, tf.nn.relu, name="layer%d" % i, reuse=tf.AUTO_REUSE)
        shape = [tf.shape(layer)[0], self.outputs, self.features]
        count = self.outputs * self.features
        mean = tf.reshape(tf.layers.dense(layer, count, name="predicted_mean", reuse=tf.AUTO_REUSE), shape)
        if self.loss == ARModel.SQUARED_LOSS:
            return mean, tf.ones_like(mean)
        spread = tf.layers.dense(layer, count, name="log_sigma_square", reuse=tf.AUTO_REUSE)
        return mean, tf.reshape(tf.exp(spread), shape) + _SMALLEST

    def loss_of(self, values, mean, variance):
        """Returns the mean loss of a value."""
        squares = tf.squared_difference(values, mean)
        if self.loss == ARModel.SQUARED_LOSS:
            return tf.reduce_mean(squares)
        return tf.reduce_mean(0.5 * (tf.log(2 * math.pi * variance) + squares / variance))

    # ---- a series ----

    def predict_series(self, times, values):
        """Predicts each output window of a series from the values that were seen; the first values fill the first windows.

        Returns (times, means, variances, values) of what was predicted.
        """
        count = (tf.shape(times)[1] - self.inputs) // self.outputs
        check = tf.Assert(count > 0, ["the series has %s records, and the model takes windows of %d" % ("too few", self.window_size),
                                      tf.shape(times)[1]])
        with tf.control_dependencies([check]):
            skipped = tf.shape(times)[1] - self.inputs - count * self.outputs
        rows = tf.expand_dims(skipped + tf.range(count) * self.outputs, 1) + tf.range(self.window_size)
        batch = tf.shape(times)[0]

        def windows(x, last):
            return tf.reshape(tf.gather(x, rows, axis=1), [batch * count, self.window_size, *last])
        at, seen = windows(times, []), windows(values, [self.features])
        mean, variance = self.predict_window(at, seen[:, :self.inputs])
        whole = [batch, count * self.outputs, self.features]
        return (times[:, skipped + self.inputs:], tf.reshape(mean, whole), tf.reshape(variance, whole),
                values[:, skipped + self.inputs:])

    def state(self, times, values):
        """Returns what a prediction of the future starts from: the last input window."""
        count = tf.shape(times)[1]
        return times[:, count - self.inputs:], values[:, count - self.inputs:]

    def continue_series(self, times, state):
        """Predicts windows one after the other, each from the means of those before it."""
        batch, wanted = tf.shape(times)[0], tf.shape(times)[1]
        rounds = -tf.floordiv(-wanted, self.outputs)
        beyond = times[:, -1:] + 1 + tf.range(tf.cast(rounds * self.outputs - wanted, tf.int64), dtype=tf.int64)
        all_times = tf.concat([state[0], times, beyond], 1)
        values, variances = tf.cast(state[1], tf.float32), tf.zeros([batch, 0, self.features])

        def step(i, values, variances):
            at = all_times[:, i * self.outputs:i * self.outputs + self.window_size]
            at.set_shape([None, self.window_size])
            before = values[:, i * self.outputs:i * self.outputs + self.inputs]
            mean, variance = self.predict_window(at, tf.reshape(before, [batch, self.inputs, self.features]))
            return i + 1, tf.concat([values, mean], 1), tf.concat([variances, variance], 1)
        open_shape = tf.TensorShape([None, None, self.features])
        self.predict_window(all_times[:, :self.window_size], tf.zeros([batch, self.inputs, self.features]))  # makes the variables
        _, values, variances = tf.while_loop(lambda i, *_: i < rounds, step, [0, values, variances],
                                             [tf.TensorShape([]), open_shape, open_shape])
        return values[:, self.inputs:self.inputs + wanted], variances[:, :wanted]
