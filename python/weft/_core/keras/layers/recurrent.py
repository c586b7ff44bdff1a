"""Recurrent layers: RNN runs a cell over the steps of sequences; SimpleRNN, GRU and LSTM are RNNs of their cells."""
import numpy as np

from weft._core.framework.graph import name_scope
from weft._core.framework.nest import flatten, is_nested, pack_like
from weft._core.framework.tensor_shape import TensorShape
from weft._core.keras import backend
from weft._core.keras.base_layer import Layer
from weft._core.keras.input_spec import InputSpec
from weft._core.keras.layers.recurrent_cells import DropoutCell, GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells, is_tf_cell, zero_state
from weft._core.keras.node import int_shape, is_keras_tensor
from weft._core.ops import array_ops


def _sizes(state_size):
    """Returns the sizes of the parts of a state as a list."""
    return flatten(state_size) if is_nested(state_size) and not isinstance(state_size, TensorShape) else [state_size]


def _standard(inputs, initial_state, constants, num_constants):
    """Returns inputs, initial state and constants separately, if they came in one list."""
    if isinstance(inputs, list):
        if num_constants:
            constants = inputs[-num_constants:]
            inputs = inputs[:-num_constants]
        if len(inputs) > 1:
            initial_state = inputs[1:]
        inputs = inputs[0]

    def listed(x):
        return x if x is None or isinstance(x, list) else list(x) if isinstance(x, tuple) else [x]
    return inputs, listed(initial_state), listed(constants)


