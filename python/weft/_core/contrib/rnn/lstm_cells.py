"""Variants of the LSTM in tf.contrib.rnn."""
import weft as tf
from weft._core.contrib.rnn.parts import (
    LayerRNNCell,
    LSTMStateTuple,
    RNNCell,
    clipped,
    concat_variable,
    known_width,
    linear,
    lstm_state,
    normalized,
)


class CoupledInputForgetGateLSTMCell(RNNCell):
    """An LSTM whose input gate is one minus the forget gate."""

    def __init__(self, num_units, use_peepholes=False, initializer=None, num_proj=None, proj_clip=None, num_unit_shards=1,
                 num_proj_shards=1, forget_bias=1.0, state_is_tuple=True, activation=tf.tanh, reuse=None, layer_norm=False,
                 norm_gain=1.0, norm_shift=0.0):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._initializer, self._num_proj = num_units, use_peepholes, initializer, num_proj
        self._proj_clip, self._num_unit_shards, self._num_proj_shards = proj_clip, num_unit_shards, num_proj_shards
        self._forget_bias, self._state_is_tuple, self._activation = forget_bias, state_is_tuple, activation
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift

    output_size = property(lambda self: self._num_proj or self._num_units)

    @property
    def state_size(self):
        two = LSTMStateTuple(self._num_units, self.output_size)
        return two if self._state_is_tuple else sum(two)

    def _norm(self, x, scope):
        return normalized(x, scope, self._norm_gain, self._norm_shift) if self._layer_norm else x

    def call(self, inputs, state):
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            return self._step(inputs, state)

    def _step(self, inputs, state):
        n, kind = self._num_units, inputs.dtype.base_dtype
        c_prev, m_prev = lstm_state(state, n, self.output_size, self._state_is_tuple)
        kernel = concat_variable("W", [known_width(inputs) + self.output_size, 3 * n], kind, self._num_unit_shards)
        bias = tf.get_variable("B", [3 * n], dtype=kind, initializer=tf.zeros_initializer())
        gates = tf.matmul(tf.concat([inputs, m_prev], 1), kernel)
        gates = gates if self._layer_norm else tf.nn.bias_add(gates, bias)
        j, f, o = (self._norm(x, name) for x, name in zip(tf.split(gates, 3, axis=1), ("transform", "forget", "output")))
        f = f + self._forget_bias
        if self._use_peepholes:
            seen = [tf.get_variable("W_%s_diag" % k, [n], dtype=kind) for k in "FO"]
            f = f + seen[0] * c_prev
        kept = tf.sigmoid(f)
        c = self._norm(kept * c_prev + (1 - kept) * self._activation(j), "state")
        m = tf.sigmoid(o + seen[1] * c if self._use_peepholes else o) * self._activation(c)
        if self._num_proj is not None:
            projection = concat_variable("W_P", [n, self._num_proj], kind, self._num_proj_shards)
            m = clipped(tf.matmul(m, projection), self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else tf.concat([c, m], 1)


class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM with layer normalization of the gates, and dropout of the candidate values."""

    def __init__(self, num_units, forget_bias=1.0, input_size=None, activation=tf.tanh, layer_norm=True, norm_gain=1.0,
                 norm_shift=0.0, dropout_keep_prob=1.0, dropout_prob_seed=None, reuse=None):
        super().__init__(_reuse=reuse)
        self._input_size = input_size
        if input_size is not None:
            tf.logging.warn("%s: The input_size parameter is deprecated.", self)
        self._num_units, self._forget_bias, self._activation, self._layer_norm = num_units, forget_bias, activation, layer_norm
        self._norm_gain, self._norm_shift, self._keep_prob, self._seed = norm_gain, norm_shift, dropout_keep_prob, dropout_prob_seed

    output_size = property(lambda self: self._num_units)
    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))

    def _norm(self, x, scope):
        return normalized(x, scope, self._norm_gain, self._norm_shift) if self._layer_norm else x

    def call(self, inputs, state):
        c, h = state
        args, kind = tf.concat([inputs, h], 1), inputs.dtype.base_dtype
        gates = tf.matmul(args, tf.get_variable("kernel", [known_width(args), 4 * self._num_units], dtype=kind))
        if not self._layer_norm:
            gates = tf.nn.bias_add(gates, tf.get_variable("bias", [4 * self._num_units], dtype=kind))
        names = ("input", "transform", "forget", "output")
        i, j, f, o = (self._norm(x, name) for x, name in zip(tf.split(gates, 4, axis=1), names))
        g = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            g = tf.nn.dropout(g, self._keep_prob, seed=self._seed)
        new_c = self._norm(c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * g, "state")
        new_h = self._activation(new_c) * tf.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class TimeFreqLSTMCell(RNNCell):
    """An LSTM that also runs along the frequencies of each step (Sainath and Li)."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_unit_shards=1, forget_bias=1.0,
                 feature_size=None, frequency_skip=1, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._cell_clip, self._initializer = num_units, use_peepholes, cell_clip, initializer
        self._num_unit_shards, self._forget_bias, self._feature_size = num_unit_shards, forget_bias, feature_size
        self._frequency_skip = frequency_skip

    output_size = state_size = property(lambda self: 2 * self._num_units)

    def _features(self, inputs):
        width = known_width(inputs)
        count = (width - self._feature_size) // self._frequency_skip + 1
        return [tf.slice(inputs, [0, i * self._frequency_skip], [-1, self._feature_size]) for i in range(count)]

    def call(self, inputs, state):
        n, features = self._num_units, self._features(inputs)
        kind = inputs.dtype.base_dtype
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            kernel = concat_variable("W", [self._feature_size + 2 * n, 4 * n], kind, self._num_unit_shards)
            bias = tf.get_variable("B", [4 * n], dtype=kind, initializer=tf.zeros_initializer())
            seen = {k: tf.get_variable("W_%s_diag" % k, [n], dtype=kind) for k in "FIO"} if self._use_peepholes else None

            def gate(x, key, c):
                return tf.sigmoid(x if seen is None else x + seen[key] * c)
            before = tf.zeros(tf.stack([tf.shape(inputs)[0], n]), kind)
            states, outs = [], []
            for at, x in enumerate(features):
                c_prev = tf.slice(state, [0, 2 * at * n], [-1, n])
                m_prev = tf.slice(state, [0, (2 * at + 1) * n], [-1, n])
                gates = tf.nn.bias_add(tf.matmul(tf.concat([x, m_prev, before], 1), kernel), bias)
                i, j, f, o = tf.split(gates, 4, axis=1)
                c = gate(f + self._forget_bias, "F", c_prev) * c_prev + gate(i, "I", c_prev) * tf.tanh(j)
                c = clipped(c, self._cell_clip)
                before = gate(o, "O", c) * tf.tanh(c)
                states += [c, before]
                outs.append(before)
        return tf.concat(outs, 1), tf.concat(states, 1)


class PhasedLSTMCell(RNNCell):
    """An LSTM whose units are updated in phases. Its inputs are (time, features)."""

    def __init__(self, num_units, use_peepholes=False, leak=0.001, ratio_on=0.1, trainable_ratio_on=True, period_init_min=1.0,
                 period_init_max=1000.0, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._leak, self._ratio_on = num_units, use_peepholes, leak, ratio_on
        self._trainable_ratio_on, self._period_init_min, self._period_init_max = trainable_ratio_on, period_init_min, period_init_max

    output_size = property(lambda self: self._num_units)
    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))

    def _periods(self, shape, dtype=None, partition_info=None):
        low, high = (tf.log(tf.constant(float(v))) for v in (self._period_init_min, self._period_init_max))
        return tf.cast(tf.exp(tf.random_uniform(shape, low, high)), dtype or tf.float32)

    def _openness(self, time):
        """Returns how far each unit is open at the time of each row."""
        n = [self._num_units]
        period = tf.get_variable("period", n, initializer=self._periods)
        phase = tf.get_variable("phase", n, initializer=lambda shape, dtype=None, partition_info=None: tf.random_uniform(
            shape, 0.0, 1.0, dtype) * period.initialized_value())
        ratio = tf.get_variable("ratio_on", n, initializer=tf.constant_initializer(self._ratio_on),
                                trainable=self._trainable_ratio_on)
        time = tf.cast(time, phase.dtype.base_dtype)
        share = tf.mod(time - phase, period) / period
        up = 2 * share / ratio
        closed = self._leak * share
        open_share = tf.where(share < ratio, 2 - up, closed)
        return tf.where(share < 0.5 * ratio, up, open_share)

    def call(self, inputs, state):
        c_prev, h_prev = state
        time, x = inputs
        seen = [x, h_prev] + ([c_prev] if self._use_peepholes else [])
        with tf.variable_scope("mask_gates"):
            take, keep = tf.split(tf.sigmoid(linear(seen, 2 * self._num_units, True)), 2, axis=1)
        with tf.variable_scope("new_input"):
            new = tf.tanh(linear([x, h_prev], self._num_units, True))
        new_c = c_prev * keep + take * new
        seen = [x, h_prev] + ([new_c] if self._use_peepholes else [])
        with tf.variable_scope("output_gate"):
            new_h = tf.tanh(new_c) * tf.sigmoid(linear(seen, self._num_units, True))
        k = self._openness(time)
        new_c = k * new_c + (1 - k) * c_prev
        new_h = k * new_h + (1 - k) * h_prev
        return new_h, LSTMStateTuple(new_c, new_h)


