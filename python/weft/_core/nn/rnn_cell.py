"""Recurrent cells: tf.nn.rnn_cell and tf.contrib.rnn.

A cell is a layer whose call(inputs, state) returns the output and the new state.
"""
import collections
import hashlib
import numbers

from weft._core.framework import dtypes
from weft._core.framework.build import constant, constant_value, convert_to_tensor
from weft._core.framework.graph import Tensor, get_default_graph, name_scope
from weft._core.framework.nest import flatten, is_nested, map_structure, pack_like
from weft._core.framework.tensor_shape import TensorShape
from weft._core.framework.trackable import is_trackable
from weft._core.nn import nn
from weft._core.nn.base_layer import Layer
from weft._core.ops import array_ops, init_ops, math_ops, random_ops
from weft._core.ops.functional_ops import TensorArray
from weft._core.ops.gradients import clip_by_value
from weft._core.ops.variable_scope import fixed_size_partitioner, get_variable_scope, variable_scope
from weft._core.platform import logging


class LSTMStateTuple(collections.namedtuple("LSTMStateTuple", ["c", "h"])):
    """The state of an LSTM cell: the cell state c and the output h."""

    __slots__ = ()

    @property
    def dtype(self):
        """The type of both parts."""
        if self.c.dtype != self.h.dtype:
            raise TypeError("Inconsistent dtypes for internal state: %s vs %s" % (self.c.dtype, self.h.dtype))
        return self.c.dtype


_KERNEL, _BIAS = "kernel", "bias"
_WEIGHTS_VARIABLE_NAME, _BIAS_VARIABLE_NAME = _KERNEL, _BIAS  # TensorFlow's names of the two, which programs import


def _row(size):
    """Returns a size as a vector."""
    if isinstance(size, Tensor):
        return array_ops.expand_dims(size, 0) if size.shape.ndims == 0 else size
    return constant(TensorShape(size).as_list(), dtypes.int32)


def _zeros(batch_size, size, dtype):
    """Returns zeros with TensorFlow's nodes: the concatenated sizes, the zeros, and the known static shape."""
    made = array_ops.zeros(array_ops.concat([_row(batch_size), _row(size)], 0), dtype)
    known = [constant_value(_row(s)) for s in (batch_size, size)]
    made.set_shape([d for k, s in zip(known, (batch_size, size)) for d in ([None] if k is None else list(k))])
    return made


def _zero_state_tensors(state_size, batch_size, dtype):
    """Returns zeros for each size of a state. Programs with cells of their own call it by this name."""
    return map_structure(lambda size: _zeros(batch_size, size, dtype), state_size)