class RNN(Layer):
    """Runs a cell over the steps of sequences."""

    _CONFIG = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major")

    def __init__(self, cell, return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False,
                 time_major=False, **kwargs):
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if not hasattr(cell, "call"):
            raise ValueError("Argument `cell` should have a `call` method. The RNN was passed: cell=%s" % (cell,))
        if not hasattr(cell, "state_size"):
            raise ValueError("The RNN cell should have an attribute `state_size` (tuple of integers, one integer per RNN state). "
                             "Received: cell=%s" % (cell,))
        self.zero_output_for_mask = kwargs.pop("zero_output_for_mask", False)
        if "input_shape" not in kwargs and ("input_dim" in kwargs or "input_length" in kwargs):
            kwargs["input_shape"] = (kwargs.pop("input_length", None), kwargs.pop("input_dim", None))
        super().__init__(**kwargs)
        self.cell, self.return_sequences, self.return_state, self.go_backwards = cell, return_sequences, return_state, go_backwards
        self.stateful, self.unroll, self.time_major = stateful, unroll, time_major
        self.supports_masking, self.input_spec, self.state_spec = True, [None], None
        self._states, self._num_constants = None, 0

    @property
    def states(self):
        if self._states is None:
            made = [None] * len(_sizes(self.cell.state_size))
            return made
        return self._states

    @states.setter
    def states(self, value):
        self.__dict__["_states"] = value

    def _own_weights(self, trainable):
        """Returns the weights without the states of a stateful layer."""
        return list(self._trainable_weights if trainable else self._non_trainable_weights)

    # ---- shapes ----

    def compute_output_shape(self, input_shape):
        shape = input_shape[0] if isinstance(input_shape, list) and not isinstance(input_shape[0], (int, type(None))) else input_shape
        dims = TensorShape(shape).as_list()
        batch, time = (dims[1], dims[0]) if self.time_major else (dims[0], dims[1])
        output = getattr(self.cell, "output_size", None)
        output = output if output is not None else _sizes(self.cell.state_size)[0]
        inside = TensorShape(output).as_list()
        made = TensorShape(([time, batch] if self.time_major else [batch, time]) + inside if self.return_sequences else [batch] + inside)
        if not self.return_state:
            return made
        return [made] + [TensorShape([batch] + TensorShape(s).as_list()) for s in _sizes(self.cell.state_size)]

    def compute_mask(self, inputs, mask=None):
        mask = flatten(mask)[0]
        made = mask if self.return_sequences else None
        return [made] + [None for _ in self.states] if self.return_state else made

    def build(self, input_shape):
        shape = input_shape[0] if isinstance(input_shape, (list, tuple)) and isinstance(input_shape[0], TensorShape) else input_shape
        dims = TensorShape(shape).as_list()
        self._set_input_spec(dims)
        step = [dims[1]] + dims[2:] if self.time_major else [dims[0]] + dims[2:]
        if isinstance(self.cell, Layer) and not self.cell.built:
            self._build_cell(TensorShape(step))
        sizes = _sizes(self.cell.state_size)
        if self.state_spec is not None:
            found = [s.shape[1:] for s in self.state_spec]
            if [tuple(TensorShape(s).as_list()) for s in sizes] != [tuple(f) for f in found]:
                raise ValueError("An `initial_state` was passed that is not compatible with `cell.state_size`. Received `state_spec`=%s; "
                                 "however `cell.state_size` is %s" % (self.state_spec, self.cell.state_size))
        else:
            self.state_spec = [InputSpec(shape=[None] + TensorShape(s).as_list()) for s in sizes]
        if self.stateful:
            self.reset_states()
        self.built = True

    def _set_input_spec(self, dims):
        batch, time = (1, 0) if self.time_major else (0, 1)
        spec = list(dims)
        spec[time] = None
        if not self.stateful:
            spec[batch] = None
        self.input_spec = [InputSpec(shape=tuple(spec))]

    def _build_plain_cell(self, step_shape):
        _inherit_dtype(self, self.cell)
        self.cell.build(step_shape)
        self.cell.built = True

    def _build_cell(self, step_shape):
        with name_scope(self.cell.name):
            self._build_plain_cell(step_shape)

    # ---- calls ----

    def get_initial_state(self, inputs):
        batch = array_ops.shape(inputs)[1 if self.time_major else 0]
        get = getattr(self.cell, "get_initial_state", None)
        made = get(inputs=None, batch_size=batch, dtype=inputs.dtype) if get else zero_state(self.cell.state_size, batch, inputs.dtype)
        return list(made) if is_nested(made) else [made]

    def __call__(self, inputs, initial_state=None, constants=None, **kwargs):
        inputs, initial_state, constants = _standard(inputs, initial_state, constants, self._num_constants)
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        more, specs = [], []
        if initial_state is not None:
            more += initial_state
            self.state_spec = [InputSpec(shape=int_shape(s)) for s in flatten(initial_state)]
            specs += self.state_spec
        if constants is not None:
            more += constants
            specs += [InputSpec(shape=int_shape(c)) for c in constants]
            self._num_constants = len(constants)
        flat = flatten(more)
        if any(is_keras_tensor(x) != is_keras_tensor(flat[0]) for x in flat):
            raise ValueError("The initial state or constants of an RNN layer cannot be specified via a mix of Keras tensors and non-Keras "
                             "tensors (a 'Keras tensor' is a tensor that was returned by a Keras layer or by `Input` during Functional "
                             "model construction). Received: initial_state=%s, constants=%s" % (initial_state, constants))
        if not is_keras_tensor(flat[0]):
            given = {k: v for k, v in (("initial_state", initial_state), ("constants", constants)) if v is not None}
            return super().__call__(inputs, **{**kwargs, **given})
        own, self.input_spec = self.input_spec, None
        if self.built:
            self.input_spec = own + specs
        try:
            made = super().__call__([inputs] + flat, **kwargs)
        finally:
            self.input_spec = self.input_spec[:1] if self.input_spec else own
        return made

    def _process_inputs(self, inputs, initial_state, constants):
        inputs, listed_state, listed_constants = _standard(inputs, initial_state, constants, self._num_constants)
        initial_state, constants = listed_state, listed_constants
        if initial_state is not None and len(initial_state) != len(self.states) and len(flatten(initial_state)) != len(self.states):
            raise ValueError("Layer has %d states but was passed %d initial states. Received: initial_state=%s" % (
                len(self.states), len(initial_state), initial_state))
        if initial_state is None:
            initial_state = list(self.states) if self.stateful else self.get_initial_state(inputs)
        if self.stateful:
            initial_state = [s if not hasattr(s, "read_value") else s.read_value() for s in initial_state]
            initial_state = _packed(self.cell.state_size, flatten(initial_state))
        return inputs, initial_state, constants

    def call(self, inputs, mask=None, training=None, initial_state=None, constants=None):
        inputs, initial_state, constants = self._process_inputs(inputs, initial_state, constants)
        _reset_masks(self.cell)
        if isinstance(mask, list):
            mask = flatten(mask)[0]
        steps = inputs.shape.as_list()[0 if self.time_major else 1]
        if self.unroll and steps is None:
            raise ValueError("Cannot unroll a RNN if the time dimension is undefined. \n- If using a Sequential model, specify the time "
                             "dimension by passing an `input_shape` or `batch_input_shape` argument to your first layer.")
        last, outputs, states = backend.rnn(
            self._step(training, len(constants or [])), inputs, initial_state, constants=constants, go_backwards=self.go_backwards,
            mask=mask, unroll=self.unroll, input_length=steps, time_major=self.time_major,
            zero_output_for_mask=self.zero_output_for_mask, return_all_outputs=self.return_sequences)
        if self.stateful:
            for variable, value in zip(flatten(self.states), flatten(states)):
                self.add_update(variable.assign(value))
        made = outputs if self.return_sequences else last
        return [made] + list(states) if self.return_state else made

    def _step(self, training, constants):
        """Returns the function of one step: the cell, with the arguments that its call() takes."""
        takes = self.cell._call_parameters() if isinstance(self.cell, Layer) else {}
        given = {"training": training} if "training" in takes else {}
        tf_cell, count = is_tf_cell(self.cell), len(_sizes(self.cell.state_size))

        called = self.cell if callable(self.cell) else self.cell.call

        def step(x, states):
            states = list(states)
            if constants:
                more = dict(given, constants=states[-constants:])
                states = states[:-constants]
            else:
                more = given
            if tf_cell:
                states = states[0] if count == 1 else pack_like(self.cell.state_size, flatten(states))
            output, new = called(x, states, **more)
            return output, list(new) if is_nested(new) else [new]
        return step

    # ---- kept states ----

    def reset_states(self, states=None):
        """Sets the states of a stateful layer to zeros, or to the arrays that are given."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        batch = self.input_spec[0].shape[1 if self.time_major else 0] if self.input_spec[0] is not None else None
        if not batch:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input tensors: \n- If using a "
                "Sequential model, specify the batch size by passing a `batch_input_shape` argument to your first layer.\n- If using the "
                "functional API, specify the batch size by passing a `batch_shape` argument to your Input layer.")
        if self._states is None:
            def variable(size):
                return backend.variable(np.zeros([batch] + TensorShape(size).as_list(), self.dtype or backend.floatx()))
            self.states = _packed(self.cell.state_size, [variable(s) for s in _sizes(self.cell.state_size)])
            if states is None:
                return
        held = flatten(self.states)
        if states is None:
            backend.batch_set_value([(v, np.zeros(v.shape.as_list())) for v in held])
            return
        given = flatten(list(states) if isinstance(states, (list, tuple)) else [states])
        if len(given) != len(held):
            raise ValueError("Layer %s expects %d states, but it received %d state values. States received: %s" % (
                self.name, len(held), len(given), states))
        for i, (v, value) in enumerate(zip(held, given)):
            if tuple(v.shape.as_list()) != np.shape(value):
                raise ValueError("State %d is incompatible with layer %s: expected shape=%s, found shape=%s" % (
                    i, self.name, tuple(v.shape.as_list()), np.shape(value)))
        backend.batch_set_value(list(zip(held, given)))

    # ---- configurations ----

    def get_config(self):
        config = self._configured(RNN._CONFIG)
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if self.zero_output_for_mask:
            config["zero_output_for_mask"] = self.zero_output_for_mask
        if type(self)._CELL is None:
            from weft._core.keras.layers.serialization import serialize
            config["cell"] = serialize(self.cell)
        return config

    _CELL = None

    @classmethod
    def from_config(cls, config, custom_objects=None):
        from weft._core.keras.layers.serialization import deserialize
        config = dict(config)
        cell = deserialize(config.pop("cell"), custom_objects=custom_objects)
        count = config.pop("num_constants", 0)
        layer = cls(cell, **config)
        layer._num_constants = count
        return layer


def _packed(state_size, flat):
    return list(pack_like(list(state_size), flat)) if is_nested(state_size) and not isinstance(state_size, TensorShape) else list(flat)


def _reset_masks(cell):
    """Clears the dropout masks, which are drawn again in every call of the layer."""
    for c in cell.cells if isinstance(cell, StackedRNNCells) else [cell]:
        if isinstance(c, DropoutCell):
            c.reset_dropout_mask()


def _inherit_dtype(layer, inner):
    """Gives a layer or cell built by another one the type of that one, unless that is the default type."""
    if inner._dtype is None and layer._dtype is not None and layer._dtype.name != backend.floatx():
        inner._dtype = layer._dtype


def _of_cell(name):
    return property(lambda self: getattr(self.cell, name))


class _UnitsRNN(RNN):
    """The base of RNNs of cells with units; the arguments of the cell are attributes of the layer."""

    units, use_bias, activation = _of_cell("units"), _of_cell("use_bias"), _of_cell("activation")
    kernel_initializer, recurrent_initializer = _of_cell("kernel_initializer"), _of_cell("recurrent_initializer")
    bias_initializer, kernel_regularizer = _of_cell("bias_initializer"), _of_cell("kernel_regularizer")
    recurrent_regularizer, bias_regularizer = _of_cell("recurrent_regularizer"), _of_cell("bias_regularizer")
    kernel_constraint, recurrent_constraint = _of_cell("kernel_constraint"), _of_cell("recurrent_constraint")
    bias_constraint, dropout, recurrent_dropout = _of_cell("bias_constraint"), _of_cell("dropout"), _of_cell("recurrent_dropout")
    recurrent_activation, implementation = _of_cell("recurrent_activation"), _of_cell("implementation")
    unit_forget_bias, reset_after = _of_cell("unit_forget_bias"), _of_cell("reset_after")

    def _start(self, cell_class, cell_name, given, return_sequences, return_state, go_backwards, stateful, unroll, activity_regularizer,
               kwargs):
        cell_kwargs = {k: kwargs[k] for k in ("dtype", "trainable") if k in kwargs}
        if "implementation" in kwargs:
            cell_kwargs["implementation"] = kwargs.pop("implementation")
        cell = cell_class(name=cell_name, **given, **cell_kwargs)
        RNN.__init__(self, cell, return_sequences=return_sequences, return_state=return_state, go_backwards=go_backwards,
                     stateful=stateful, unroll=unroll, activity_regularizer=activity_regularizer, **kwargs)
        self.input_spec = [InputSpec(ndim=3)]

    def get_config(self):
        names = list(self._CELL._CONFIG)
        names.insert(names.index("bias_regularizer") + 1, "activity_regularizer")
        config = super().get_config()
        config.update({k: v for k, v in self._configured(names).items() if k in names})
        return config

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class SimpleRNN(_UnitsRNN):
    """Computes output = activation(inputs * kernel + bias + state * recurrent_kernel) for each step."""

    _CELL = SimpleRNNCell

    def __init__(self, units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal",
                 bias_initializer="zeros", kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0,
                 recurrent_dropout=0.0, return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False,
                 **kwargs):
        kwargs.pop("implementation", None)
        given = dict(units=units, activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
                     recurrent_initializer=recurrent_initializer, bias_initializer=bias_initializer,
                     kernel_regularizer=kernel_regularizer, recurrent_regularizer=recurrent_regularizer,
                     bias_regularizer=bias_regularizer, kernel_constraint=kernel_constraint, recurrent_constraint=recurrent_constraint,
                     bias_constraint=bias_constraint, dropout=dropout, recurrent_dropout=recurrent_dropout)
        self._start(SimpleRNNCell, "simple_rnn_cell", given, return_sequences, return_state, go_backwards, stateful, unroll,
                    activity_regularizer, kwargs)


class GRU(_UnitsRNN):
    """The gated recurrent unit."""

    _CELL = GRUCell

    def __init__(self, units, activation="tanh", recurrent_activation="hard_sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", kernel_regularizer=None, recurrent_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
                 bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, unroll=False, reset_after=False, **kwargs):
        given = dict(units=units, activation=activation, recurrent_activation=recurrent_activation, use_bias=use_bias,
                     kernel_initializer=kernel_initializer, recurrent_initializer=recurrent_initializer,
                     bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
                     recurrent_regularizer=recurrent_regularizer, bias_regularizer=bias_regularizer, kernel_constraint=kernel_constraint,
                     recurrent_constraint=recurrent_constraint, bias_constraint=bias_constraint, dropout=dropout,
                     recurrent_dropout=recurrent_dropout, reset_after=reset_after)
        self._start(GRUCell, "gru_cell", given, return_sequences, return_state, go_backwards, stateful, unroll, activity_regularizer,
                    kwargs)


class LSTM(_UnitsRNN):
    """The long short-term memory."""

    _CELL = LSTMCell

    def __init__(self, units, activation="tanh", recurrent_activation="hard_sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, return_sequences=False,
                 return_state=False, go_backwards=False, stateful=False, unroll=False, **kwargs):
        given = dict(units=units, activation=activation, recurrent_activation=recurrent_activation, use_bias=use_bias,
                     kernel_initializer=kernel_initializer, recurrent_initializer=recurrent_initializer,
                     bias_initializer=bias_initializer, unit_forget_bias=unit_forget_bias, kernel_regularizer=kernel_regularizer,
                     recurrent_regularizer=recurrent_regularizer, bias_regularizer=bias_regularizer, kernel_constraint=kernel_constraint,
                     recurrent_constraint=recurrent_constraint, bias_constraint=bias_constraint, dropout=dropout,
                     recurrent_dropout=recurrent_dropout)
        self._start(LSTMCell, "lstm_cell", given, return_sequences, return_state, go_backwards, stateful, unroll, activity_regularizer,
                    kwargs)

