"""Additional recurrent cells of tf.contrib.rnn, and wrappers of cells."""
import weft as tf
from weft._core.contrib.rnn.parts import LayerRNNCell, LSTMStateTuple, RNNCell, known_width, linear
from weft._core.framework import nest


class UGRNNCell(RNNCell):
    """A cell with one gate between the old state and the new one (Collins, Sohl-Dickstein and Sussillo)."""

    def __init__(self, num_units, initializer=None, forget_bias=1.0, activation=tf.tanh, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer, self._forget_bias, self._activation = num_units, initializer, forget_bias, activation

    output_size = state_size = property(lambda self: self._num_units)

    def call(self, inputs, state):
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            g, c = tf.split(linear(tf.concat([inputs, state], 1), 2 * self._num_units, True), 2, axis=1)
        gate = tf.sigmoid(g + self._forget_bias)
        new = gate * state + (1.0 - gate) * self._activation(c)
        return new, new


class IntersectionRNNCell(RNNCell):
    """A cell with gates in time and in depth. Inputs must be as wide as the state, or are projected to that width."""

    def __init__(self, num_units, num_in_proj=None, initializer=None, forget_bias=1.0, y_activation=tf.nn.relu, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._num_in_proj, self._initializer = num_units, num_in_proj, initializer
        self._forget_bias, self._y_activation = forget_bias, y_activation

    output_size = state_size = property(lambda self: self._num_units)

    def call(self, inputs, state):
        n = self._num_units
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            if known_width(inputs) != n:
                if not self._num_in_proj:
                    raise ValueError("Must have input size == output size for Intersection RNN. To fix, num_in_proj should be set "
                                     "to num_units at cell init.")
                with tf.variable_scope("in_projection"):
                    inputs = linear(inputs, n, True)
            gh, h, gy, y = tf.split(linear(tf.concat([inputs, state], 1), 4 * n, True), 4, axis=1)
        in_time, in_depth = tf.sigmoid(gh + self._forget_bias), tf.sigmoid(gy + self._forget_bias)
        new = in_time * state + (1.0 - in_time) * tf.tanh(h)
        return in_depth * inputs + (1.0 - in_depth) * self._y_activation(y), new


class SRUCell(LayerRNNCell):
    """A cell whose state is not multiplied by a matrix (Lei, Zhang and Artzi)."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self._num_units, self._activation = num_units, activation or tf.tanh

    output_size = state_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        self._kernel = self.add_weight("kernel", [self._width(inputs_shape), 4 * self._num_units])
        self._bias = self.add_weight("bias", [2 * self._num_units], initializer=tf.zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        new, f, r, x = tf.split(tf.matmul(inputs, self._kernel), 4, axis=1)
        f, r = tf.split(tf.sigmoid(tf.nn.bias_add(tf.concat([f, r], 1), self._bias)), 2, axis=1)
        c = f * state + (1.0 - f) * new
        return r * self._activation(c) + (1.0 - r) * x, c


def _between_ones():
    return tf.random_uniform_initializer(-1.0, 1.0)


class IndRNNCell(LayerRNNCell):
    """A cell whose units depend only on their own previous value."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._activation = num_units, activation or tf.tanh

    output_size = state_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        n = self._num_units
        self._kernel_w = self.add_weight("kernel_w", [self._width(inputs_shape), n])
        self._kernel_u = self.add_weight("kernel_u", [1, n], initializer=_between_ones())
        self._bias = self.add_weight("bias", [n], initializer=tf.zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        out = self._activation(tf.nn.bias_add(tf.matmul(inputs, self._kernel_w) + state * self._kernel_u, self._bias))
        return out, out


class IndyGRUCell(LayerRNNCell):
    """A GRU whose units depend only on their own previous value."""

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None, name=None, dtype=None):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._activation = num_units, activation or tf.tanh
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    output_size = state_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        self._parts, width = {}, self._width(inputs_shape)
        for name, n, start in (("gates", 2 * self._num_units, 1.0), ("candidate", self._num_units, 0.0)):
            self._parts[name] = (
                self.add_weight(name + "/kernel_w", [width, n], initializer=self._kernel_initializer),
                self.add_weight(name + "/kernel_u", [1, n], initializer=_between_ones()),
                self.add_weight(name + "/bias", [n], initializer=self._bias_initializer or tf.constant_initializer(start)))
        self.built = True

    def _map(self, name, inputs, state):
        w, u, b = self._parts[name]
        return tf.nn.bias_add(tf.matmul(inputs, w) + state * u, b)

    def call(self, inputs, state):
        r, u = tf.split(tf.sigmoid(self._map("gates", inputs, tf.tile(state, [1, 2]))), 2, axis=1)
        new = u * state + (1 - u) * self._activation(self._map("candidate", inputs, r * state))
        return new, new


class IndyLSTMCell(LayerRNNCell):
    """An LSTM whose units depend only on their own previous value."""

    def __init__(self, num_units, forget_bias=1.0, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None,
                 name=None, dtype=None):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation or tf.tanh
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    output_size = property(lambda self: self._num_units)
    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))

    def build(self, inputs_shape):
        n = 4 * self._num_units
        self._kernel_w = self.add_weight("kernel_w", [self._width(inputs_shape), n], initializer=self._kernel_initializer)
        self._kernel_u = self.add_weight("kernel_u", [1, n], initializer=_between_ones())
        self._bias = self.add_weight("bias", [n], initializer=self._bias_initializer or tf.zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        c, h = state
        gates = tf.nn.bias_add(tf.matmul(inputs, self._kernel_w) + tf.tile(h, [1, 4]) * self._kernel_u, self._bias)
        i, j, f, o = tf.split(gates, 4, axis=1)
        new_c = c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * self._activation(j)
        new_h = self._activation(new_c) * tf.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


# ---- wrappers of cells ----

class AttentionCellWrapper(RNNCell):
    """Wraps a cell with attention to its own last outputs (Bahdanau et al.)."""

    def __init__(self, cell, attn_length, attn_size=None, attn_vec_size=None, input_size=None, state_is_tuple=True, reuse=None):
        super().__init__(_reuse=reuse)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError("Cell returns tuple of states, but the flag state_is_tuple is not set. State size is: %s" % (
                cell.state_size,))
        if attn_length <= 0:
            raise ValueError("attn_length should be greater than zero, got %s" % attn_length)
        self._cell, self._attn_length, self._input_size, self._state_is_tuple = cell, attn_length, input_size, state_is_tuple
        self._attn_size = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = self._attn_size if attn_vec_size is None else attn_vec_size

    output_size = property(lambda self: self._attn_size)

    @property
    def state_size(self):
        sizes = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length)
        return sizes if self._state_is_tuple else sum(sizes)

    def call(self, inputs, state):
        if self._state_is_tuple:
            state, read, memory = state
        else:
            state, read, memory = tf.split(state, [self._cell.state_size, self._attn_size, self._attn_size * self._attn_length], 1)
        memory = tf.reshape(memory, [-1, self._attn_length, self._attn_size])
        inputs = linear([inputs, read], self._input_size or known_width(inputs), True)
        out, new_state = self._cell(inputs, state)
        query = tf.concat(nest.flatten(new_state), 1) if self._state_is_tuple else new_state
        read, kept = self._attention(query, memory)
        with tf.variable_scope("attn_output_projection"):
            out = linear([out, read], self._attn_size, True)
        memory = tf.reshape(tf.concat([kept, tf.expand_dims(out, 1)], 1), [-1, self._attn_length * self._attn_size])
        new = (new_state, read, memory)
        return out, new if self._state_is_tuple else tf.concat(list(new), 1)

    def _attention(self, query, memory):
        """Returns (the attention, the memory without its oldest output)."""
        n, kind = self._attn_vec_size, query.dtype.base_dtype
        with tf.variable_scope("attention"):
            k = tf.get_variable("attn_w", [1, 1, self._attn_size, n], dtype=kind)
            v = tf.get_variable("attn_v", [n], dtype=kind)
            hidden = tf.reshape(memory, [-1, self._attn_length, 1, self._attn_size])
            features = tf.nn.conv2d(hidden, k, [1, 1, 1, 1], "SAME")
            y = tf.reshape(linear(query, n, True), [-1, 1, 1, n])
            share = tf.nn.softmax(tf.reduce_sum(v * tf.tanh(features + y), [2, 3]))
            read = tf.reduce_sum(tf.reshape(share, [-1, self._attn_length, 1, 1]) * hidden, [1, 2])
            return tf.reshape(read, [-1, self._attn_size]), memory[:, 1:]


