"""Convolution layers with a different kernel at each position."""
import itertools

import numpy as np

from weft._core.framework.build import constant
from weft._core.framework.tensor_shape import TensorShape
from weft._core.keras import activations, arguments, backend, constraints, initializers, regularizers
from weft._core.keras.base_layer import Layer, output_shape
from weft._core.keras.input_spec import InputSpec
from weft._core.ops import array_ops, math_ops


class LocallyConnected(Layer):
    """A convolution over `_axes` axes whose kernel differs at each position of the outputs."""

    _CONFIG = ("filters", "kernel_size", "strides", "padding", "data_format", "activation", "use_bias", "kernel_initializer",
               "bias_initializer", "kernel_regularizer", "bias_regularizer", "activity_regularizer", "kernel_constraint",
               "bias_constraint", "implementation")
    _axes = None

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format=None, activation=None, use_bias=True,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, implementation=1, **kwargs):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.filters, self.kernel_size = filters, arguments.sizes(kernel_size, self._axes, "kernel_size")
        self.strides = arguments.sizes(strides, self._axes, "strides", allow_zero=True)
        self.padding = arguments.padding_name(padding)
        if self.padding != "valid" and implementation == 1:
            raise ValueError("Invalid border mode for LocallyConnected%dD (only \"valid\" is supported if implementation is 1): %s" % (
                self._axes, padding))
        self.data_format, self.activation, self.use_bias = arguments.layout(data_format), activations.get(activation), use_bias
        self.kernel_initializer, self.bias_initializer = initializers.get(kernel_initializer), initializers.get(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = regularizers.get(kernel_regularizer), regularizers.get(bias_regularizer)
        self.kernel_constraint, self.bias_constraint = constraints.get(kernel_constraint), constraints.get(bias_constraint)
        self.implementation, self.input_spec = implementation, InputSpec(ndim=self._axes + 2)

    _first = property(lambda self: self.data_format == "channels_first")

    def _sizes(self, dims):
        return tuple(arguments.window_length(n, k, self.padding, s) for n, k, s in zip(dims, self.kernel_size, self.strides))

    def _pairs(self):
        """Yields (position in the outputs, position in the inputs) wherever a kernel connects them."""
        for out in np.ndindex(*self._out):
            ranges = []
            for o, k, s, n in zip(out, self.kernel_size, self.strides, self._in):
                start = o * s - (k // 2 if self.padding == "same" else 0) if self.padding == "valid" else o * s - (k - 1) // 2
                ranges.append(range(max(start, 0), min(start + k, n)))
            for at in itertools.product(*ranges):
                yield out, at

    def build(self, input_shape):
        dims = TensorShape(input_shape).as_list()
        channels, inside = (dims[1], dims[2:]) if self._first else (dims[-1], dims[1:-1])
        if None in inside or channels is None:
            raise ValueError("The spatial dimensions of the inputs to a LocallyConnected%dD layer should be fully-defined, but layer "
                             "received an input shape of %s" % (self._axes, input_shape))
        self._channels, self._in, self._out = channels, tuple(inside), self._sizes(inside)
        if any(n <= 0 for n in self._out):
            raise ValueError("One of the dimensions in the output is <= 0 due to downsampling in %s. Consider increasing the input size. "
                             "Received input shape %s which would produce output shape with a zero or negative value in a dimension." % (
                                 self.name, dims))
        self.kernel = self.add_weight(shape=self._kernel_shape(), initializer=self.kernel_initializer, name="kernel",
                                      regularizer=self.kernel_regularizer, constraint=self.kernel_constraint)
        self.bias = self.add_weight(shape=(*self._out, self.filters), initializer=self.bias_initializer, name="bias",
                                    regularizer=self.bias_regularizer, constraint=self.bias_constraint) if self.use_bias else None
        self.input_spec = InputSpec(ndim=self._axes + 2, axes={1 if self._first else -1: channels})
        self.built = True

    def _kernel_shape(self):
        if self.implementation == 1:
            return int(np.prod(self._out)), int(np.prod(self.kernel_size)) * self._channels, self.filters
        if self.implementation == 2:
            if self._first:
                return (self._channels, *self._in, self.filters, *self._out)
            return (*self._in, self._channels, *self._out, self.filters)
        if self.implementation == 3:
            self._indices = sorted(self._entries())
            return (len(self._indices),)
        raise ValueError("Unrecognized implementation mode: %d." % self.implementation)

    def _entries(self):
        """Yields (row of the outputs, row of the inputs) of every weight, for flattened outputs and inputs."""
        for out, at in self._pairs():
            for f, c in itertools.product(range(self.filters), range(self._channels)):
                made = np.ravel_multi_index((f, *out) if self._first else (*out, f),
                                            (self.filters, *self._out) if self._first else (*self._out, self.filters))
                given = np.ravel_multi_index((c, *at) if self._first else (*at, c),
                                             (self._channels, *self._in) if self._first else (*self._in, self._channels))
                yield int(made), int(given)

    def _dense_mask(self):
        mask = np.zeros(self._in + self._out, self.dtype)
        for out, at in self._pairs():
            mask[at + out] = 1
        i, o = len(self._in), len(self._out)
        if self._first:
            return mask.reshape((1, *self._in, 1, *self._out))
        return mask.reshape((*self._in, 1, *self._out, 1)) if i == o else mask

    def call(self, inputs):
        if self.implementation == 1:
            local = backend.local_conv1d if self._axes == 1 else backend.local_conv2d
            more = () if self._axes == 1 else (self._out,)
            made = local(inputs, self.kernel, self.kernel_size, self.strides, *more, self.data_format)
        else:
            made = self._by_matrix(inputs)
        if self.use_bias:
            made = backend.bias_add(made, self.bias, data_format=self.data_format)
        return self.activation(made)

    def _by_matrix(self, inputs):
        flat = array_ops.reshape(inputs, (array_ops.shape(inputs)[0], -1))
        rows, columns = int(np.prod(self._in)) * self._channels, int(np.prod(self._out)) * self.filters
        if self.implementation == 2:
            kernel = array_ops.reshape(constant(self._dense_mask()) * self.kernel, (rows, columns))
            made = math_ops.matmul(flat, kernel)
        else:
            from weft._core.ops import sparse
            kernel = sparse.SparseTensor(self._indices, self.kernel, [columns, rows])
            made = array_ops.transpose(sparse.sparse_tensor_dense_matmul(kernel, flat, adjoint_b=True))
        shape = (self.filters, *self._out) if self._first else (*self._out, self.filters)
        return array_ops.reshape(made, (array_ops.shape(made)[0], *shape))

    @output_shape
    def compute_output_shape(self, input_shape):
        made = self._sizes(input_shape[2:] if self._first else input_shape[1:-1])
        return (input_shape[0], self.filters, *made) if self._first else (input_shape[0], *made, self.filters)


class LocallyConnected1D(LocallyConnected):
    """A convolution of sequences with a different kernel at each step."""

    _axes = 1


class LocallyConnected2D(LocallyConnected):
    """A convolution of images with a different kernel at each position."""

    _axes = 2

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, activation=None, use_bias=True,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, implementation=1, **kwargs):
        super().__init__(filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer, bias_initializer,
                         kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, implementation,
                         **kwargs)
