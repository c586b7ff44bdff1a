"""Recurrent cells, and networks unrolled over a list of inputs: tf.nn.rnn_cell and tf.contrib.rnn."""
import collections

from . import array_ops, dtypes, init_ops, math_ops, nn, tensor_shape
from .build import convert_to_tensor
from .control_flow import while_loop
from .functional_ops import TensorArray
from .nest import flatten, pack_like
from .variable_scope import get_variable, variable_scope

LSTMStateTuple = collections.namedtuple("LSTMStateTuple", ["c", "h"])


class RNNCell:
    """output, state = cell(inputs, state)"""

    _name = "rnn_cell"

    def zero_state(self, batch_size, dtype):
        return pack_like(self.state_size, [array_ops.zeros(
            array_ops.stack([batch_size, n]) if not isinstance(batch_size, int) else [batch_size, n], dtype)
            for n in flatten(self.state_size)])

    def __call__(self, inputs, state, scope=None):
        with variable_scope(scope or self._scope_name(), reuse=self._reuse):
            made = self.call(convert_to_tensor(inputs), state)
        self._reuse = True
        return made

    _reuse = None

    def _scope_name(self):
        return self._name


class BasicLSTMCell(RNNCell):
    _name = "basic_lstm_cell"

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None, dtype=None,
                 input_size=None, **kwargs):
        self._units, self._forget, self._tuple = num_units, forget_bias, state_is_tuple
        self._activation, self._reuse = activation or math_ops.tanh, reuse
        self._name = name or self._name

    @property
    def state_size(self):
        return LSTMStateTuple(self._units, self._units) if self._tuple else 2 * self._units

    output_size = property(lambda self: self._units)

    def call(self, inputs, state):
        c, h = state if self._tuple else array_ops.split(state, 2, 1)
        x = array_ops.concat([inputs, h], 1)
        kernel = get_variable("kernel", [x.shape.as_list()[1], 4 * self._units], x.dtype.base_dtype)
        bias = get_variable("bias", [4 * self._units], x.dtype.base_dtype, init_ops.Zeros())
        i, j, f, o = array_ops.split(nn.bias_add(math_ops.matmul(x, kernel), bias), 4, 1)
        c = c * math_ops.sigmoid(f + self._forget) + math_ops.sigmoid(i) * self._activation(j)
        h = self._activation(c) * math_ops.sigmoid(o)
        return h, LSTMStateTuple(c, h) if self._tuple else array_ops.concat([c, h], 1)


class LSTMCell(BasicLSTMCell):
    _name = "lstm_cell"


class BasicRNNCell(RNNCell):
    _name = "basic_rnn_cell"

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        self._units, self._activation, self._reuse = num_units, activation or math_ops.tanh, reuse
        self._name = name or self._name

    state_size = output_size = property(lambda self: self._units)

    def call(self, inputs, state):
        x = array_ops.concat([inputs, state], 1)
        kernel = get_variable("kernel", [x.shape.as_list()[1], self._units], x.dtype.base_dtype)
        bias = get_variable("bias", [self._units], x.dtype.base_dtype, init_ops.Zeros())
        out = self._activation(nn.bias_add(math_ops.matmul(x, kernel), bias))
        return out, out


class GRUCell(BasicRNNCell):
    _name = "gru_cell"

    def call(self, inputs, state):
        x, n = array_ops.concat([inputs, state], 1), self._units
        kernel = get_variable("gates/kernel", [x.shape.as_list()[1], 2 * n], x.dtype.base_dtype)
        bias = get_variable("gates/bias", [2 * n], x.dtype.base_dtype, init_ops.Ones())
        r, u = array_ops.split(math_ops.sigmoid(nn.bias_add(math_ops.matmul(x, kernel), bias)), 2, 1)
        y = array_ops.concat([inputs, r * state], 1)
        kernel = get_variable("candidate/kernel", [x.shape.as_list()[1], n], x.dtype.base_dtype)
        bias = get_variable("candidate/bias", [n], x.dtype.base_dtype, init_ops.Zeros())
        c = self._activation(nn.bias_add(math_ops.matmul(y, kernel), bias))
        out = u * state + (1 - u) * c
        return out, out


