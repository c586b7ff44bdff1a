"""Fused cells of tf.contrib.rnn, which process all steps in one call, and cells with the variables of TensorFlow's
block cells.

A block cell computes what LSTMCell or GRUCell computes.  Here it is built of the same ops as they are, and so has a
gradient; LSTMBlockFusedCell is one BlockLSTM.
"""
import abc

import weft as tf
from weft._core.contrib.rnn.parts import LayerRNNCell, LSTMStateTuple, clipped
from weft._core.framework.absent import Named
from weft._core.framework.build import op
from weft._core.framework.graph import Tensor
from weft._core.nn.rnn import _turned


class FusedRNNCell(metaclass=Named):
    """The base of cells that process all steps in one call: outputs, state = cell(inputs of all steps, ...)"""

    @abc.abstractmethod
    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        """Runs all steps. inputs are (time, batch, features) or a list over time."""


class FusedRNNCellAdaptor(FusedRNNCell):
    """Adapts a cell of single steps to process all steps in one call."""

    def __init__(self, cell, use_dynamic_rnn=False):
        self._cell, self._use_dynamic_rnn = cell, use_dynamic_rnn

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        listed = isinstance(inputs, list)
        if self._use_dynamic_rnn:
            inputs = tf.stack(inputs) if listed else inputs
            outputs, state = tf.nn.dynamic_rnn(self._cell, inputs, sequence_length, initial_state, dtype, time_major=True, scope=scope)
            return (tf.unstack(outputs) if listed else outputs), state
        inputs = inputs if listed else tf.unstack(inputs)
        outputs, state = tf.nn.static_rnn(self._cell, inputs, initial_state, dtype, sequence_length, scope)
        return (outputs if listed else tf.stack(outputs)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """Runs a fused cell from the last step to the first."""

    def __init__(self, cell):
        self._cell = cell

    @staticmethod
    def _reverse(x, lengths):
        if isinstance(x, list):
            return TimeReversedFusedRNN._reverse(tf.stack(x), lengths)
        return _turned(x, lengths, 0)

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        listed = isinstance(inputs, list)
        turned = self._reverse(inputs, sequence_length)
        outputs, state = self._cell(tf.unstack(turned) if listed else turned, initial_state=initial_state, dtype=dtype,
                                    sequence_length=sequence_length, scope=scope)
        outputs = self._reverse(outputs, sequence_length)
        return (tf.unstack(outputs) if listed else outputs), state


def _lstm_step(x, c, h, kernel, bias, diagonals, forget_bias, limit):
    """Returns one step of an LSTM; the gates look at c through the diagonals, which may be None."""
    i, j, f, o = tf.split(tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), kernel), bias), 4, axis=1)
    wi, wf, wo = diagonals or (None, None, None)

    def gate(value, w, seen):
        return tf.sigmoid(value if w is None else value + w * seen)
    new_c = gate(f + forget_bias, wf, c) * c + gate(i, wi, c) * tf.tanh(j)
    if limit is not None:  # The gradient of TensorFlow's ops ignores the limit.
        new_c += tf.stop_gradient(clipped(new_c, limit) - new_c)
    return new_c, gate(o, wo, new_c) * tf.tanh(new_c)


class _LSTMVariables(LayerRNNCell):
    """The variables of a block LSTM."""

    def _setup(self, num_units, forget_bias, cell_clip, use_peephole):
        self._num_units, self._forget_bias, self._use_peephole = num_units, forget_bias, use_peephole
        self._cell_clip = None if cell_clip is None or cell_clip < 0 else cell_clip

    output_size = num_units = property(lambda self: self._num_units)
    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))

    def build(self, inputs_shape):
        n = self._num_units
        self._kernel = self.add_weight("kernel", [self._width(inputs_shape) + n, 4 * n])
        self._bias = self.add_weight("bias", [4 * n], initializer=tf.zeros_initializer())
        self._diagonals = [self.add_weight("w_%s_diag" % k, [n]) for k in "ifo"] if self._use_peephole else None
        self.built = True

    def _step(self, x, c, h):
        return _lstm_step(x, c, h, self._kernel, self._bias, self._diagonals, self._forget_bias, self._cell_clip)


class LSTMBlockCell(_LSTMVariables):
    """LSTMCell with the options of TensorFlow's block cell."""

    def __init__(self, num_units, forget_bias=1.0, cell_clip=None, use_peephole=False, dtype=None, reuse=None, name="lstm_cell"):
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._setup(num_units, forget_bias, cell_clip, use_peephole)

    def call(self, inputs, state):
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        c, h = self._step(inputs, *state)
        return h, LSTMStateTuple(c, h)


