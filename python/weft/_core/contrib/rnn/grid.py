"""tf.contrib.rnn.GridLSTMCell: an LSTM in time and an LSTM along the frequencies of a step that read each other (Li et al.)."""
import collections

import weft as tf
from weft._core.contrib.rnn.parts import RNNCell, clipped, concat_variable, known_width


def _tuple_type(name, prefixes, blocks):
    """Returns a named tuple of c and m for each shift of each block."""
    names = ["%s_f%03d_b%03d_%s" % (prefix, shift, block, part) for prefix in prefixes for block, count in enumerate(blocks)
             for shift in range(count) for part in "cm"]
    return collections.namedtuple(name, names)


class GridLSTMCell(RNNCell):
    """Runs two LSTMs for each position of a window over the frequencies, and concatenates their outputs."""

    _PREFIXES = ("state",)

    def __init__(self, num_units, use_peepholes=False, share_time_frequency_weights=False, cell_clip=None, initializer=None,
                 num_unit_shards=1, forget_bias=1.0, feature_size=None, frequency_skip=None, num_frequency_blocks=None,
                 start_freqindex_list=None, end_freqindex_list=None, couple_input_forget_gates=False, state_is_tuple=True,
                 reuse=None):
        super().__init__(_reuse=reuse)
        if not num_frequency_blocks:
            raise ValueError("Must specify num_frequency_blocks")
        if bool(start_freqindex_list) != bool(end_freqindex_list) or start_freqindex_list and not len(
                start_freqindex_list) == len(end_freqindex_list) == len(num_frequency_blocks):
            raise ValueError("start_freqindex_list, end_freqindex_list and num_frequency_blocks must have the same length")
        self._num_units, self._use_peepholes, self._share = num_units, use_peepholes, share_time_frequency_weights
        self._cell_clip, self._initializer, self._num_unit_shards = cell_clip, initializer, num_unit_shards
        self._forget_bias, self._feature_size, self._frequency_skip = forget_bias, feature_size, frequency_skip
        self._blocks, self._starts, self._ends = list(num_frequency_blocks), start_freqindex_list, end_freqindex_list
        self._couple, self._state_is_tuple = couple_input_forget_gates, state_is_tuple
        self._state_tuple_type = _tuple_type("GridLSTMStateTuple", self._PREFIXES, self._blocks)

    @property
    def output_size(self):
        return 2 * self._num_units * sum(self._blocks) * len(self._PREFIXES)

    state_tuple_type = property(lambda self: self._state_tuple_type)

    @property
    def state_size(self):
        sizes = [self._num_units] * (2 * sum(self._blocks) * len(self._PREFIXES))
        return self._state_tuple_type(*sizes) if self._state_is_tuple else sum(sizes)

    def _features(self, inputs, offset=0):
        """Returns the windows over the frequencies for each block."""
        width = known_width(inputs) - offset
        if not self._starts and len(self._blocks) != 1:
            raise ValueError("Length of num_frequency_blocks is not 1, but instead is %d" % len(self._blocks))
        spans = zip(self._starts, self._ends) if self._starts else [(0, width)]
        found = []
        for (start, end), wanted in zip(spans, self._blocks):
            count = int((end - start - self._feature_size) / self._frequency_skip) + 1
            if count != wanted:
                raise ValueError("Invalid num_frequency_blocks, requires %d but gets %d, please check the input size and filter config "
                                 "are correct: start_freqindex_list and end_freqindex_list or the input give [%d, %d), with "
                                 "feature_size=%d and frequency_skip=%d" % (wanted, count, start, end, self._feature_size,
                                                                            self._frequency_skip))
            found.append([tf.slice(inputs, [0, start + offset + i * self._frequency_skip], [-1, self._feature_size])
                          for i in range(count)])
        return found

    def _side(self, kind, block, width, dtype):
        """Returns (kernel, bias, {gate: (weight of c in frequency, weight of c in time)}) of the LSTM in frequency or
        in time.
        """
        n, gates = self._num_units, 3 if self._couple else 4
        kernel = concat_variable("W_%s_%d" % (kind[0], block), [width + 2 * n, gates * n], dtype, self._num_unit_shards)
        bias = tf.get_variable("B_%s_%d" % (kind[0], block), [gates * n], dtype=dtype, initializer=tf.zeros_initializer())
        seen = {}
        if self._use_peepholes:
            for gate in ("I", "O") if self._couple else ("F", "I", "O"):
                seen[gate] = [tf.get_variable("W_%s_diag_%s%s_%d" % (gate, kind, of, block), [n], dtype=dtype) for of in "ft"]
        return kernel, bias, seen

    def _gates(self, side, x):
        parts = tf.split(tf.nn.bias_add(tf.matmul(x, side[0]), side[1]), 3 if self._couple else 4, axis=1)
        return (parts[0], parts[1], None, parts[2]) if self._couple else parts

    def _cell_state(self, side, gates, c, c_freq, c_time):
        """Returns the new c of one of the two LSTMs, whose old one is c."""
        i, j, f, _ = gates

        def open_by(value, gate):
            a, b = side[2].get(gate, (None, None))
            return tf.sigmoid(value if a is None else value + a * c_freq + b * c_time)
        take = open_by(i, "I")
        keep = 1.0 - take if f is None else open_by(f + self._forget_bias, "F")
        return clipped(keep * c + take * tf.tanh(j), self._cell_clip)

    @staticmethod
    def _output(side, gates, c, c_freq, c_time):
        a, b = side[2].get("O", (None, None))
        return tf.sigmoid(gates[3] if a is None else gates[3] + a * c_freq + b * c_time) * tf.tanh(c)

    def _block(self, windows, block, states):
        """Returns (outputs, states) of one block; states: (c, m) of each window."""
        dtype = windows[0].dtype.base_dtype
        in_freq = self._side("freq", block, self._feature_size, dtype)
        in_time = in_freq if self._share else self._side("time", block, self._feature_size, dtype)
        zeros = tf.zeros(tf.stack([tf.shape(windows[0])[0], self._num_units]), dtype)
        m_freq = c_freq = zeros
        outs, new = [], []
        for x, (c_time, m_time) in zip(windows, states):
            x = tf.concat([x, m_time, m_freq], 1)
            of_freq, of_time = self._gates(in_freq, x), self._gates(in_time, x)
            new_freq = self._cell_state(in_freq, of_freq, c_freq, c_freq, c_time)
            new_time = self._cell_state(in_time, of_time, c_time, c_freq, c_time)
            m_freq = self._output(in_freq, of_freq, new_freq, new_freq, new_time)
            m_time = self._output(in_time, of_time, new_time, new_freq, new_time)
            c_freq = new_freq
            outs += [m_time, m_freq]
            new += [new_time, m_time]
        return outs, new

    def _pass(self, blocks, parts):
        """Returns (outputs, states) of all blocks; parts: c and m of each window, one after the other."""
        outs, new, at = [], [], 0
        for block, windows in enumerate(blocks):
            mine = parts[at:at + 2 * len(windows)]
            made, after = self._block(windows, block, list(zip(mine[::2], mine[1::2])))
            outs += made
            new += after
            at += 2 * len(windows)
        return outs, new

    def _parts(self, state):
        return list(state) if self._state_is_tuple else tf.split(state, 2 * sum(self._blocks) * len(self._PREFIXES), axis=1)

    def _joined(self, outs, new):
        return tf.concat(outs, 1), self._state_tuple_type(*new) if self._state_is_tuple else tf.concat(new, 1)

    def call(self, inputs, state):
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            return self._joined(*self._pass(self._features(inputs), self._parts(state)))


