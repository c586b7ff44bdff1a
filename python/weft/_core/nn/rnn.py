"""Recurrent cells, and networks unrolled over a list of inputs: tf.nn.rnn_cell and tf.contrib.rnn."""
import collections

from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import get_default_graph
from weft._core.framework.nest import flatten, pack_like
from weft._core.nn import nn
from weft._core.ops import array_ops, init_ops, math_ops
from weft._core.ops.control_flow import while_loop
from weft._core.ops.functional_ops import TensorArray
from weft._core.ops.gradients import clip_by_value
from weft._core.ops.variable_scope import get_variable, get_variable_scope as variable_scope_now, variable_scope

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
                 input_size=None):
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


class LSTMCell(RNNCell):
    """With what BasicLSTMCell has not: a look at c in the gates, limits, and outputs of another width."""
    _name = "lstm_cell"

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
                 num_unit_shards=None, num_proj_shards=None, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None,
                 name=None, dtype=None):
        self._units, self._peep, self._clip, self._start = num_units, use_peepholes, cell_clip, initializer
        self._proj, self._proj_clip, self._forget, self._tuple = num_proj, proj_clip, forget_bias, state_is_tuple
        self._activation, self._reuse, self._name = activation or math_ops.tanh, reuse, name or self._name
        if num_unit_shards is not None or num_proj_shards is not None:
            raise NotImplementedError("LSTMCell(num_unit_shards, num_proj_shards) are not in Weft: give a partitioner to the "
                                      "variable scope")

    output_size = property(lambda self: self._proj or self._units)

    @property
    def state_size(self):
        two = LSTMStateTuple(self._units, self.output_size)
        return two if self._tuple else sum(two)

    def call(self, inputs, state):
        c, h = state if self._tuple else array_ops.split(state, [self._units, self.output_size], 1)
        with variable_scope(variable_scope_now(), initializer=self._start):
            x = array_ops.concat([inputs, h], 1)
            kind = x.dtype.base_dtype
            kernel = get_variable("kernel", [x.shape.as_list()[1], 4 * self._units], kind)
            bias = get_variable("bias", [4 * self._units], kind, init_ops.Zeros())
            i, j, f, o = array_ops.split(nn.bias_add(math_ops.matmul(x, kernel), bias), 4, 1)
            look = {k: get_variable("w_%s_diag" % k, [self._units], kind) for k in "fio"} if self._peep else {}

            def gate(v, key, of):
                return math_ops.sigmoid(v + look[key] * of if look else v)
            c = gate(f + self._forget, "f", c) * c + gate(i, "i", c) * self._activation(j)
            if self._clip is not None:
                c = clip_by_value(c, -self._clip, self._clip)
            h = gate(o, "o", c) * self._activation(c)
            if self._proj is not None:
                h = math_ops.matmul(h, get_variable("projection/kernel", [self._units, self._proj], kind))
                h = h if self._proj_clip is None else clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._tuple else array_ops.concat([c, h], 1)


class BasicRNNCell(RNNCell):
    _name = "basic_rnn_cell"

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None):
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

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None, name=None,
                 dtype=None):
        super().__init__(num_units, activation, reuse, name)
        self._kernel, self._bias = kernel_initializer, bias_initializer

    def call(self, inputs, state):
        x, n = array_ops.concat([inputs, state], 1), self._units
        kernel = get_variable("gates/kernel", [x.shape.as_list()[1], 2 * n], x.dtype.base_dtype, self._kernel)
        bias = get_variable("gates/bias", [2 * n], x.dtype.base_dtype, self._bias or init_ops.Ones())
        r, u = array_ops.split(math_ops.sigmoid(nn.bias_add(math_ops.matmul(x, kernel), bias)), 2, 1)
        y = array_ops.concat([inputs, r * state], 1)
        kernel = get_variable("candidate/kernel", [x.shape.as_list()[1], n], x.dtype.base_dtype, self._kernel)
        bias = get_variable("candidate/bias", [n], x.dtype.base_dtype, self._bias or init_ops.Zeros())
        c = self._activation(nn.bias_add(math_ops.matmul(y, kernel), bias))
        out = u * state + (1 - u) * c
        return out, out


