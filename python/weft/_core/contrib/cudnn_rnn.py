"""tf.contrib.cudnn_rnn: the layers that cuDNN computes on GPUs, computed here by the compatible cells.

A checkpoint has the variables that TensorFlow writes for these layers, in the form of the compatible cells: a model that was
trained on GPUs is restored, and a program with the compatible cells restores what is saved here.
"""
import weft as tf
from weft._core.contrib.rnn.fused import LSTMBlockCell
from weft._core.nn.rnn_cell import BasicRNNCell, GRUCell, LSTMStateTuple

CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION = "unidirectional", "bidirectional"
CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE = "linear_input", "skip_input", "auto_select"


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """The LSTM of cuDNN, which adds no bias to the forget gate."""

    def __init__(self, num_units, reuse=None):
        super().__init__(num_units, forget_bias=0.0, cell_clip=None, use_peephole=False, reuse=reuse,
                         name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(GRUCell):
    """The GRU of cuDNN, whose reset gate is applied after the product of the state, which has a bias of its own."""

    def __init__(self, num_units, reuse=None, kernel_initializer=None):
        super().__init__(num_units, activation=None, reuse=reuse, kernel_initializer=kernel_initializer,
                         name="cudnn_compatible_gru_cell")

    def build(self, inputs_shape):
        n, width = self._num_units, self._width(inputs_shape)
        start, zeros = self._kernel_initializer, self._bias_initializer or tf.zeros_initializer()
        self._gate_kernel = self.add_weight("gates/kernel", [width + n, 2 * n], initializer=start)
        self._gate_bias = self.add_weight("gates/bias", [2 * n], initializer=self._bias_initializer or tf.constant_initializer(1.0))
        self._input_kernel = self.add_weight("candidate/input_projection/kernel", [width, n], initializer=start)
        self._hidden_kernel = self.add_weight("candidate/hidden_projection/kernel", [n, n], initializer=start)
        self._input_bias = self.add_weight("candidate/input_projection/bias", [n], initializer=zeros)
        self._hidden_bias = self.add_weight("candidate/hidden_projection/bias", [n], initializer=zeros)
        self.built = True

    def call(self, inputs, state):
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel), self._gate_bias)
        r, u = tf.split(tf.sigmoid(gates), 2, axis=1)
        candidate = r * tf.nn.bias_add(tf.matmul(state, self._hidden_kernel), self._hidden_bias)
        candidate += tf.nn.bias_add(tf.matmul(inputs, self._input_kernel), self._input_bias)
        out = (1 - u) * self._activation(candidate) + u * state
        return out, out