class HighwayWrapper(RNNCell):
    """Wraps a cell with a gate that passes inputs around it. Its variables are in the outer scope."""

    def __init__(self, cell, couple_carry_transform_gates=True, carry_bias_init=1.0):
        super().__init__()
        self._cell, self._couple, self._carry_bias_init = cell, couple_carry_transform_gates, carry_bias_init

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)

    def zero_state(self, batch_size, dtype):
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    @staticmethod
    def _gate(x, name, start):
        n, kind = known_width(x), x.dtype.base_dtype
        w = tf.get_variable(name + "_w", [n, n], dtype=kind)
        b = tf.get_variable(name + "_b", [n], dtype=kind, initializer=tf.constant_initializer(start))
        return tf.sigmoid(tf.nn.xw_plus_b(x, w, b))

    def _highway(self, x, out):
        carry = self._gate(x, "carry", self._carry_bias_init)
        return x * carry + out * (1 - carry if self._couple else self._gate(x, "transform", -self._carry_bias_init))

    def __call__(self, inputs, state, scope=None):
        out, state = self._cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, out)
        for x, y in zip(nest.flatten(inputs), nest.flatten(out)):
            x.shape.assert_is_compatible_with(y.shape)
        return nest.map_structure(self._highway, inputs, out), state


class EmbeddingWrapper(RNNCell):
    """Wraps a cell so that its inputs are ids, which are looked up in an embedding."""

    def __init__(self, cell, embedding_classes, embedding_size, initializer=None, reuse=None):
        super().__init__(_reuse=reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError("Both embedding_classes and embedding_size must be > 0: %d, %d." % (embedding_classes, embedding_size))
        self._cell, self._classes, self._size, self._initializer = cell, embedding_classes, embedding_size, initializer

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)

    def zero_state(self, batch_size, dtype):
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def call(self, inputs, state):
        start = self._initializer or tf.get_variable_scope().initializer or tf.random_uniform_initializer(-3 ** 0.5, 3 ** 0.5)
        with tf.device("/cpu:0"):
            table = tf.get_variable("embedding", [self._classes, self._size], initializer=start,
                                    dtype=nest.flatten(state)[0].dtype.base_dtype)
            rows = tf.nn.embedding_lookup(table, tf.reshape(inputs, [-1]))
        return self._cell(rows, state)