class LSTMBlockWrapper(_LSTMVariables):
    """The base of LSTMs that process all steps in one call. A subclass defines _call_cell."""

    def _call_cell(self, inputs, initial_cell_state, initial_output, dtype, sequence_length):
        raise NotImplementedError("%s has no _call_cell" % type(self).__name__)

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        listed = isinstance(inputs, list)
        inputs = tf.stack(inputs) if listed else tf.convert_to_tensor(inputs)
        if inputs.shape.ndims != 3:
            raise ValueError("inputs must be 3-dimensional, saw: %s" % inputs.shape)
        if initial_state is None and dtype is None:
            raise ValueError("Either initial_state or dtype needs to be specified")
        if initial_state is not None and len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        outputs, state = tf.layers.Layer.__call__(self, inputs, initial_state, dtype, sequence_length, scope=scope)
        return (tf.unstack(outputs) if listed else outputs), state

    def call(self, inputs, initial_state=None, dtype=None, sequence_length=None):
        kind = dtype or initial_state[0].dtype
        state = self.zero_state(tf.shape(inputs)[1], kind) if initial_state is None else initial_state
        lengths = None if sequence_length is None else tf.convert_to_tensor(sequence_length)
        cells, outputs = self._call_cell(inputs, state[0], state[1], kind, lengths)
        if lengths is None:
            return outputs, LSTMStateTuple(cells[-1], outputs[-1])
        steps = tf.shape(inputs)[0]
        mask = tf.transpose(tf.expand_dims(tf.sequence_mask(lengths, steps, dtype=outputs.dtype), 2), [1, 0, 2])
        place = tf.stack([tf.cast(lengths, tf.int32), tf.range(tf.shape(inputs)[1])], 1)
        last = [tf.gather_nd(tf.concat([tf.expand_dims(start, 0), made], 0), place) for start, made in (
            (state[0], cells), (state[1], outputs))]
        return outputs * mask, LSTMStateTuple(*last)


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM that processes all steps in one call."""

    def __init__(self, num_units, forget_bias=1.0, cell_clip=None, use_peephole=False, reuse=None, dtype=None,
                 name="lstm_fused_cell"):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._setup(num_units, forget_bias, cell_clip, use_peephole)

    def _call_cell(self, inputs, initial_cell_state, initial_output, dtype, sequence_length):
        if tf.as_dtype(dtype) not in (tf.float16, tf.float32):
            return self._loop(inputs, initial_cell_state, initial_output, dtype)
        zeros = tf.zeros([self._num_units], dtype)
        wci, wcf, wco = self._diagonals or (zeros, zeros, zeros)
        longest = tf.shape(inputs)[0] if sequence_length is None else tf.reduce_max(sequence_length)
        made = op("BlockLSTM", None, seq_len_max=tf.cast(longest, tf.int64), x=inputs, cs_prev=initial_cell_state,
                  h_prev=initial_output, w=self._kernel, wci=wci, wcf=wcf, wco=wco, b=self._bias, forget_bias=self._forget_bias,
                  cell_clip=-1.0 if self._cell_clip is None else self._cell_clip, use_peephole=self._use_peephole)
        return made[1], made[6]

    def _loop(self, inputs, initial_cell_state, initial_output, dtype):
        """Returns the same one step after the other, for types that BlockLSTM does not take."""
        steps = tf.shape(inputs)[0]
        given = tf.TensorArray(inputs.dtype, size=steps).unstack(inputs)
        made = [tf.TensorArray(dtype, size=steps, element_shape=s.shape) for s in (initial_cell_state, initial_output)]

        def body(i, c, h, cells, outputs):
            x = given.read(i)
            x.set_shape(inputs.shape[1:])
            c, h = self._step(x, c, h)
            c.set_shape(initial_cell_state.shape)
            h.set_shape(initial_output.shape)
            return i + 1, c, h, cells.write(i, c), outputs.write(i, h)
        loop = tf.while_loop(lambda i, *_: i < steps, body, (tf.constant(0), initial_cell_state, initial_output, *made))
        stacked = [a.stack() for a in loop[3:]]
        for x in stacked:
            x.set_shape([inputs.shape.as_list()[0], inputs.shape.as_list()[1], self._num_units])
        return stacked


class _GRUBlock(LayerRNNCell):
    """The base of GRUs with the variable names of a block cell."""

    output_size = state_size = property(lambda self: self._cell_size)

    def build(self, inputs_shape):
        n, width = self._cell_size, self._width(inputs_shape) + self._cell_size
        gates, gates_bias, candidate, candidate_bias = self._NAMES
        self._gate_kernel = self.add_weight(gates, [width, 2 * n])
        self._gate_bias = self.add_weight(gates_bias, [2 * n], initializer=tf.constant_initializer(1.0))
        self._candidate_kernel = self.add_weight(candidate, [width, n])
        self._candidate_bias = self.add_weight(candidate_bias, [n], initializer=tf.zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        gates = tf.sigmoid(tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel), self._gate_bias))
        r, u = tf.split(gates, 2, axis=1)
        new = tf.matmul(tf.concat([inputs, r * state], 1), self._candidate_kernel)
        out = u * state + (1 - u) * tf.tanh(tf.nn.bias_add(new, self._candidate_bias))
        return out, out


class GRUBlockCell(_GRUBlock):
    """GRUCell with the variables w_ru, b_ru, w_c and b_c."""

    _NAMES = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(self, num_units=None, cell_size=None, reuse=None, name="gru_cell"):
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size = num_units if cell_size is None else cell_size


class GRUBlockCellV2(GRUBlockCell):
    """GRUCell with the variables of GRUCell."""

    _NAMES = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")


# ---- stacked bidirectional networks ----

def _check_stack(cells_fw, cells_bw, states_fw, states_bw):
    for name, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
        if not isinstance(cells, list) or not cells:
            raise ValueError("Must specify at least one %s cell for BidirectionalRNN: %s must be a list." % (
                "fw" if name == "cells_fw" else "bw", name))
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for name, states in (("initial_states_fw", states_fw), ("initial_states_bw", states_bw)):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError("%s must be a list of state tensors (one per layer)." % name)


def stack_bidirectional_rnn(cells_fw, cells_bw, inputs, initial_states_fw=None, initial_states_bw=None, dtype=None,
                            sequence_length=None, scope=None):
    """Returns (outputs, states forwards, states backwards) of networks in both directions, one upon the other; inputs
    are a list.
    """
    _check_stack(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw, x = [], [], inputs
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw) in enumerate(zip(cells_fw, cells_bw)):
            with tf.variable_scope("cell_%d" % i):
                x, state_fw, state_bw = tf.nn.static_bidirectional_rnn(
                    fw, bw, x, initial_states_fw[i] if initial_states_fw else None, initial_states_bw[i] if initial_states_bw else None,
                    dtype, sequence_length)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return x, tuple(states_fw), tuple(states_bw)


def stack_bidirectional_dynamic_rnn(cells_fw, cells_bw, inputs, initial_states_fw=None, initial_states_bw=None, dtype=None,
                                    sequence_length=None, parallel_iterations=None, time_major=False, scope=None,
                                    swap_memory=False):
    """Returns (outputs, states forwards, states backwards) of networks in both directions, one upon the other."""
    _check_stack(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw, x = [], [], inputs
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw) in enumerate(zip(cells_fw, cells_bw)):
            with tf.variable_scope("cell_%d" % i):
                outputs, (state_fw, state_bw) = tf.nn.bidirectional_dynamic_rnn(
                    fw, bw, x, sequence_length=sequence_length, dtype=dtype, time_major=time_major, swap_memory=swap_memory,
                    initial_state_fw=initial_states_fw[i] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[i] if initial_states_bw else None, parallel_iterations=parallel_iterations)
                x = tf.concat(outputs, 2)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return x, tuple(states_fw), tuple(states_bw)


def transpose_batch_time(x):
    """Returns (batch, time, ...) as (time, batch, ...), and the other way round."""
    from weft._core.nn.rnn import _time_first
    x = tf.convert_to_tensor(x)
    return x if isinstance(x, Tensor) and x.shape.ndims is not None and x.shape.ndims < 2 else _time_first(x)


def best_effort_input_batch_size(flat_input):
    """Returns the number of rows of the inputs: a number if it is known, otherwise a tensor."""
    for x in flat_input:
        if x.shape.ndims is not None and x.shape.ndims >= 2 and x.shape.as_list()[1] is not None:
            return x.shape.as_list()[1]
    return tf.shape(flat_input[0])[1]