class _CudnnRNN(tf.layers.Layer):
    """The base of recurrent networks with several layers: outputs, states = layer(inputs of (time, batch, features)).
    """

    def __init__(self, num_layers, num_units, input_mode=CUDNN_INPUT_LINEAR_MODE, direction=CUDNN_RNN_UNIDIRECTION, dropout=0.0,
                 seed=None, dtype=tf.float32, kernel_initializer=None, bias_initializer=None, name=None):
        super().__init__(dtype=dtype, name=name)
        if direction not in (CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION):
            raise ValueError("Invalid direction: %s, expect unidirectional or bidirectional" % direction)
        if input_mode not in (CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_AUTO_MODE):
            raise NotImplementedError("tf.contrib.cudnn_rnn.%s(input_mode=%r) is not in Weft: use 'linear_input'" % (
                type(self).__name__, input_mode))
        self._num_layers, self._num_units, self._input_mode, self._direction = num_layers, num_units, input_mode, direction
        self._dropout, self._seed, self._dirs = dropout, seed, 1 if direction == CUDNN_RNN_UNIDIRECTION else 2
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    num_layers = property(lambda self: self._num_layers)
    num_units = property(lambda self: self._num_units)
    num_dirs = property(lambda self: self._dirs)
    direction = property(lambda self: self._direction)
    input_mode = property(lambda self: self._input_mode)
    rnn_mode = property(lambda self: self._RNN_MODE)

    def _start(self, getter, name, *args, **kwargs):
        """Returns a custom getter that gives kernels and biases the initializers of the layer."""
        given = self._bias_initializer or tf.zeros_initializer() if name.endswith("bias") else self._kernel_initializer
        if given is not None:
            kwargs["initializer"] = given
        made = getter(name, *args, **kwargs)
        self._track(made)
        return made

    def _initial(self, states, layer, direction):
        """Returns the state of one cell, from tensors of (layers * directions, batch, units); None means zeros."""
        if states is None:
            return None
        at = layer * self._dirs + direction
        parts = [s[at] for s in states]
        return LSTMStateTuple(c=parts[1], h=parts[0]) if len(parts) == 2 else parts[0]

    def _layer(self, x, i, states, lengths):
        """Returns (outputs, last states) of one layer."""
        if self._dirs == 1:
            cell = self._cell()
            with tf.variable_scope("rnn/multi_rnn_cell/cell_%d" % i):
                return _scopeless(cell, x, lengths, self._initial(states, i, 0))
        with tf.variable_scope("stack_bidirectional_rnn/cell_%d" % i):
            outputs, last = tf.nn.bidirectional_dynamic_rnn(
                self._cell(), self._cell(), x, lengths, self._initial(states, i, 0), self._initial(states, i, 1), dtype=x.dtype,
                time_major=True)
        return tf.concat(outputs, 2), list(last)

    def call(self, inputs, initial_state=None, sequence_lengths=None, time_major=True, training=True):
        x = inputs if time_major else tf.transpose(inputs, [1, 0, 2])
        states = None if initial_state is None else [s if time_major else tf.transpose(s, [1, 0, 2]) for s in initial_state]
        found = []
        with tf.variable_scope(tf.get_variable_scope(), custom_getter=self._start):
            for i in range(self._num_layers):
                if i > 0 and training and self._dropout > 0:
                    x = tf.nn.dropout(x, 1.0 - self._dropout, seed=self._seed)
                x, last = self._layer(x, i, states, sequence_lengths)
                found += last
        return (x if time_major else tf.transpose(x, [1, 0, 2])), self._together(found, time_major)

    @staticmethod
    def _stacked(parts, time_major):
        return tf.stack(parts, 0 if time_major else 1)

    def _together(self, states, time_major):
        return (self._stacked(states, time_major),)

    def state_shape(self, batch_size):
        return ([self._num_layers * self._dirs, batch_size, self._num_units],)


def _scopeless(cell, x, lengths, state):
    """Runs dynamic_rnn with the variables of the cell in the current scope, without a scope called rnn."""
    outputs, last = tf.nn.dynamic_rnn(cell, x, lengths, state, dtype=x.dtype, time_major=True, scope=tf.get_variable_scope())
    return outputs, [last]


class CudnnLSTM(_CudnnRNN):
    """Layers of LSTMs; the states are (h, c) of (layers * directions, batch, units)."""

    _RNN_MODE = "lstm"

    def _cell(self):
        return CudnnCompatibleLSTMCell(self._num_units)

    def _together(self, states, time_major):
        return self._stacked([s.h for s in states], time_major), self._stacked([s.c for s in states], time_major)

    def state_shape(self, batch_size):
        return ([self._num_layers * self._dirs, batch_size, self._num_units],) * 2


class CudnnGRU(_CudnnRNN):
    """Layers of GRUs; the state is (h,) of (layers * directions, batch, units)."""

    _RNN_MODE = "gru"

    def _cell(self):
        return CudnnCompatibleGRUCell(self._num_units)


class CudnnRNNTanh(_CudnnRNN):
    """Layers of plain cells with tanh."""

    _RNN_MODE, _ACTIVATION = "rnn_tanh", staticmethod(tf.tanh)

    def _cell(self):
        return BasicRNNCell(self._num_units, activation=self._ACTIVATION, name="cudnn_compatible_rnn_cell")


class CudnnRNNRelu(CudnnRNNTanh):
    """Layers of plain cells with relu."""

    _RNN_MODE, _ACTIVATION = "rnn_relu", staticmethod(tf.nn.relu)
