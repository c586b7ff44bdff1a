"""ConvLSTM1D, ConvLSTM2D and ConvLSTM3D: LSTMs with convolutions in place of matrix products."""
from weft._core.framework.tensor_shape import TensorShape
from weft._core.keras import activations, arguments, backend, constraints, initializers, regularizers
from weft._core.keras.convolution import convolution
from weft._core.keras.input_spec import InputSpec
from weft._core.keras.layers.recurrent import RNN, _of_cell, _reset_masks
from weft._core.keras.layers.recurrent_cells import DropoutCell, _each
from weft._core.ops import array_ops


class ConvLSTMCell(DropoutCell):
    """The cell of ConvLSTM over `rank` axes."""

    _CONFIG = ("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", "activation", "recurrent_activation",
               "use_bias", "kernel_initializer", "recurrent_initializer", "bias_initializer", "unit_forget_bias", "kernel_regularizer",
               "recurrent_regularizer", "bias_regularizer", "kernel_constraint", "recurrent_constraint", "bias_constraint", "dropout",
               "recurrent_dropout")

    def __init__(self, rank, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, activation="tanh",
                 recurrent_activation="hard_sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
                 bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        self.rank, self.filters = rank, filters
        self.kernel_size, self.strides = arguments.sizes(kernel_size, rank, "kernel_size"), arguments.sizes(
            strides, rank, "strides", allow_zero=True)
        self.padding, self.data_format = arguments.padding_name(padding), arguments.layout(data_format)
        self.dilation_rate = arguments.sizes(dilation_rate, rank, "dilation_rate")
        self.activation, self.recurrent_activation = activations.get(activation), activations.get(recurrent_activation)
        self.use_bias, self.unit_forget_bias = use_bias, unit_forget_bias
        self.kernel_initializer, self.recurrent_initializer = initializers.get(kernel_initializer), initializers.get(recurrent_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer, self.recurrent_regularizer = regularizers.get(kernel_regularizer), regularizers.get(recurrent_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint, self.recurrent_constraint = constraints.get(kernel_constraint), constraints.get(recurrent_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.dropout, self.recurrent_dropout = min(1.0, max(0.0, dropout)), min(1.0, max(0.0, recurrent_dropout))
        self.state_size, self.output_size = (filters, filters), filters

    def build(self, input_shape):
        channels = TensorShape(input_shape).as_list()[1 if self.data_format == "channels_first" else -1]
        if channels is None:
            raise ValueError("The channel dimension of the inputs (last axis) should be defined. Found None. Full input shape received: "
                             "input_shape=%s" % (input_shape,))
        self.kernel = self.add_weight(shape=self.kernel_size + (channels, self.filters * 4), initializer=self.kernel_initializer,
                                      name="kernel", regularizer=self.kernel_regularizer, constraint=self.kernel_constraint)
        self.recurrent_kernel = self.add_weight(shape=self.kernel_size + (self.filters, self.filters * 4),
                                                initializer=self.recurrent_initializer, name="recurrent_kernel",
                                                regularizer=self.recurrent_regularizer, constraint=self.recurrent_constraint)
        self.bias = self.add_weight(shape=(self.filters * 4,), name="bias", initializer=self._bias_start(),
                                    regularizer=self.bias_regularizer, constraint=self.bias_constraint) if self.use_bias else None
        self.built = True

    def _bias_start(self):
        if not self.unit_forget_bias:
            return self.bias_initializer

        def bias(shape, *args, **kwargs):
            n = self.filters
            return array_ops.concat([self.bias_initializer((n,), *args, **kwargs), initializers.get("ones")((n,), *args, **kwargs),
                                     self.bias_initializer((n * 2,), *args, **kwargs)], -1)
        return bias

    def input_conv(self, x, w, b=None, padding="valid"):
        made = convolution(x, w, self.strides, padding, self.data_format, self.dilation_rate, "convolution")
        return made if b is None else backend.bias_add(made, b, data_format=self.data_format)

    def recurrent_conv(self, x, w):
        ones = (1,) * self.rank
        return convolution(x, w, ones, "same", self.data_format, ones, "convolution")

    def call(self, inputs, states, training=None):
        before, carry = states
        xs = _each(inputs, self.get_dropout_mask_for_cell(inputs, training, count=4) if 0 < self.dropout < 1 else None, 4)
        masks = self.get_recurrent_dropout_mask_for_cell(before, training, count=4) if 0 < self.recurrent_dropout < 1 else None
        hs = _each(before, masks, 4)
        kernels = array_ops.split(self.kernel, 4, axis=self.rank + 1)
        recurrent = array_ops.split(self.recurrent_kernel, 4, axis=self.rank + 1)
        biases = array_ops.split(self.bias, 4) if self.use_bias else [None] * 4
        made = [self.input_conv(x, k, b, padding=self.padding) for x, k, b in zip(xs, kernels, biases)]
        inner = [self.recurrent_conv(h, k) for h, k in zip(hs, recurrent)]
        gate, act = self.recurrent_activation, self.activation
        i, f = gate(made[0] + inner[0]), gate(made[1] + inner[1])
        carry = f * carry + i * act(made[2] + inner[2])
        output = gate(made[3] + inner[3]) * act(carry)
        return output, [output, carry]


class ConvLSTM(RNN):
    """The base of the ConvLSTM layers."""

    _rank, _CELL = None, ConvLSTMCell
    filters, kernel_size, strides, padding = _of_cell("filters"), _of_cell("kernel_size"), _of_cell("strides"), _of_cell("padding")
    data_format, dilation_rate, activation = _of_cell("data_format"), _of_cell("dilation_rate"), _of_cell("activation")
    recurrent_activation, use_bias = _of_cell("recurrent_activation"), _of_cell("use_bias")
    kernel_initializer, recurrent_initializer = _of_cell("kernel_initializer"), _of_cell("recurrent_initializer")
    bias_initializer, unit_forget_bias = _of_cell("bias_initializer"), _of_cell("unit_forget_bias")
    kernel_regularizer, recurrent_regularizer = _of_cell("kernel_regularizer"), _of_cell("recurrent_regularizer")
    bias_regularizer, kernel_constraint = _of_cell("bias_regularizer"), _of_cell("kernel_constraint")
    recurrent_constraint, bias_constraint = _of_cell("recurrent_constraint"), _of_cell("bias_constraint")
    dropout, recurrent_dropout = _of_cell("dropout"), _of_cell("recurrent_dropout")

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, activation="tanh",
                 recurrent_activation="hard_sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, return_sequences=False, return_state=False, go_backwards=False,
                 stateful=False, dropout=0.0, recurrent_dropout=0.0, **kwargs):
        if kwargs.pop("unroll", False):
            raise TypeError("Unrolling is not possible with convolutional RNNs. Received: unroll=True")
        cell = ConvLSTMCell(
            self._rank, filters, kernel_size, strides, padding, data_format, dilation_rate, activation, recurrent_activation, use_bias,
            kernel_initializer, recurrent_initializer, bias_initializer, unit_forget_bias, kernel_regularizer, recurrent_regularizer,
            bias_regularizer, kernel_constraint, recurrent_constraint, bias_constraint, dropout, recurrent_dropout,
            name="conv_lstm_cell", dtype=kwargs.get("dtype"))
        super().__init__(cell, return_sequences=return_sequences, return_state=return_state, go_backwards=go_backwards, stateful=stateful,
                         activity_regularizer=activity_regularizer, **kwargs)
        self.input_spec = [InputSpec(ndim=self._rank + 3)]

    _build_cell = RNN._build_plain_cell

    def _space(self, dims):
        cell = self.cell
        inside = dims[3:] if cell.data_format == "channels_first" else dims[2:-1]
        return [arguments.window_length(n, cell.kernel_size[i], cell.padding, cell.strides[i], cell.dilation_rate[i])
                for i, n in enumerate(inside)]

    def _inner(self, dims):
        space = self._space(dims)
        return [self.cell.filters] + space if self.cell.data_format == "channels_first" else space + [self.cell.filters]

    def compute_output_shape(self, input_shape):
        shape = input_shape[0] if isinstance(input_shape, list) and isinstance(input_shape[0], (tuple, TensorShape)) else input_shape
        dims = TensorShape(shape).as_list()
        inner = self._inner(dims)
        made = TensorShape(dims[:2] + inner if self.return_sequences else dims[:1] + inner)
        return [made] + [TensorShape(dims[:1] + inner)] * 2 if self.return_state else made

    def build(self, input_shape):
        shape = input_shape[0] if isinstance(input_shape, list) and isinstance(input_shape[0], TensorShape) else input_shape
        dims = TensorShape(shape).as_list()
        self.input_spec = [InputSpec(shape=(dims[0] if self.stateful else None, None, *dims[2:]))]
        if not self.cell.built:
            self._build_cell(TensorShape(dims[:1] + dims[2:]))
        self._state_shape = self._inner(dims)
        if self.stateful:
            self.reset_states()
        self.built = True

    def get_initial_state(self, inputs):
        """Returns zeros with the shape of the result of the cell's convolution."""
        start = array_ops.zeros_like(inputs)
        from weft._core.ops import math_ops
        start = math_ops.reduce_sum(start, axis=1)
        shape = self.cell.kernel_size + (TensorShape(self.cell.kernel.shape).as_list()[-2], self.cell.filters)
        made = self.cell.input_conv(start, array_ops.zeros(shape, dtype=inputs.dtype), padding=self.cell.padding)
        return [made, made]

    def call(self, inputs, mask=None, training=None, initial_state=None):
        inputs, initial_state, _ = self._process_inputs(inputs, initial_state, None)
        _reset_masks(self.cell)
        if isinstance(mask, list):
            mask = mask[0]
        last, outputs, states = backend.rnn(self._step(training, 0), inputs, initial_state, go_backwards=self.go_backwards, mask=mask,
                                            input_length=inputs.shape.as_list()[1], return_all_outputs=self.return_sequences)
        if self.stateful:
            for variable, value in zip(self.states, states):
                self.add_update(variable.assign(value))
        made = outputs if self.return_sequences else last
        return [made] + list(states) if self.return_state else made

    def reset_states(self, states=None):
        import numpy as np
        if self.stateful and self._states is None and self.input_spec[0].shape is not None and self.input_spec[0].shape[0]:
            self.states = [backend.variable(np.zeros([self.input_spec[0].shape[0]] + self._state_shape, self.dtype)) for _ in range(2)]
            if states is None:
                return
        super().reset_states(states)

    def get_config(self):
        names = list(ConvLSTMCell._CONFIG)
        names.insert(names.index("bias_regularizer") + 1, "activity_regularizer")
        config = super().get_config()
        config.update({k: v for k, v in self._configured(names).items() if k in names})
        return config

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class ConvLSTM1D(ConvLSTM):
    """An LSTM of sequences of rows."""

    _rank = 1


class ConvLSTM2D(ConvLSTM):
    """An LSTM of sequences of images."""

    _rank = 2


class ConvLSTM3D(ConvLSTM):
    """An LSTM of sequences of volumes."""

    _rank = 3