class MultiRNNCell(RNNCell):
    _name = "multi_rnn_cell"

    def __init__(self, cells, state_is_tuple=True):
        if not isinstance(cells, (list, tuple)):
            raise TypeError("cells must be a list or tuple, but saw: %s." % cells)
        self._cells, self._tuple = cells, state_is_tuple

    @property
    def state_size(self):
        sizes = tuple(c.state_size for c in self._cells)
        return sizes if self._tuple else sum(sizes)

    output_size = property(lambda self: self._cells[-1].output_size)

    def call(self, inputs, state):
        states = []
        state = state if self._tuple else array_ops.split(state, [c.state_size for c in self._cells], 1)
        for i, (cell, old) in enumerate(zip(self._cells, state)):
            with variable_scope("cell_%d" % i):
                inputs, new = cell(inputs, old)
            states.append(new)
        return inputs, tuple(states) if self._tuple else array_ops.concat(states, 1)


class _Wrapper(RNNCell):
    def __init__(self, cell):
        self._cell = cell

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)


class DropoutWrapper(_Wrapper):
    def __init__(self, cell, input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0, variational_recurrent=False,
                 input_size=None, dtype=None, seed=None):
        super().__init__(cell)
        if variational_recurrent:
            raise NotImplementedError("DropoutWrapper(variational_recurrent=True) is not in Weft: leave it out")
        self._in, self._out, self._state, self._seed = input_keep_prob, output_keep_prob, state_keep_prob, seed

    def __call__(self, inputs, state, scope=None):
        def kept(x, p):
            return x if isinstance(p, (int, float)) and p == 1 else nn.dropout(x, p, seed=self._seed)

        def kept_state(x):
            """The c of an LSTM is never dropped."""
            if isinstance(x, LSTMStateTuple):
                return LSTMStateTuple(x.c, kept(x.h, self._state))
            return tuple(kept_state(v) for v in x) if isinstance(x, (list, tuple)) else kept(x, self._state)
        out, state = self._cell(kept(inputs, self._in), state, scope)
        return kept(out, self._out), kept_state(state)


class ResidualWrapper(_Wrapper):
    def __init__(self, cell, residual_fn=None):
        super().__init__(cell)
        self._add = residual_fn or math_ops.add

    def __call__(self, inputs, state, scope=None):
        out, state = self._cell(inputs, state, scope)
        return self._add(inputs, out), state


class DeviceWrapper(_Wrapper):
    def __init__(self, cell, device):
        super().__init__(cell)
        self._device = device

    def __call__(self, inputs, state, scope=None):
        with get_default_graph().device(self._device):
            return self._cell(inputs, state, scope)


def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
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
        outputs, lengths = [], _lengths(sequence_length)
        for i, x in enumerate(inputs):
            out, new = cell(x, state)
            if lengths is not None:
                alive = i < lengths
                out = _masked(alive, out, array_ops.zeros_like(out))
                new = pack_like(new, [_masked(alive, a, b) for a, b in zip(flatten(new), flatten(state))])
            state = new
            outputs.append(out)
        return outputs, state


rnn = static_rnn


def _masked(alive, new, old):
    """Rows whose sequence has ended keep the old value."""
    return array_ops.where(alive, new, old)


def _lengths(sequence_length):
    return None if sequence_length is None else math_ops.cast(convert_to_tensor(sequence_length), dtypes.int32)


def _turned(x, lengths, time_axis):
    """Back to front; with lengths each row as far as it goes."""
    if lengths is None:
        return array_ops.reverse(x, [time_axis])
    return array_ops.reverse_sequence(x, lengths, seq_axis=time_axis, batch_axis=1 - time_axis)


def bidirectional_dynamic_rnn(cell_fw, cell_bw, inputs, sequence_length=None, initial_state_fw=None, initial_state_bw=None,
                              dtype=None, parallel_iterations=None, swap_memory=False, time_major=False, scope=None):
    """((outputs forwards, outputs backwards), (state, state))"""
    axis, lengths = 0 if time_major else 1, _lengths(sequence_length)
    with variable_scope(scope or "bidirectional_rnn"):
        x = convert_to_tensor(inputs)
        ahead, first = dynamic_rnn(cell_fw, x, lengths, initial_state_fw, dtype, parallel_iterations, swap_memory, time_major,
                                   scope="fw")
        back, last = dynamic_rnn(cell_bw, _turned(x, lengths, axis), lengths, initial_state_bw, dtype, parallel_iterations,
                                 swap_memory, time_major, scope="bw")
        return (ahead, _turned(back, lengths, axis)), (first, last)