class GLSTMCell(RNNCell):
    """An LSTM of groups that are independent of each other (Kuchaiev and Ginsburg)."""

    def __init__(self, num_units, initializer=None, num_proj=None, number_of_groups=1, forget_bias=1.0, activation=tf.tanh,
                 reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer, self._num_proj, self._groups = num_units, initializer, num_proj, number_of_groups
        self._forget_bias, self._activation = forget_bias, activation
        if num_units % number_of_groups or (num_proj or 0) % number_of_groups:
            raise ValueError("num_units %d and num_proj %s must be multiples of number_of_groups %d" % (
                num_units, num_proj, number_of_groups))

    output_size = property(lambda self: self._num_proj or self._num_units)
    state_size = property(lambda self: LSTMStateTuple(self._num_units, self.output_size))

    def call(self, inputs, state):
        c_prev, m_prev = state
        n, count, kind = self._num_units, self._groups, inputs.dtype.base_dtype
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            rows = []
            for g, (x, m) in enumerate(zip(tf.split(inputs, count, axis=1), tf.split(m_prev, count, axis=1))):
                with tf.variable_scope("group%d" % g):
                    rows.append(tf.split(linear(tf.concat([x, m], 1), 4 * n // count, False), 4, axis=1))
            biases = [tf.get_variable("bias_" + k, [n], dtype=kind, initializer=tf.zeros_initializer()) for k in "ijfo"]
            i, j, f, o = (tf.nn.bias_add(tf.concat(parts, 1), b) for parts, b in zip(zip(*rows), biases))
            c = tf.sigmoid(f + self._forget_bias) * c_prev + tf.sigmoid(i) * tf.tanh(j)
            m = tf.sigmoid(o) * self._activation(c)
            if self._num_proj is not None:
                with tf.variable_scope("projection"):
                    m = linear(m, self._num_proj, False)
        return m, LSTMStateTuple(c, m)


class NASCell(LayerRNNCell):
    """The cell found by a search over architectures (Zoph and Le)."""

    def __init__(self, num_units, num_proj=None, use_bias=False, reuse=None, **kwargs):
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    output_size = property(lambda self: self._num_proj or self._num_units)
    state_size = property(lambda self: LSTMStateTuple(self._num_units, self.output_size))

    def build(self, inputs_shape):
        n = self._num_units
        self._recurrent = self.add_weight("recurrent_kernel", [self.output_size, 8 * n])
        self._kernel = self.add_weight("kernel", [self._width(inputs_shape), 8 * n])
        self._bias = self.add_weight("bias", [8 * n], initializer=tf.zeros_initializer()) if self._use_bias else None
        if self._num_proj is not None:
            self._projection = self.add_weight("projection_weights", [n, self._num_proj])
        self.built = True

    def call(self, inputs, state):
        c_prev, m_prev = state
        sigmoid, tanh, relu = tf.sigmoid, tf.tanh, tf.nn.relu
        old = tf.matmul(m_prev, self._recurrent)
        old = old if self._bias is None else tf.nn.bias_add(old, self._bias)
        a, b = tf.split(tf.matmul(inputs, self._kernel), 8, axis=1), tf.split(old, 8, axis=1)
        first = [sigmoid(a[0] + b[0]), relu(a[1] + b[1]), sigmoid(a[2] + b[2]), relu(a[3] * b[3]), tanh(a[4] + b[4]),
                 sigmoid(a[5] + b[5]), tanh(a[6] + b[6]), sigmoid(a[7] + b[7])]
        second = [tanh(first[0] * first[1]), tanh(first[2] + first[3]), tanh(first[4] * first[5]), sigmoid(first[6] + first[7])]
        new_c = tanh(second[0] + c_prev) * second[1]
        new_m = tanh(new_c * tanh(second[2] + second[3]))
        if self._num_proj is not None:
            new_m = tf.matmul(new_m, self._projection)
        return new_m, LSTMStateTuple(new_c, new_m)


class ConvLSTMCell(RNNCell):
    """An LSTM whose linear maps are convolutions. input_shape does not include the batch."""

    def __init__(self, conv_ndims, input_shape, output_channels, kernel_shape, use_bias=True, skip_connection=False,
                 forget_bias=1.0, initializers=None, name="conv_lstm_cell"):
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError("Invalid input_shape %s for conv_ndims=%d." % (input_shape, conv_ndims))
        self._conv_ndims, self._input_shape, self._output_channels = conv_ndims, list(input_shape), output_channels
        self._kernel_shape, self._use_bias, self._skip_connection = list(kernel_shape), use_bias, skip_connection
        self._forget_bias, self._initializers = forget_bias, initializers

    @property
    def output_size(self):
        more = self._input_shape[-1] if self._skip_connection else 0
        return tf.TensorShape(self._input_shape[:-1] + [self._output_channels + more])

    @property
    def state_size(self):
        return LSTMStateTuple(tf.TensorShape(self._input_shape[:-1] + [self._output_channels]), self.output_size)

    def _conv(self, x):
        n, ndims, kind = 4 * self._output_channels, self._conv_ndims, x.dtype.base_dtype
        kernel = tf.get_variable("kernel", self._kernel_shape + [known_width(x), n], dtype=kind, initializer=self._initializers)
        fn = {1: lambda: tf.nn.conv1d(x, kernel, 1, "SAME"), 2: lambda: tf.nn.conv2d(x, kernel, [1] * 4, "SAME"),
              3: lambda: tf.nn.conv3d(x, kernel, [1] * 5, "SAME")}[ndims]
        made = fn()
        if not self._use_bias:
            return made
        return made + tf.get_variable("biases", [n], dtype=kind, initializer=tf.zeros_initializer())

    def call(self, inputs, state):
        cell, hidden = state
        i, j, f, o = tf.split(self._conv(tf.concat([inputs, hidden], -1)), 4, axis=self._conv_ndims + 1)
        new = tf.sigmoid(f + self._forget_bias) * cell + tf.sigmoid(i) * tf.tanh(j)
        out = tf.tanh(new) * tf.sigmoid(o)
        if self._skip_connection:
            out = tf.concat([out, inputs], -1)
        return out, LSTMStateTuple(new, out)


class Conv1DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell of sequences."""

    def __init__(self, name="conv_1d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell of images."""

    def __init__(self, name="conv_2d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell of volumes."""

    def __init__(self, name="conv_3d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=3, name=name, **kwargs)