class InputProjectionWrapper(RNNCell):
    """Wraps a cell with a linear map of its inputs."""

    def __init__(self, cell, num_proj, activation=None, input_size=None, reuse=None):
        super().__init__(_reuse=reuse)
        self._input_size = input_size
        if input_size is not None:
            tf.logging.warn("%s: The input_size parameter is deprecated.", self)
        self._cell, self._num_proj, self._activation = cell, num_proj, activation

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)

    def zero_state(self, batch_size, dtype):
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def call(self, inputs, state):
        made = linear(inputs, self._num_proj, True)
        return self._cell(made if self._activation is None else self._activation(made), state)


class OutputProjectionWrapper(RNNCell):
    """Wraps a cell with a linear map of its outputs."""

    def __init__(self, cell, output_size, activation=None, reuse=None):
        super().__init__(_reuse=reuse)
        if output_size < 1:
            raise ValueError("Parameter output_size must be > 0: %d." % output_size)
        self._cell, self._output_size, self._activation = cell, output_size, activation

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._output_size)

    def zero_state(self, batch_size, dtype):
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def call(self, inputs, state):
        out, state = self._cell(inputs, state)
        made = linear(out, self._output_size, True)
        return (made if self._activation is None else self._activation(made)), state


class CompiledWrapper(RNNCell):
    """Returns the results of the cell unchanged, because Weft has no compiler of cells."""

    def __init__(self, cell, compile_stateful=False):
        super().__init__()
        if compile_stateful:
            raise NotImplementedError("tf.contrib.rnn.CompiledWrapper(compile_stateful=True) is not in Weft: leave it out")
        self._cell = cell

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)

    def __call__(self, inputs, state, scope=None):
        return self._cell(inputs, state, scope=scope)
