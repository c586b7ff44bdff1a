"""tensorflow.contrib.rnn.python.ops.core_rnn_cell, from which programs import _linear and the wrappers."""
import weft as tf
from weft._core.contrib.rnn.cells import EmbeddingWrapper, InputProjectionWrapper, OutputProjectionWrapper  # noqa: F401
from weft._core.contrib.rnn.parts import linear
from weft._core.nn.rnn_cell import (  # noqa: F401 - programs look for cells here
    BasicLSTMCell,
    BasicRNNCell,
    DeviceWrapper,
    DropoutWrapper,
    GRUCell,
    LSTMCell,
    LSTMStateTuple,
    MultiRNNCell,
    ResidualWrapper,
    RNNCell,
)


def _linear(args, output_size, bias, bias_initializer=None, kernel_initializer=None):
    """Returns [args] * kernel + bias, with the variables `kernel` and `bias` of the current scope."""
    if args is None or isinstance(args, (list, tuple)) and not args:
        raise ValueError("`args` must be specified")
    return linear(args, output_size, bias, bias_initializer, kernel_initializer)


class _Linear:
    """The function _linear as an object, whose variables are in the scope in which it was made."""

    def __init__(self, args, output_size, build_bias, bias_initializer=None, kernel_initializer=None):
        self._output_size, self._bias, self._scope = output_size, build_bias, tf.get_variable_scope()
        self._initializers, self._reuse = (bias_initializer, kernel_initializer), self._scope.reuse
        with tf.variable_scope(self._scope):
            linear(args, output_size, build_bias, *self._initializers)

    def __call__(self, args):
        with tf.variable_scope(self._scope, reuse=True):
            return linear(args, self._output_size, self._bias, *self._initializers)
