"""The cells of recurrent layers: SimpleRNNCell, GRUCell, LSTMCell, and StackedRNNCells."""
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.nest import flatten, is_nested, map_structure, pack_like
from weft._core.framework.tensor_shape import TensorShape
from weft._core.keras import activations, backend, constraints, initializers, regularizers
from weft._core.keras.base_layer import Layer
from weft._core.nn import nn
from weft._core.ops import array_ops


def zero_state(state_size, batch_size, dtype):
    """Returns zeros with the sizes of a state; a size is a number or a shape without the batch."""
    if batch_size is None or dtype is None:
        raise ValueError("batch_size and dtype cannot be None while constructing initial state. Received: batch_size=%s, dtype=%s" % (
            batch_size, dtype))

    def zeros(size):
        return array_ops.zeros([batch_size, *TensorShape(size).as_list()], dtype=as_dtype(dtype))
    nested = is_nested(state_size) and not isinstance(state_size, TensorShape)
    return map_structure(zeros, state_size) if nested else zeros(state_size)


class AbstractRNNCell(Layer):
    """The base of a program's own cells: call(inputs, states) returns (output, new states)."""

    def call(self, inputs, states):
        raise NotImplementedError("%s has no call(inputs, states)" % type(self).__name__)

    @property
    def state_size(self):
        raise NotImplementedError("%s has no state_size" % type(self).__name__)

    @property
    def output_size(self):
        raise NotImplementedError("%s has no output_size" % type(self).__name__)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        if inputs is not None:
            batch_size, dtype = array_ops.shape(inputs)[0], inputs.dtype
        return zero_state(self.state_size, batch_size, dtype)


class DropoutCell(Layer):
    """The base of cells with dropout, whose masks are drawn once for all steps of a call."""

    _masks = None

    def reset_dropout_mask(self):
        self.__dict__["_masks"] = {}

    def reset_recurrent_dropout_mask(self):
        self.reset_dropout_mask()

    def _mask(self, key, rate, inputs, training, count):
        if rate == 0:
            return None
        if self._masks is None:
            self.reset_dropout_mask()
        if key not in self._masks:
            ones = array_ops.ones_like(inputs)

            def dropped():
                return nn.dropout(ones, rate=rate, seed=getattr(self, "seed", None))
            made = [backend.in_train_phase(dropped, ones, training=training) for _ in range(count)]
            self._masks[key] = made if count > 1 else made[0]
        return self._masks[key]

    def get_dropout_mask_for_cell(self, inputs, training, count=1):
        return self._mask("dropout", self.dropout, inputs, training, count)

    def get_recurrent_dropout_mask_for_cell(self, inputs, training, count=1):
        return self._mask("recurrent_dropout", self.recurrent_dropout, inputs, training, count)