def _like_rnncell(cell):
    return hasattr(cell, "output_size") and hasattr(cell, "state_size") and callable(cell) and (
        hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state"))


def assert_like_rnncell(cell_name, cell):
    """Raises TypeError for an object that is not a cell."""
    if not _like_rnncell(cell):
        raise TypeError("The argument %r (%s) is not an RNNCell: 'output_size' property, 'state_size' property, either 'zero_state' or "
                        "'get_initial_state' method, and a callable are required" % (cell_name, cell))


class RNNCell(Layer):
    """The base of recurrent cells: output, state = cell(inputs, state)"""

    @property
    def state_size(self):
        raise NotImplementedError("%s has no state_size" % type(self).__name__)

    @property
    def output_size(self):
        raise NotImplementedError("%s has no output_size" % type(self).__name__)

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return map_structure(lambda size: _zeros(batch_size, size, dtype), self.state_size)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        if inputs is not None:
            inputs = convert_to_tensor(inputs, name="inputs")
            batch_size, dtype = array_ops.shape(inputs)[0], inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError("batch_size and dtype cannot be None while constructing initial state: batch_size=%s, dtype=%s" % (
                batch_size, dtype))
        return self.zero_state(batch_size, dtype)

    def _remember(self, getter, *args, **kwargs):
        """Makes a variable for call() through the getter, and records it as a variable of the cell."""
        made = getter(*args, **kwargs)
        self._track(made)
        return made

    def __call__(self, inputs, state, scope=None):
        if scope is not None:
            with variable_scope(scope, custom_getter=self._remember) as scope:
                return super().__call__(inputs, state, scope=scope)
        with variable_scope(self.__dict__.setdefault("_first_scope", get_variable_scope()), custom_getter=self._remember):
            return super().__call__(inputs, state)


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in build(), with add_weight."""

    def __call__(self, inputs, state, scope=None, *args, **kwargs):
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

    def _width(self, input_shape):
        width = TensorShape(input_shape).as_list()[-1]
        if width is None:
            raise ValueError("Expected inputs.shape[-1] to be known, saw shape: %s" % input_shape)
        return width

    def get_config(self):
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype, "num_units": self._num_units}


def _activation(given):
    if isinstance(given, str):
        found = getattr(nn, given, None)
        if found is None:
            raise ValueError("Unknown activation function: %s" % given)
        return found
    return given or math_ops.tanh


class BasicRNNCell(LayerRNNCell):
    """The most basic cell: output = new_state = act(W * input + U * state + B)"""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self._num_units, self._activation = num_units, _activation(activation)

    state_size = output_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        self._kernel = self.add_weight(_KERNEL, [self._width(inputs_shape) + self._num_units, self._num_units])
        self._bias = self.add_weight(_BIAS, [self._num_units], initializer=init_ops.Zeros())
        self.built = True

    def call(self, inputs, state):
        made = math_ops.matmul(array_ops.concat([inputs, state], 1), self._kernel)
        out = self._activation(nn.bias_add(made, self._bias))
        return out, out


class GRUCell(LayerRNNCell):
    """A gated recurrent unit, with a reset gate and an update gate."""

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None, name=None,
                 dtype=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self._num_units, self._activation = num_units, _activation(activation)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    state_size = output_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        width, n = self._width(inputs_shape) + self._num_units, self._num_units
        self._gate_kernel = self.add_weight("gates/" + _KERNEL, [width, 2 * n], initializer=self._kernel_initializer)
        self._gate_bias = self.add_weight("gates/" + _BIAS, [2 * n], initializer=self._bias_initializer or init_ops.Constant(1.0))
        self._candidate_kernel = self.add_weight("candidate/" + _KERNEL, [width, n], initializer=self._kernel_initializer)
        self._candidate_bias = self.add_weight("candidate/" + _BIAS, [n], initializer=self._bias_initializer or init_ops.Zeros())
        self.built = True

    def call(self, inputs, state):
        gates = nn.bias_add(math_ops.matmul(array_ops.concat([inputs, state], 1), self._gate_kernel), self._gate_bias)
        r, u = array_ops.split(math_ops.sigmoid(gates), num_or_size_splits=2, axis=1)
        candidate = math_ops.matmul(array_ops.concat([inputs, r * state], 1), self._candidate_kernel)
        c = self._activation(nn.bias_add(candidate, self._candidate_bias))
        out = u * state + (1 - u) * c
        return out, out


class BasicLSTMCell(LayerRNNCell):
    """The LSTM cell of Zaremba et al. LSTMCell has more options."""

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None, dtype=None,
                 input_size=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self._num_units, self._forget_bias, self._state_is_tuple = num_units, forget_bias, state_is_tuple
        self._activation = _activation(activation)

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units) if self._state_is_tuple else 2 * self._num_units

    output_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        n = self._num_units
        self._kernel = self.add_weight(_KERNEL, [self._width(inputs_shape) + n, 4 * n])
        self._bias = self.add_weight(_BIAS, [4 * n], initializer=init_ops.Zeros())
        self.built = True

    def call(self, inputs, state):
        one = constant(1, dtypes.int32)
        c, h = state if self._state_is_tuple else array_ops.split(value=state, num_or_size_splits=2, axis=one)
        gates = nn.bias_add(math_ops.matmul(array_ops.concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=one)
        add, multiply = math_ops.add, math_ops.multiply
        forget = constant(self._forget_bias, f.dtype.base_dtype)
        new_c = add(multiply(c, math_ops.sigmoid(add(f, forget))), multiply(math_ops.sigmoid(i), self._activation(j)))
        new_h = multiply(self._activation(new_c), math_ops.sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h) if self._state_is_tuple else array_ops.concat([new_c, new_h], 1)


def _in_shards(shards):
    """Returns the partitioner of a variable in that many parts, or None for a variable in one."""
    return None if shards is None else fixed_size_partitioner(shards)


class LSTMCell(LayerRNNCell):
    """An LSTM cell with peepholes, clipping and projection, which BasicLSTMCell lacks."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
                 num_unit_shards=None, num_proj_shards=None, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None,
                 name=None, dtype=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self._num_units, self._use_peepholes, self._cell_clip, self._initializer = num_units, use_peepholes, cell_clip, initializer
        self._num_proj, self._proj_clip, self._forget_bias = num_proj, proj_clip, forget_bias
        self._state_is_tuple, self._activation = state_is_tuple, _activation(activation)
        self._unit_shards, self._proj_shards = num_unit_shards, num_proj_shards
        if num_unit_shards is not None or num_proj_shards is not None:
            logging.warning("%s: num_unit_shards and num_proj_shards are deprecated: give a partitioner to the variable scope", self)

    output_size = property(lambda self: self._num_proj or self._num_units)

    @property
    def state_size(self):
        two = LSTMStateTuple(self._num_units, self.output_size)
        return two if self._state_is_tuple else sum(two)

    def build(self, inputs_shape):
        n, start = self._num_units, self._initializer
        self._kernel = self.add_weight(_KERNEL, [self._width(inputs_shape) + self.output_size, 4 * n], initializer=start,
                                       partitioner=_in_shards(self._unit_shards))
        self._bias = self.add_weight(_BIAS, [4 * n], initializer=init_ops.Zeros())
        self._diagonals = {k: self.add_weight("w_%s_diag" % k, [n], initializer=start) for k in "fio"} if self._use_peepholes else {}
        if self._num_proj is not None:
            self._proj_kernel = self.add_weight("projection/" + _KERNEL, [n, self._num_proj], initializer=start,
                                                partitioner=_in_shards(self._proj_shards))
        self.built = True

    def call(self, inputs, state):
        def gate(x, key, seen):
            return math_ops.sigmoid(x + self._diagonals[key] * seen if self._diagonals else x)

        def clipped(x, limit):
            return x if limit is None else clip_by_value(x, -limit, limit)
        if self._state_is_tuple:
            old_c, old_h = state
        else:
            old_c = array_ops.slice(state, [0, 0], [-1, self._num_units])
            old_h = array_ops.slice(state, [0, self._num_units], [-1, self.output_size])
        gates = nn.bias_add(math_ops.matmul(array_ops.concat([inputs, old_h], 1), self._kernel), self._bias)
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=1)
        kept = gate(f + self._forget_bias, "f", old_c) * old_c
        c = clipped(kept + gate(i, "i", old_c) * self._activation(j), self._cell_clip)
        h = gate(o, "o", c) * self._activation(c)
        if self._num_proj is not None:
            h = clipped(math_ops.matmul(h, self._proj_kernel), self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else array_ops.concat([c, h], 1)


class MultiRNNCell(RNNCell):
    """Stacks cells: the output of each is the input of the next."""

    def __init__(self, cells, state_is_tuple=True):
        super().__init__()
        if not isinstance(cells, RNNCell) and not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not is_nested(cells):
            raise TypeError("cells must be a list or tuple, but saw: %s." % (cells,))
        self._cells, self._state_is_tuple = cells, state_is_tuple
        if not state_is_tuple and any(is_nested(c.state_size) for c in cells):
            raise ValueError("Some cells return tuples of states, but the flag state_is_tuple is not set. State sizes are: %s" % (
                [c.state_size for c in cells],))
        for i, cell in enumerate(cells):
            if is_trackable(cell):
                self._track_trackable(cell, "cell-%d" % i)

    @property
    def state_size(self):
        sizes = tuple(c.state_size for c in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    output_size = property(lambda self: self._cells[-1].output_size)
    trainable_weights = property(lambda self: _of_cells(self._cells, "trainable_weights") if self.trainable else [])
    non_trainable_weights = property(lambda self: _of_cells(self._cells, "non_trainable_weights" if self.trainable else "weights"))

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    def call(self, inputs, state):
        states, at = [], 0
        for i, cell in enumerate(self._cells):
            with variable_scope("cell_%d" % i):
                if self._state_is_tuple:
                    if not is_nested(state):
                        raise ValueError("Expected state to be a tuple of length %d, but received: %s" % (len(self.state_size), state))
                    old = state[i]
                else:
                    old = array_ops.slice(state, [0, at], [-1, cell.state_size])
                    at += cell.state_size
                inputs, new = cell(inputs, old)
            states.append(new)
        return inputs, tuple(states) if self._state_is_tuple else array_ops.concat(states, 1)


def _of_cells(cells, key):
    """Returns an attribute of all cells as one list without duplicates. A cell of a program may lack the attribute."""
    found = []
    for v in (v for cell in cells for v in getattr(cell, key, ())):
        if not any(v is f for f in found):
            found.append(v)
    return found


class _Wrapper(RNNCell):
    """The base of cells that wrap a cell. As in TensorFlow, only the inner cell has variables."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        if not hasattr(cell, "output_size") or not hasattr(cell, "state_size") or not callable(cell):
            raise TypeError("The argument 'cell' (%r) is not an RNNCell: 'output_size' and 'state_size' properties and a callable "
                            "are required" % (cell,))
        self._cell = self.cell = cell
        if is_trackable(cell):
            self._track_trackable(cell, "cell")

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)
    wrapped_cell = property(lambda self: self._cell)

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


def _which_states(state):
    """Returns which parts of a state are dropped: all but the c of an LSTM and TensorArrays."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(state, TensorArray)


def _filter(visitor, state):
    """Returns for each part of a state whether to drop it. The visitor is asked for the parts that it leaves open."""
    said = visitor(state)
    if isinstance(said, bool):
        if said and is_nested(state):
            parts = state.values() if isinstance(state, dict) else state
            return [flag for part in parts for flag in _filter(visitor, part)]
        return [said] * len(flatten(state))
    return [flag for part, own in zip(state, said) for flag in (
        [own] * len(flatten(part)) if not own or not is_nested(part) else _filter(visitor, part))]


class DropoutWrapper(_Wrapper):
    """Drops inputs, outputs and states of a cell. With variational_recurrent every step drops the same places."""

    def __init__(self, cell, input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0, variational_recurrent=False,
                 input_size=None, dtype=None, seed=None, dropout_state_filter_visitor=None, **kwargs):
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable. Received: %s" % (dropout_state_filter_visitor,))
        self._visitor, self._seed, self._variational = dropout_state_filter_visitor or _which_states, seed, variational_recurrent
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = self._checked(input_keep_prob, "input_keep_prob")
            self._state_keep_prob = self._checked(state_keep_prob, "state_keep_prob")
            self._output_keep_prob = self._checked(output_keep_prob, "output_keep_prob")
        self._input_noise = self._state_noise = self._output_noise = None
        if variational_recurrent:
            self._draw(input_size, dtype)

    @staticmethod
    def _checked(probability, name):
        tensor = convert_to_tensor(probability)
        known = constant_value(tensor)
        if known is None:
            return tensor
        if not 0 <= known <= 1:
            raise ValueError("Parameter %s must be between 0 and 1: %s" % (name, known))
        return float(known)

    def _own_seed(self, place, index):
        """Returns a seed for each place, derived from the given seed."""
        if self._seed is None:
            return None
        return int(hashlib.md5(("%s%s_%d" % (self._seed, place, index)).encode()).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _draw(self, input_size, dtype):
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")

        def noises(sizes, place):
            sizes = [sizes] if isinstance(sizes, TensorShape) else flatten(sizes)
            return [random_ops.random_uniform(array_ops.concat([[1], TensorShape(s).as_list()], 0), dtype=dtype,
                                              seed=self._own_seed(place, i)) for i, s in enumerate(sizes)]
        if self._drops(self._input_keep_prob):
            if input_size is None:
                raise ValueError("When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be "
                                 "provided")
            self._input_noise = noises(input_size, "input")
        self._state_noise = noises(self._cell.state_size, "state")
        self._output_noise = noises(self._cell.output_size, "output")

    @staticmethod
    def _drops(probability):
        return not isinstance(probability, numbers.Real) or probability < 1

    def _dropped(self, values, place, noise, probability, flags=None):
        if not self._drops(probability):
            return values
        made = []
        for i, x in enumerate(flatten(values)):
            if flags is not None and not flags[i]:
                made.append(x)
            elif noise is None:
                made.append(nn.dropout(x, rate=1 - probability, seed=self._own_seed(place, i)))
            else:
                kept = math_ops.floor(probability + noise[i])
                made.append(math_ops.divide(x, probability) * kept)
                made[-1].set_shape(convert_to_tensor(x).shape)
        return pack_like(values, made)

    def __call__(self, inputs, state, scope=None):
        inputs = self._dropped(inputs, "input", self._input_noise, self._input_keep_prob)
        out, state = self._cell(inputs, state, scope=scope)
        if self._drops(self._state_keep_prob):
            state = self._dropped(state, "state", self._state_noise, self._state_keep_prob, _filter(self._visitor, state))
        return self._dropped(out, "output", self._output_noise, self._output_keep_prob), state


class ResidualWrapper(_Wrapper):
    """Adds the inputs to the outputs, or applies residual_fn(inputs, outputs)."""

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn or (lambda inputs, outputs: map_structure(lambda a, b: a + b, inputs, outputs))

    def __call__(self, inputs, state, scope=None):
        out, state = self._cell(inputs, state, scope=scope)
        return self._residual_fn(inputs, out), state


class DeviceWrapper(_Wrapper):
    """Runs a cell on a device."""

    def __init__(self, cell, device, **kwargs):
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]), get_default_graph().device(self._device):
            return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None):
        with get_default_graph().device(self._device):
            return self._cell(inputs, state, scope=scope)