class MultiRNNCell(RNNCell):
    _name = "multi_rnn_cell"

    def __init__(self, cells, state_is_tuple=True):
        if not isinstance(cells, (list, tuple)):
            raise TypeError("cells must be a list or tuple, but saw: %s." % cells)
        self._cells = cells

    state_size = property(lambda self: tuple(c.state_size for c in self._cells))
    output_size = property(lambda self: self._cells[-1].output_size)

    def call(self, inputs, state):
        states = []
        for i, (cell, old) in enumerate(zip(self._cells, state)):
            with variable_scope("cell_%d" % i):
                inputs, new = cell(inputs, old)
            states.append(new)
        return inputs, tuple(states)


class DropoutWrapper(RNNCell):
    def __init__(self, cell, input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0, seed=None, **kwargs):
        self._cell, self._in, self._out, self._seed = cell, input_keep_prob, output_keep_prob, seed

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)

    def __call__(self, inputs, state, scope=None):
        def kept(x, p):
            return x if isinstance(p, (int, float)) and p == 1 else nn.dropout(x, p, seed=self._seed)
        out, state = self._cell(kept(inputs, self._in), state, scope)
        return kept(out, self._out), state


def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    if sequence_length is not None:
        raise NotImplementedError("tf.contrib.rnn.static_rnn(sequence_length=...) is not in Weft")
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise TypeError("inputs must be a sequence")
    with variable_scope(scope or "rnn"):
        first = convert_to_tensor(inputs[0])
        batch = first.shape.as_list()[0]
        state = initial_state
        if state is None:
            if dtype is None:
                raise ValueError("If no initial_state is provided, dtype must be specified")
            state = cell.zero_state(array_ops.shape(first)[0] if batch is None else batch, dtype)
        outputs = []
        for x in inputs:
            out, state = cell(x, state)
            outputs.append(out)
        return outputs, state


rnn = static_rnn


def _masked(alive, new, old):
    """Rows whose sequence has ended keep the old value."""
    return array_ops.where(alive, new, old)


def dynamic_rnn(cell, inputs, sequence_length=None, initial_state=None, dtype=None, parallel_iterations=None,
                swap_memory=False, time_major=False, scope=None):
    with variable_scope(scope or "rnn"):
        x = convert_to_tensor(inputs)
        x = x if time_major else array_ops.transpose(x, [1, 0] + list(range(2, x.shape.ndims)))
        steps, batch = x.shape.as_list()[:2]
        n = array_ops.shape(x)[0] if steps is None else convert_to_tensor(steps)
        rows = array_ops.shape(x)[1] if batch is None else batch
        if initial_state is None:
            if dtype is None:
                raise ValueError("If there is no initial_state, you must give a dtype.")
            initial_state = cell.zero_state(rows, dtype)
        lengths = None if sequence_length is None else math_ops.cast(convert_to_tensor(sequence_length), dtypes.int32)
        state = [convert_to_tensor(s) for s in flatten(initial_state)]
        source = TensorArray(x.dtype.base_dtype, n).unstack(x)
        out = TensorArray(state[0].dtype.base_dtype, n, element_shape=[batch, cell.output_size])

        def body(i, flow, *old):
            row = source.read(i)
            row.set_shape([batch] + x.shape.as_list()[2:])
            made, new = cell(row, pack_like(initial_state, list(old)))
            new = flatten(new)
            if lengths is not None:
                alive = i < lengths
                made = _masked(alive, made, array_ops.zeros_like(made))
                new = [_masked(alive, a, b) for a, b in zip(new, old)]
            return [i + 1, out._with(flow).write(i, made).flow] + new
        loop = while_loop(lambda i, *_: i < n, body, [convert_to_tensor(0), out.flow] + state, return_same_structure=True,
                          shape_invariants=[tensor_shape.scalar(), tensor_shape.TensorShape(None)] + [
                              tensor_shape.TensorShape([batch] + s.shape.as_list()[1:]) for s in state],
                          parallel_iterations=parallel_iterations or 32)
        outputs = out._with(loop[1]).stack()
        outputs.set_shape([steps, batch, cell.output_size])
        outputs = outputs if time_major else array_ops.transpose(outputs, [1, 0, 2])
        return outputs, pack_like(initial_state, loop[2:])