class BidirectionalGridLSTMCell(GridLSTMCell):
    """Runs GridLSTMCell along the frequencies in both directions."""

    _PREFIXES = ("fwd_state", "bwd_state")

    def __init__(self, num_units, use_peepholes=False, share_time_frequency_weights=False, cell_clip=None, initializer=None,
                 num_unit_shards=1, forget_bias=1.0, feature_size=None, frequency_skip=None, num_frequency_blocks=None,
                 start_freqindex_list=None, end_freqindex_list=None, couple_input_forget_gates=False, backward_slice_offset=0,
                 reuse=None):
        super().__init__(num_units, use_peepholes, share_time_frequency_weights, cell_clip, initializer, num_unit_shards, forget_bias,
                         feature_size, frequency_skip, num_frequency_blocks, start_freqindex_list, end_freqindex_list,
                         couple_input_forget_gates, True, reuse)
        self._backward_slice_offset = backward_slice_offset

    def call(self, inputs, state):
        parts = self._parts(state)
        half = len(parts) // 2
        ahead, back = self._features(inputs), self._features(inputs, self._backward_slice_offset)
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            with tf.variable_scope("fwd"):
                outs, new = self._pass(ahead, parts[:half])
            with tf.variable_scope("bwd"):
                more, after = self._pass([list(reversed(windows)) for windows in back], parts[half:])
        return self._joined(outs + more, new + after)