class _UnitsCell(DropoutCell):
    """The base of cells with units: arguments, variables, and the zero state."""

    _gates, _ACTIVATIONS = 1, ("activation",)

    def _start(self, units, kernel_initializer, recurrent_initializer, bias_initializer, kernel_regularizer, recurrent_regularizer,
               bias_regularizer, kernel_constraint, recurrent_constraint, bias_constraint, dropout, recurrent_dropout):
        if units is None or units <= 0:
            raise ValueError("Received an invalid value for argument `units`, expected a positive integer, got %s." % units)
        self.units = units
        self.kernel_initializer, self.recurrent_initializer = initializers.get(kernel_initializer), initializers.get(recurrent_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer, self.recurrent_regularizer = regularizers.get(kernel_regularizer), regularizers.get(recurrent_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint, self.recurrent_constraint = constraints.get(kernel_constraint), constraints.get(recurrent_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.dropout, self.recurrent_dropout = min(1.0, max(0.0, dropout)), min(1.0, max(0.0, recurrent_dropout))

    def _bias_shape(self):
        return (self._gates * self.units,)

    def _bias_start(self):
        return self.bias_initializer

    def build(self, input_shape):
        width = self._gates * self.units
        self.kernel = self.add_weight(shape=(TensorShape(input_shape).as_list()[-1], width), name="kernel",
                                      initializer=self.kernel_initializer, regularizer=self.kernel_regularizer,
                                      constraint=self.kernel_constraint)
        self.recurrent_kernel = self.add_weight(shape=(self.units, width), name="recurrent_kernel", initializer=self.recurrent_initializer,
                                                regularizer=self.recurrent_regularizer, constraint=self.recurrent_constraint)
        self.bias = self.add_weight(shape=self._bias_shape(), name="bias", initializer=self._bias_start(),
                                    regularizer=self.bias_regularizer, constraint=self.bias_constraint) if self.use_bias else None
        self.built = True

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        if inputs is not None:
            batch_size, dtype = array_ops.shape(inputs)[0], inputs.dtype
        made = zero_state(self.state_size, batch_size, dtype)
        return list(made) if isinstance(made, (list, tuple)) else made


class SimpleRNNCell(_UnitsCell):
    """Computes output = activation(inputs * kernel + bias + state * recurrent_kernel)."""

    _CONFIG = ("units", "activation", "use_bias", "kernel_initializer", "recurrent_initializer", "bias_initializer",
               "kernel_regularizer", "recurrent_regularizer", "bias_regularizer", "kernel_constraint", "recurrent_constraint",
               "bias_constraint", "dropout", "recurrent_dropout")

    def __init__(self, units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal",
                 bias_initializer="zeros", kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, **kwargs):
        kwargs.pop("implementation", None)
        super().__init__(**kwargs)
        self._start(units, kernel_initializer, recurrent_initializer, bias_initializer, kernel_regularizer, recurrent_regularizer,
                    bias_regularizer, kernel_constraint, recurrent_constraint, bias_constraint, dropout, recurrent_dropout)
        self.activation, self.use_bias = activations.get(activation), use_bias
        self.state_size = self.output_size = units

    def call(self, inputs, states, training=None):
        before = states[0] if is_nested(states) else states
        mask = self.get_dropout_mask_for_cell(inputs, training)
        recurrent_mask = self.get_recurrent_dropout_mask_for_cell(before, training)
        made = backend.dot(inputs if mask is None else inputs * mask, self.kernel)
        if self.bias is not None:
            made = nn.bias_add(made, self.bias)
        made = made + backend.dot(before if recurrent_mask is None else before * recurrent_mask, self.recurrent_kernel)
        made = made if self.activation is None else self.activation(made)
        return made, [made] if is_nested(states) else made


def _each(x, masks, count):
    """Returns x for each gate, multiplied by the mask of the gate."""
    return [x if masks is None else x * masks[i] for i in range(count)]


class GRUCell(_UnitsCell):
    """A gated recurrent unit, with an update gate and a reset gate."""

    _gates = 3
    _CONFIG = ("units", "activation", "recurrent_activation", "use_bias", "kernel_initializer", "recurrent_initializer",
               "bias_initializer", "kernel_regularizer", "recurrent_regularizer", "bias_regularizer", "kernel_constraint",
               "recurrent_constraint", "bias_constraint", "dropout", "recurrent_dropout", "implementation", "reset_after")

    def __init__(self, units, activation="tanh", recurrent_activation="hard_sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", kernel_regularizer=None, recurrent_regularizer=None,
                 bias_regularizer=None, kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0,
                 recurrent_dropout=0.0, reset_after=False, **kwargs):
        implementation = kwargs.pop("implementation", 1)
        super().__init__(**kwargs)
        self._start(units, kernel_initializer, recurrent_initializer, bias_initializer, kernel_regularizer, recurrent_regularizer,
                    bias_regularizer, kernel_constraint, recurrent_constraint, bias_constraint, dropout, recurrent_dropout)
        self.activation, self.recurrent_activation = activations.get(activation), activations.get(recurrent_activation)
        self.use_bias, self.reset_after = use_bias, reset_after
        self.implementation = 1 if self.recurrent_dropout != 0 and implementation != 1 else implementation
        self.state_size = self.output_size = units

    def _bias_shape(self):
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def _biases(self):
        """Returns the biases of the inputs and of the state."""
        return array_ops.unstack(self.bias)

    def call(self, inputs, states, training=None):
        before = states[0] if is_nested(states) else states
        masks = self.get_dropout_mask_for_cell(inputs, training, count=3)
        recurrent_masks = self.get_recurrent_dropout_mask_for_cell(before, training, count=3)
        bias = recurrent_bias = None
        if self.use_bias:
            bias = self.bias if not self.reset_after else None
            if self.reset_after:
                bias, recurrent_bias = self._biases()
        if self.implementation == 1:
            z, candidate = self._by_gate(inputs, before, masks, recurrent_masks, bias, recurrent_bias)
        else:
            z, candidate = self._at_once(inputs, before, masks, recurrent_masks, bias, recurrent_bias)
        made = z * before + (1 - z) * candidate
        return made, [made] if is_nested(states) else made

    def _by_gate(self, inputs, before, masks, recurrent_masks, bias, recurrent_bias):
        n = self.units
        xs = _each(inputs, masks if 0 < self.dropout < 1 else None, 3)
        xs = [backend.dot(x, self.kernel[:, i * n:(i + 1) * n]) for i, x in enumerate(xs)]
        if bias is not None:
            xs = [nn.bias_add(x, bias[i * n:(i + 1) * n]) for i, x in enumerate(xs)]
        hs = _each(before, recurrent_masks if 0 < self.recurrent_dropout < 1 else None, 3)
        z, r = (backend.dot(hs[i], self.recurrent_kernel[:, i * n:(i + 1) * n]) for i in (0, 1))
        if recurrent_bias is not None:
            z, r = nn.bias_add(z, recurrent_bias[:n]), nn.bias_add(r, recurrent_bias[n:2 * n])
        z, r = self.recurrent_activation(xs[0] + z), self.recurrent_activation(xs[1] + r)
        if self.reset_after:
            h = backend.dot(hs[2], self.recurrent_kernel[:, 2 * n:])
            h = r * (h if recurrent_bias is None else nn.bias_add(h, recurrent_bias[2 * n:]))
        else:
            h = backend.dot(r * hs[2], self.recurrent_kernel[:, 2 * n:])
        return z, self.activation(xs[2] + h)

    def _at_once(self, inputs, before, masks, recurrent_masks, bias, recurrent_bias):
        n = self.units
        x = backend.dot(inputs * masks[0] if 0 < self.dropout < 1 else inputs, self.kernel)
        x = x if bias is None else nn.bias_add(x, bias)
        x_z, x_r, x_h = array_ops.split(x, 3, axis=-1)
        if self.reset_after:
            inner = backend.dot(before, self.recurrent_kernel)
            inner = inner if recurrent_bias is None else nn.bias_add(inner, recurrent_bias)
        else:
            inner = backend.dot(before, self.recurrent_kernel[:, :2 * n])
        z, r = inner[:, :n], inner[:, n:2 * n]
        z, r = self.recurrent_activation(x_z + z), self.recurrent_activation(x_r + r)
        h = r * inner[:, 2 * n:] if self.reset_after else backend.dot(r * before, self.recurrent_kernel[:, 2 * n:])
        return z, self.activation(x_h + h)


class LSTMCell(_UnitsCell):
    """A long short-term memory cell; its states are the output and the carry."""

    _gates = 4
    _CONFIG = ("units", "activation", "recurrent_activation", "use_bias", "kernel_initializer", "recurrent_initializer",
               "bias_initializer", "unit_forget_bias", "kernel_regularizer", "recurrent_regularizer", "bias_regularizer",
               "kernel_constraint", "recurrent_constraint", "bias_constraint", "dropout", "recurrent_dropout", "implementation")

    def __init__(self, units, activation="tanh", recurrent_activation="hard_sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
                 bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, **kwargs):
        implementation = kwargs.pop("implementation", 1)
        super().__init__(**kwargs)
        self._start(units, kernel_initializer, recurrent_initializer, bias_initializer, kernel_regularizer, recurrent_regularizer,
                    bias_regularizer, kernel_constraint, recurrent_constraint, bias_constraint, dropout, recurrent_dropout)
        self.activation, self.recurrent_activation = activations.get(activation), activations.get(recurrent_activation)
        self.use_bias, self.unit_forget_bias = use_bias, unit_forget_bias
        self.implementation = 1 if self.recurrent_dropout != 0 and implementation != 1 else implementation
        self.state_size, self.output_size = [units, units], units

    def _bias_start(self):
        if not self.unit_forget_bias:
            return self.bias_initializer

        def bias(shape, *args, **kwargs):
            n = self.units
            return array_ops.concat([self.bias_initializer((n,), *args, **kwargs), initializers.get("ones")((n,), *args, **kwargs),
                                     self.bias_initializer((n * 2,), *args, **kwargs)], -1)
        return bias

    def _with_bias(self, z):
        return nn.bias_add(z, self.bias)

    def call(self, inputs, states, training=None):
        before, carry = states
        masks = self.get_dropout_mask_for_cell(inputs, training, count=4)
        recurrent_masks = self.get_recurrent_dropout_mask_for_cell(before, training, count=4)
        n, act, gate = self.units, self.activation, self.recurrent_activation
        if self.implementation == 1:
            xs = _each(inputs, masks if 0 < self.dropout < 1 else None, 4)
            kernels = array_ops.split(self.kernel, num_or_size_splits=4, axis=1)
            made = [backend.dot(x, k) for x, k in zip(xs, kernels)]
            if self.use_bias:
                made = [nn.bias_add(m, b) for m, b in zip(made, array_ops.split(self.bias, num_or_size_splits=4, axis=0))]
            hs = _each(before, recurrent_masks if 0 < self.recurrent_dropout < 1 else None, 4)

            def part(k):
                return made[k] + backend.dot(hs[k], self.recurrent_kernel[:, k * n:(k + 1) * n])
        else:
            z = backend.dot(inputs * masks[0] if 0 < self.dropout < 1 else inputs, self.kernel)
            z = z + backend.dot(before, self.recurrent_kernel)
            z = self._with_bias(z) if self.use_bias else z
            part = array_ops.split(z, num_or_size_splits=4, axis=1).__getitem__
        i, f = gate(part(0)), gate(part(1))
        carry = f * carry + i * act(part(2))
        output = gate(part(3)) * act(carry)
        return output, [output, carry]


class StackedRNNCells(Layer):
    """Stacks cells into one cell."""

    def __init__(self, cells, **kwargs):
        for cell in cells:
            if not hasattr(cell, "call"):
                raise ValueError("All cells must have a `call` method. Received cell without a `call` method: %s" % (cell,))
            if not hasattr(cell, "state_size"):
                raise ValueError("All cells must have a `state_size` attribute. Received cell without a `state_size`: %s" % (cell,))
        self.cells = list(cells)
        self.reverse_state_order = kwargs.pop("reverse_state_order", False)
        super().__init__(**kwargs)

    _CONFIG = ("cells",)

    @property
    def state_size(self):
        return tuple(c.state_size for c in (self.cells[::-1] if self.reverse_state_order else self.cells))

    @property
    def output_size(self):
        last = self.cells[-1]
        if getattr(last, "output_size", None) is not None:
            return last.output_size
        return last.state_size[0] if is_nested(last.state_size) else last.state_size

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        made = []
        for cell in self.cells[::-1] if self.reverse_state_order else self.cells:
            get = getattr(cell, "get_initial_state", None)
            made.append(get(inputs=inputs, batch_size=batch_size, dtype=dtype) if get else zero_state(cell.state_size, batch_size, dtype))
        return tuple(made)

    def call(self, inputs, states, constants=None, training=None, **kwargs):
        sizes = self.state_size[::-1] if self.reverse_state_order else self.state_size
        nested, made = pack_like([list(s) if is_nested(s) else s for s in sizes], flatten(states)), []
        for cell, state in zip(self.cells, nested):
            state = state if is_nested(state) else [state]
            given = dict(kwargs)
            takes = cell._call_parameters() if isinstance(cell, Layer) else {}
            if "training" in takes:
                given["training"] = training
            if "constants" in takes and constants is not None:
                given["constants"] = constants
            one = is_tf_cell(cell) and len(state) == 1
            called = cell if callable(cell) else cell.call
            inputs, new = called(inputs, state[0] if one else tuple(state) if is_tf_cell(cell) else state, **given)
            made.append(list(flatten(new)))
        states = [pack_like(s, m) if is_nested(s) else m[0] for s, m in zip(sizes, made)]
        return inputs, tuple(states[::-1] if self.reverse_state_order else states)

    def build(self, input_shape):
        from weft._core.framework.graph import name_scope
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                with name_scope(cell.name):
                    cell.build(TensorShape(input_shape))
                    cell.built = True
            size = getattr(cell, "output_size", None)
            size = size if size is not None else cell.state_size[0] if is_nested(cell.state_size) else cell.state_size
            input_shape = [TensorShape(input_shape).as_list()[0]] + TensorShape(size).as_list()
        self.built = True

    def get_config(self):
        from weft._core.keras.layers.serialization import serialize
        return dict(self._configured(()), cells=[serialize(c) for c in self.cells])

    @classmethod
    def from_config(cls, config, custom_objects=None):
        from weft._core.keras.layers.serialization import deserialize
        config = dict(config)
        return cls([deserialize(c, custom_objects=custom_objects) for c in config.pop("cells")], **config)


def is_tf_cell(cell):
    """Returns True for a cell of tf.nn.rnn_cell, whose single-part state is not a list."""
    from weft._core.nn.rnn_cell import RNNCell
    return isinstance(cell, RNNCell)