def static_bidirectional_rnn(cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None,
                             sequence_length=None, scope=None):
    """(outputs of both side by side, state forwards, state backwards)"""
    lengths = _lengths(sequence_length)

    def turned(xs):
        return xs[::-1] if lengths is None else array_ops.unstack(_turned(array_ops.stack(xs), lengths, 0))
    with variable_scope(scope or "bidirectional_rnn"):
        ahead, first = static_rnn(cell_fw, inputs, initial_state_fw, dtype, lengths, scope="fw")
        back, last = static_rnn(cell_bw, turned(list(inputs)), initial_state_bw, dtype, lengths, scope="bw")
        return [array_ops.concat([a, b], 1) for a, b in zip(ahead, turned(back))], first, last


def raw_rnn(cell, loop_fn, parallel_iterations=None, swap_memory=False, scope=None):
    """A loop whose inputs, states and end loop_fn(time, output, state, loop_state) decides: (TensorArray, state, loop_state)."""
    with variable_scope(scope or "rnn"):
        time = convert_to_tensor(0)
        done, first, state, emit, loop_state = loop_fn(time, None, None, None)
        inputs, states, kept = flatten(first), flatten(state), [] if loop_state is None else flatten(loop_state)
        rows = array_ops.shape(inputs[0])[0]
        like = emit if emit is not None else cell.output_size
        kinds = [e.dtype.base_dtype if emit is not None else inputs[0].dtype.base_dtype for e in flatten(like)]
        widths = [e.shape.as_list() if emit is not None else [e] for e in flatten(like)]
        outs = [TensorArray(k, 0, dynamic_size=True, element_shape=[inputs[0].shape.as_list()[0]] + w) for k, w in zip(kinds, widths)]
        blank = [array_ops.zeros(array_ops.concat([array_ops.stack([rows]), w], 0) if w else array_ops.stack([rows]), k)
                 for k, w in zip(kinds, widths)]

        def body(i, ended, *rest):
            at = [len(outs), len(outs) + len(inputs), len(outs) + len(inputs) + len(states)]
            flows, xs, old, more = rest[:at[0]], rest[at[0]:at[1]], rest[at[1]:at[2]], rest[at[2]:]
            made, new = cell(pack_like(first, list(xs)), pack_like(state, list(old)))
            then, x, new, out, extra = loop_fn(i + 1, made, new, pack_like(loop_state, list(more)) if kept else None)
            out = [_masked(ended, b, o) for b, o in zip(blank, flatten(made if out is None else out))]
            new = [_masked(ended, a, b) for a, b in zip(old, flatten(new))]
            flows = [ta._with(f).write(i, o).flow for ta, f, o in zip(outs, flows, out)]
            return [i + 1, math_ops.logical_or(then, ended)] + flows + flatten(x) + new + (flatten(extra) if kept else [])
        begin = [time, done] + [ta.flow for ta in outs] + inputs + states + kept
        loop = while_loop(lambda i, ended, *_: math_ops.logical_not(math_ops.reduce_all(ended)), body, begin,
                          return_same_structure=True, parallel_iterations=parallel_iterations or 32,
                          shape_invariants=[_loosely(convert_to_tensor(v)) for v in begin])
        rest = loop[2 + len(outs):]
        found = [ta._with(f) for ta, f in zip(outs, loop[2:])]
        last = pack_like(state, rest[len(inputs):len(inputs) + len(states)])
        return pack_like(like, found), last, pack_like(loop_state, rest[len(inputs) + len(states):]) if kept else None


def _loosely(x):
    """The shape that a loop keeps: how many rows there are may be learnt later."""
    return x.shape if x.shape.ndims in (None, 0) else tensor_shape.TensorShape([None] + x.shape.as_list()[1:])


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
        lengths = _lengths(sequence_length)
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
