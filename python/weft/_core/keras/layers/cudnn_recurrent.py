"""CuDNNLSTM and CuDNNGRU: the recurrent layers that TensorFlow runs with cuDNN.

Here they use ordinary ops on any device.

Their variables are TensorFlow's: one kernel, one recurrent kernel, and a bias with a part for each of the two.
"""
from weft._core.keras import initializers
from weft._core.keras.layers.recurrent import RNN, _of_cell
from weft._core.keras.layers.recurrent_cells import GRUCell, LSTMCell
from weft._core.nn import nn
from weft._core.ops import array_ops


class _CuDNNLSTMCell(LSTMCell):
    def _bias_shape(self):
        return (8 * self.units,)

    def _bias_start(self):
        if not self.unit_forget_bias:
            return self.bias_initializer

        def bias(shape, *args, **kwargs):
            n = self.units
            return array_ops.concat([self.bias_initializer((n * 5,), *args, **kwargs), initializers.get("ones")((n,), *args, **kwargs),
                                     self.bias_initializer((n * 2,), *args, **kwargs)], 0)
        return bias

    def _with_bias(self, z):
        return nn.bias_add(z, self.bias[:4 * self.units] + self.bias[4 * self.units:])


class _CuDNNGRUCell(GRUCell):
    def _bias_shape(self):
        return (6 * self.units,)

    def _biases(self):
        return self.bias[:3 * self.units], self.bias[3 * self.units:]


class _CuDNNRNN(RNN):
    """The base of both layers."""

    _NAMES = ()
    units, kernel_initializer = _of_cell("units"), _of_cell("kernel_initializer")
    recurrent_initializer, bias_initializer = _of_cell("recurrent_initializer"), _of_cell("bias_initializer")
    unit_forget_bias, kernel_regularizer = _of_cell("unit_forget_bias"), _of_cell("kernel_regularizer")
    recurrent_regularizer, bias_regularizer = _of_cell("recurrent_regularizer"), _of_cell("bias_regularizer")
    kernel_constraint, recurrent_constraint = _of_cell("kernel_constraint"), _of_cell("recurrent_constraint")
    bias_constraint = _of_cell("bias_constraint")
    _CELL = _CuDNNLSTMCell

    _build_cell = RNN._build_plain_cell

    def get_config(self):
        return self._configured(("return_sequences", "return_state", "go_backwards", "stateful", "time_major") + self._NAMES)

    @classmethod
    def from_config(cls, config):
        return cls(**config)


_SHARED = ("kernel_regularizer", "recurrent_regularizer", "bias_regularizer", "activity_regularizer", "kernel_constraint",
           "recurrent_constraint", "bias_constraint")


class CuDNNLSTM(_CuDNNRNN):
    """An LSTM layer with the variables of cuDNN."""

    _NAMES = ("units", "kernel_initializer", "recurrent_initializer", "bias_initializer", "unit_forget_bias", *_SHARED)

    def __init__(self, units, kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None, bias_constraint=None,
                 return_sequences=False, return_state=False, go_backwards=False, stateful=False, **kwargs):
        cell = _CuDNNLSTMCell(units, recurrent_activation="sigmoid", kernel_initializer=kernel_initializer,
                              recurrent_initializer=recurrent_initializer, bias_initializer=bias_initializer,
                              unit_forget_bias=unit_forget_bias, kernel_regularizer=kernel_regularizer,
                              recurrent_regularizer=recurrent_regularizer, bias_regularizer=bias_regularizer,
                              kernel_constraint=kernel_constraint, recurrent_constraint=recurrent_constraint,
                              bias_constraint=bias_constraint, implementation=2, name="cell")
        super().__init__(cell, return_sequences, return_state, go_backwards, stateful, activity_regularizer=activity_regularizer, **kwargs)


class CuDNNGRU(_CuDNNRNN):
    """A GRU layer with the variables of cuDNN."""

    _NAMES = ("units", "kernel_initializer", "recurrent_initializer", "bias_initializer", *_SHARED)

    def __init__(self, units, kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, **kwargs):
        cell = _CuDNNGRUCell(units, recurrent_activation="sigmoid", kernel_initializer=kernel_initializer,
                             recurrent_initializer=recurrent_initializer, bias_initializer=bias_initializer,
                             kernel_regularizer=kernel_regularizer, recurrent_regularizer=recurrent_regularizer,
                             bias_regularizer=bias_regularizer, kernel_constraint=kernel_constraint,
                             recurrent_constraint=recurrent_constraint, bias_constraint=bias_constraint, implementation=2,
                             reset_after=True, name="cell")
        super().__init__(cell, return_sequences, return_state, go_backwards, stateful, activity_regularizer=activity_regularizer, **kwargs)
