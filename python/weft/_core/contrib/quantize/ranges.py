"""Fake quantization with the range in two variables: that of the last step, or a moving average."""
import weft as tf
from weft._core.python_modules.moving_averages import assign_moving_average


class Rounding:
    """How values are rounded: parameters that all quantizations of a rewriting share."""

    def __init__(self, is_training, bits, symmetric, quant_delay):
        self.is_training, self.bits, self.symmetric, self.quant_delay = is_training, bits, symmetric, quant_delay

    def apply(self, inputs, scope, narrow, decay=None):
        """Returns the rounded values, in the variable scope `scope`. decay: that of the moving average, or None for the
        last range.
        """
        with tf.variable_scope(None, scope):
            low, high = (tf.get_variable(name, [], tf.float32, tf.constant_initializer(start), trainable=False,
                                         collections=[tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES])
                         for name, start in (("min", -6.0), ("max", 6.0)))
            if self.is_training:
                low, high = self._updated(inputs, low, high, narrow, decay)
            made = tf.fake_quant_with_min_max_vars(inputs, low, high, num_bits=self.bits, narrow_range=narrow)
        return self._delayed(made, inputs, scope)

    def _updated(self, inputs, low, high, narrow, decay):
        """Returns the range after that of this step's values, which always has zero in it."""
        least, most = tf.reduce_min(inputs, name="BatchMin"), tf.reduce_max(inputs, name="BatchMax")
        if self.symmetric:
            ratio = -1.0 if narrow else -((1 << self.bits) - 2.0) / (1 << self.bits)
            least, most = tf.minimum(least, most / ratio), tf.maximum(most, least * ratio)
        least, most = tf.minimum(least, 0.0), tf.maximum(most, 0.0)
        if decay is None:
            return tf.assign(low, least, name="AssignMinLast"), tf.assign(high, most, name="AssignMaxLast")
        return (assign_moving_average(low, least, decay, name="AssignMinEma"),
                assign_moving_average(high, most, decay, name="AssignMaxEma"))

    def _delayed(self, rounded, inputs, scope):
        """Returns the values themselves until the step quant_delay."""
        if not self.quant_delay or self.quant_delay < 0:
            return rounded
        step = tf.train.get_or_create_global_step()
        with tf.name_scope(scope + "/"):
            active = tf.greater_equal(step, tf.cast(self.quant_delay, step.dtype.base_dtype), name="activate_quant")
            return tf.cond(active, lambda: rounded, lambda: inputs, name="delayed_quant")
