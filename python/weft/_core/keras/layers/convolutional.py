"""Layers of convolutions: Conv1D, Conv2D, Conv3D, separable, depthwise and transposed ones."""
from weft._core.framework.build import op
from weft._core.framework.graph import name_scope
from weft._core.framework.tensor_shape import TensorShape
from weft._core.keras import activations, arguments, constraints, initializers, regularizers
from weft._core.keras.base_layer import Layer, output_shape
from weft._core.keras.convolution import convolution, depthwise
from weft._core.keras.input_spec import InputSpec
from weft._core.nn import nn
from weft._core.ops import array_ops


class Conv(Layer):
    """A convolution over `rank` axes with trained filters."""

    _CONFIG = ("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", "groups", "activation", "use_bias",
               "kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer", "activity_regularizer",
               "kernel_constraint", "bias_constraint")
    _causal = False

    def __init__(self, rank, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, groups=1,
                 activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True,
                 name=None, conv_op=None, **kwargs):
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.rank, self.filters, self.groups = rank, int(filters) if isinstance(filters, float) else filters, groups or 1
        self.kernel_size = arguments.sizes(kernel_size, rank, "kernel_size")
        self.strides = arguments.sizes(strides, rank, "strides", allow_zero=True)
        self.padding, self.data_format = arguments.padding_name(padding), arguments.layout(data_format)
        self.dilation_rate = arguments.sizes(dilation_rate, rank, "dilation_rate")
        self.activation, self.use_bias = activations.get(activation), use_bias
        self.kernel_initializer, self.bias_initializer = initializers.get(kernel_initializer), initializers.get(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = regularizers.get(kernel_regularizer), regularizers.get(bias_regularizer)
        self.kernel_constraint, self.bias_constraint = constraints.get(kernel_constraint), constraints.get(bias_constraint)
        self.input_spec = InputSpec(min_ndim=rank + 2)
        self._validate()

    _channels_first = property(lambda self: self.data_format == "channels_first")

    def _validate(self):
        if self.filters is not None and self.filters <= 0:
            raise ValueError("Invalid value for argument `filters`. Expected a strictly positive value. Received filters=%s." % (
                self.filters,))
        if self.filters is not None and self.filters % self.groups:
            raise ValueError("The number of filters must be evenly divisible by the number of groups. Received: groups=%s, filters=%s" % (
                self.groups, self.filters))
        if not all(self.strides):
            raise ValueError("The argument `strides` cannot contains 0(s). Received: %s" % (self.strides,))
        if self.padding == "causal" and not self._causal:
            raise ValueError("Causal padding is only supported for `Conv1D`and `SeparableConv1D`.")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: strides=%s and "
                             "dilation_rate=%s" % (self.strides, self.dilation_rate))

    @property
    def _channel_axis(self):
        return -1 - self.rank if self._channels_first else -1

    def _channels(self, input_shape):
        shape = TensorShape(input_shape)
        found = None if shape.ndims is None else shape.as_list()[self._channel_axis]
        if found is None:
            raise ValueError("The channel dimension of the inputs should be defined. The input_shape received is %s, where axis %s "
                             "(0-based) is the channel dimension, which found to be `None`." % (shape, self._channel_axis))
        return found

    def build(self, input_shape):
        channels = self._channels(input_shape)
        if channels % self.groups:
            raise ValueError("The number of input channels must be evenly divisible by the number of groups. Received groups=%s, but the "
                             "input has %s channels (full input shape is %s)." % (self.groups, channels, input_shape))
        self.kernel = self.add_weight(name="kernel", shape=self.kernel_size + (channels // self.groups, self.filters),
                                      initializer=self.kernel_initializer, regularizer=self.kernel_regularizer,
                                      constraint=self.kernel_constraint, trainable=True, dtype=self.dtype)
        self._add_bias(self.filters)
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={self._channel_axis: channels})
        self._check_size(input_shape)
        self.built = True

    def _check_size(self, input_shape):
        try:
            self.compute_output_shape(input_shape)
        except NotImplementedError:
            pass

    def _add_bias(self, size):
        self.bias = self.add_weight(name="bias", shape=(size,), initializer=self.bias_initializer, regularizer=self.bias_regularizer,
                                    constraint=self.bias_constraint, trainable=True, dtype=self.dtype) if self.use_bias else None

    def _convolved(self, inputs, kernel):
        name = type(self).__name__
        if self.groups == 1:
            return convolution(inputs, kernel, self.strides, self._op_padding(), self.data_format, self.dilation_rate, name)
        axis = self.rank + 1 if not self._channels_first else 1
        parts = array_ops.split(inputs, self.groups, axis=axis)
        kernels = array_ops.split(kernel, self.groups, axis=self.rank + 1)
        made = [convolution(x, k, self.strides, self._op_padding(), self.data_format, self.dilation_rate, name)
                for x, k in zip(parts, kernels)]
        return array_ops.concat(made, axis)

    def _op_padding(self):
        return "valid" if self.padding == "causal" else self.padding

    def call(self, inputs):
        if self.padding == "causal":
            inputs = array_ops.pad(inputs, self._causal_paddings(inputs))
        return self._finished(self._convolved(inputs, self.kernel))

    def _finished(self, made):
        if self.use_bias:
            made = self._with_bias(made)
        return made if self.activation is None else self.activation(made)

    def _with_bias(self, made):
        if not self._channels_first:
            return nn.bias_add(made, self.bias, data_format="NHWC")
        if self.rank == 1:
            return made + array_ops.reshape(self.bias, (1, self.filters or -1, 1))
        return nn.bias_add(made, self.bias, data_format="NCHW")

    def _causal_paddings(self, inputs):
        left = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        return [[0, 0], [left, 0], [0, 0]] if not self._channels_first else [[0, 0], [0, 0], [left, 0]]

    def _space(self, dims):
        return [arguments.window_length(n, self.kernel_size[i], self.padding, self.strides[i], self.dilation_rate[i])
                for i, n in enumerate(dims)]

    def compute_output_shape(self, input_shape):
        dims = TensorShape(input_shape).as_list()
        batch = len(dims) - self.rank - 1
        inside = dims[batch + 1:] if self._channels_first else dims[batch:-1]
        made = self._space(inside)
        if any(n is not None and n <= 0 for n in made):
            raise ValueError("One of the dimensions in the output is <= 0 due to downsampling in %s. Consider increasing the input size. "
                             "Received input shape %s which would produce output shape with a zero or negative value in a dimension." % (
                                 self.name, dims))
        return TensorShape(dims[:batch] + ([self._outputs(), *made] if self._channels_first else [*made, self._outputs()]))

    def _outputs(self):
        return self.filters


class Conv1D(Conv):
    """A convolution of sequences."""

    _causal = True

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1, groups=1,
                 activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(1, filters, kernel_size, strides, padding, data_format, dilation_rate, groups, activations.get(activation),
                         use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
                         kernel_constraint, bias_constraint, **kwargs)


class Conv2D(Conv):
    """A convolution of images."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1), groups=1,
                 activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(2, filters, kernel_size, strides, padding, data_format, dilation_rate, groups, activations.get(activation),
                         use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
                         kernel_constraint, bias_constraint, **kwargs)


class Conv3D(Conv):
    """A convolution of volumes."""

    def __init__(self, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format=None, dilation_rate=(1, 1, 1), groups=1,
                 activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(3, filters, kernel_size, strides, padding, data_format, dilation_rate, groups, activations.get(activation),
                         use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
                         kernel_constraint, bias_constraint, **kwargs)


class _Transpose:
    """The base of transposed convolutions. The last axes of the kernel are swapped, and the outputs are larger."""

    _CONFIG = ("output_padding",)

    def _set_output_padding(self, given):
        self.output_padding = given if given is None else arguments.sizes(given, self.rank, "output_padding", allow_zero=True)
        if given is None:
            return
        for stride, more in zip(self.strides, self.output_padding):
            if more >= stride:
                raise ValueError("Strides must be greater than output padding. Received strides=%s, output_padding=%s." % (
                    self.strides, self.output_padding))

    def build(self, input_shape):
        shape = TensorShape(input_shape)
        if shape.ndims != self.rank + 2:
            raise ValueError("Inputs should have rank %d. Received input_shape=%s." % (self.rank + 2, input_shape))
        channels = self._channels(shape)
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={self._channel_axis: channels})
        self.kernel = self.add_weight(name="kernel", shape=self.kernel_size + (self.filters, channels),
                                      initializer=self.kernel_initializer, regularizer=self.kernel_regularizer,
                                      constraint=self.kernel_constraint, trainable=True, dtype=self.dtype)
        self._add_bias(self.filters)
        self.built = True

    def _lengths(self, dims):
        more = self.output_padding or (None,) * self.rank
        return [arguments.transposed_length(n, self.kernel_size[i], self.padding, more[i], self.strides[i], self.dilation_rate[i])
                for i, n in enumerate(dims)]

    def _output_sizes(self, inputs, known_first):
        """Returns the sizes of the outputs as a tensor, made of numbers where they are known, as in TensorFlow."""
        shape, dims = array_ops.shape(inputs), inputs.shape.as_list()
        start = 2 if self._channels_first else 1
        batch = shape[0]
        inside = [dims[start + i] if known_first and dims[start + i] is not None else shape[start + i] for i in range(self.rank)]
        made = self._lengths(inside)
        return array_ops.stack([batch, self.filters, *made] if self._channels_first else [batch, *made, self.filters])

    def _full(self, values):
        return [1, 1, *values] if self._channels_first else [1, *values, 1]

    def compute_output_shape(self, input_shape):
        dims = TensorShape(input_shape).as_list()
        made = self._lengths(dims[2:] if self._channels_first else dims[1:-1])
        return TensorShape([dims[0], self.filters, *made] if self._channels_first else [dims[0], *made, self.filters])


class Conv1DTranspose(_Transpose, Conv1D):
    """A transposed convolution of sequences."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", output_padding=None, data_format=None, dilation_rate=1,
                 activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, kwargs.pop("groups", 1),
                         activations.get(activation), use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, **kwargs)
        self._set_output_padding(output_padding)

    def call(self, inputs):
        sizes = self._output_sizes(inputs, known_first=False)
        with name_scope("conv1d_transpose") as scope:
            at = 2 if self._channels_first else 1
            image, wide = array_ops.expand_dims(inputs, at), array_ops.expand_dims(self.kernel, 0)
            sizes = array_ops.concat([sizes[:at], [1], sizes[at:]], 0)
            made = op("Conv2DBackpropInput", scope, input_sizes=sizes, filter=wide, out_backprop=image,
                      strides=[1, 1, 1, self.strides[0]] if self._channels_first else [1, 1, self.strides[0], 1],
                      padding=self.padding.upper(), data_format="NCHW" if self._channels_first else "NHWC",
                      dilations=[1, 1, 1, self.dilation_rate[0]] if self._channels_first else [1, 1, self.dilation_rate[0], 1])
            made = array_ops.squeeze(made, [at])
        made.set_shape(self.compute_output_shape(inputs.shape))
        return self._finished(made)


class Conv2DTranspose(_Transpose, Conv2D):
    """A transposed convolution of images: it enlarges them where Conv2D makes them smaller."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", output_padding=None, data_format=None,
                 dilation_rate=(1, 1), activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
                 **kwargs):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, kwargs.pop("groups", 1),
                         activations.get(activation), use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, **kwargs)
        self._set_output_padding(output_padding)

    def call(self, inputs):
        sizes = self._output_sizes(inputs, known_first=True)
        x, strides, dilations = inputs, [1, *self.strides, 1], [1, *self.dilation_rate, 1]
        if self._channels_first:  # CPUs compute it with the channels last.
            x = array_ops.transpose(x, [0, 2, 3, 1])
            sizes = array_ops.stack([sizes[0], sizes[2], sizes[3], sizes[1]])
        else:
            sizes[0]  # TensorFlow adds a node that reads the batch size here.
        made = nn.conv2d_transpose(x, self.kernel, sizes, strides, self.padding.upper(), dilations=dilations)
        if self._channels_first:
            made = array_ops.transpose(made, [0, 3, 1, 2])
        made.set_shape(self.compute_output_shape(inputs.shape))
        return self._finished(made)


class Conv3DTranspose(_Transpose, Conv3D):
    """A transposed convolution of volumes."""

    def __init__(self, filters, kernel_size, strides=(1, 1, 1), padding="valid", output_padding=None, data_format=None,
                 dilation_rate=(1, 1, 1), activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
                 **kwargs):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, kwargs.pop("groups", 1),
                         activations.get(activation), use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, **kwargs)
        self._set_output_padding(output_padding)

    def call(self, inputs):
        sizes = self._output_sizes(inputs, known_first=False)
        with name_scope("conv3d_transpose") as scope:
            made = op("Conv3DBackpropInputV2", scope, input_sizes=sizes, filter=self.kernel, out_backprop=inputs,
                      strides=self._full(self.strides), padding=self.padding.upper(),
                      data_format=arguments.op_layout(self.data_format, 3), dilations=[1] * 5)
        made.set_shape(self.compute_output_shape(inputs.shape))
        return self._finished(made)

    def get_config(self):
        config = super().get_config()
        config.pop("dilation_rate")
        return config


class SeparableConv(Conv):
    """A convolution of each channel separately, followed by one that mixes the channels."""

    _CONFIG = ("depth_multiplier", "depthwise_initializer", "pointwise_initializer", "depthwise_regularizer", "pointwise_regularizer",
               "depthwise_constraint", "pointwise_constraint")

    def __init__(self, rank, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, depth_multiplier=1,
                 activation=None, use_bias=True, depthwise_initializer="glorot_uniform", pointwise_initializer="glorot_uniform",
                 bias_initializer="zeros", depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True,
                 name=None, **kwargs):
        super().__init__(rank, filters, kernel_size, strides, padding, data_format, dilation_rate, kwargs.pop("groups", 1),
                         activations.get(activation), use_bias, bias_initializer=bias_initializer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, bias_constraint=bias_constraint, trainable=trainable, name=name,
                         **kwargs)
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer, self.pointwise_initializer = (
            initializers.get(depthwise_initializer), initializers.get(pointwise_initializer))
        self.depthwise_regularizer, self.pointwise_regularizer = (
            regularizers.get(depthwise_regularizer), regularizers.get(pointwise_regularizer))
        self.depthwise_constraint, self.pointwise_constraint = (
            constraints.get(depthwise_constraint), constraints.get(pointwise_constraint))

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={self._channel_axis: channels})
        self.depthwise_kernel = self.add_weight(
            name="depthwise_kernel", shape=self.kernel_size + (channels, self.depth_multiplier), initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer, constraint=self.depthwise_constraint, trainable=True, dtype=self.dtype)
        self.pointwise_kernel = self.add_weight(
            name="pointwise_kernel", shape=(1,) * self.rank + (self.depth_multiplier * channels, self.filters),
            initializer=self.pointwise_initializer, regularizer=self.pointwise_regularizer, constraint=self.pointwise_constraint,
            trainable=True, dtype=self.dtype)
        self._add_bias(self.filters)
        self.built = True


class SeparableConv1D(SeparableConv):
    """A separable convolution of sequences."""

    _causal = True

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, depth_multiplier=1,
                 activation=None, use_bias=True, depthwise_initializer="glorot_uniform", pointwise_initializer="glorot_uniform",
                 bias_initializer="zeros", depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(1, filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier,
                         activations.get(activation), use_bias, depthwise_initializer, pointwise_initializer, bias_initializer,
                         depthwise_regularizer, pointwise_regularizer, bias_regularizer, activity_regularizer, depthwise_constraint,
                         pointwise_constraint, bias_constraint, **kwargs)

    def call(self, inputs):
        if self.padding == "causal":
            inputs = array_ops.pad(inputs, self._causal_paddings(inputs))
        at = 2 if self._channels_first else 1
        strides = self.strides * 2
        x = array_ops.expand_dims(inputs, at)
        deep, point = array_ops.expand_dims(self.depthwise_kernel, 0), array_ops.expand_dims(self.pointwise_kernel, 0)
        made = nn.separable_conv2d(x, deep, point, [1, 1, *strides] if self._channels_first else [1, *strides, 1],
                                   self._op_padding().upper(), rate=[1, self.dilation_rate[0]],
                                   data_format="NCHW" if self._channels_first else "NHWC")
        if self.use_bias:
            made = nn.bias_add(made, self.bias, data_format="NCHW" if self._channels_first else "NHWC")
        made = array_ops.squeeze(made, [at])
        return made if self.activation is None else self.activation(made)


class SeparableConv2D(SeparableConv):
    """A separable convolution of images."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1), depth_multiplier=1,
                 activation=None, use_bias=True, depthwise_initializer="glorot_uniform", pointwise_initializer="glorot_uniform",
                 bias_initializer="zeros", depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(2, filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier,
                         activations.get(activation), use_bias, depthwise_initializer, pointwise_initializer, bias_initializer,
                         depthwise_regularizer, pointwise_regularizer, bias_regularizer, activity_regularizer, depthwise_constraint,
                         pointwise_constraint, bias_constraint, **kwargs)

    def call(self, inputs):
        made = nn.separable_conv2d(inputs, self.depthwise_kernel, self.pointwise_kernel,
                                   [1, 1, *self.strides] if self._channels_first else [1, *self.strides, 1], self.padding.upper(),
                                   rate=list(self.dilation_rate), data_format="NCHW" if self._channels_first else "NHWC")
        return self._finished(made)


class DepthwiseConv(Conv):
    """A convolution of each channel separately."""

    def __init__(self, rank, kernel_size, strides=1, padding="valid", depth_multiplier=1, data_format=None, dilation_rate=1,
                 activation=None, use_bias=True, depthwise_initializer="glorot_uniform", bias_initializer="zeros",
                 depthwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None,
                 bias_constraint=None, trainable=True, name=None, **kwargs):
        super().__init__(rank, None, kernel_size, strides, padding, data_format, dilation_rate, kwargs.pop("groups", 1),
                         activations.get(activation), use_bias, bias_initializer=bias_initializer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, bias_constraint=bias_constraint, trainable=trainable, name=name,
                         **kwargs)
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = initializers.get(depthwise_initializer)
        self.depthwise_regularizer = regularizers.get(depthwise_regularizer)
        self.depthwise_constraint = constraints.get(depthwise_constraint)

    def build(self, input_shape):
        shape = TensorShape(input_shape)
        if shape.ndims is None or shape.ndims < self.rank + 2:
            raise ValueError("Inputs to `DepthwiseConv` should have rank %d. Received input_shape=%s." % (self.rank + 2, input_shape))
        channels = self._channels(shape)
        self.depthwise_kernel = self.add_weight(
            name="depthwise_kernel", shape=self.kernel_size + (channels, self.depth_multiplier), initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer, constraint=self.depthwise_constraint)
        self._width = channels * self.depth_multiplier
        self._add_bias(self._width)
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={self._channel_axis: channels})
        self.built = True

    @output_shape
    def compute_output_shape(self, input_shape):
        dims = list(input_shape)
        channels = dims[self._channel_axis] * self.depth_multiplier
        made = self._space(dims[2:] if self._channels_first else dims[1:-1])
        return (dims[0], channels, *made) if self._channels_first else (dims[0], *made, channels)

    def get_config(self):
        return self._configured((
            "kernel_size", "strides", "padding", "data_format", "dilation_rate", "groups", "activation", "use_bias", "bias_initializer",
            "bias_regularizer", "activity_regularizer", "bias_constraint", "depth_multiplier", "depthwise_initializer",
            "depthwise_regularizer", "depthwise_constraint"))


class DepthwiseConv1D(DepthwiseConv):
    """A convolution of each channel of sequences separately."""

    def __init__(self, kernel_size, strides=1, padding="valid", depth_multiplier=1, data_format=None, dilation_rate=1, activation=None,
                 use_bias=True, depthwise_initializer="glorot_uniform", bias_initializer="zeros", depthwise_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(1, kernel_size, strides, padding, depth_multiplier, data_format, dilation_rate, activation, use_bias,
                         depthwise_initializer, bias_initializer, depthwise_regularizer, bias_regularizer, activity_regularizer,
                         depthwise_constraint, bias_constraint, **kwargs)

    def call(self, inputs):
        at = 2 if self._channels_first else 1
        strides = self.strides * 2
        made = nn.depthwise_conv2d(array_ops.expand_dims(inputs, at), array_ops.expand_dims(self.depthwise_kernel, 0),
                                   [1, 1, *strides] if self._channels_first else [1, *strides, 1], self.padding.upper(),
                                   rate=[1, self.dilation_rate[0]], data_format="NCHW" if self._channels_first else "NHWC")
        if self.use_bias:
            made = nn.bias_add(made, self.bias, data_format="NCHW" if self._channels_first else "NHWC")
        made = array_ops.squeeze(made, [at])
        return made if self.activation is None else self.activation(made)


class DepthwiseConv2D(DepthwiseConv):
    """A convolution of each channel of images separately."""

    def __init__(self, kernel_size, strides=(1, 1), padding="valid", depth_multiplier=1, data_format=None, dilation_rate=(1, 1),
                 activation=None, use_bias=True, depthwise_initializer="glorot_uniform", bias_initializer="zeros",
                 depthwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None,
                 bias_constraint=None, **kwargs):
        super().__init__(2, kernel_size, strides, padding, depth_multiplier, data_format, dilation_rate, activation, use_bias,
                         depthwise_initializer, bias_initializer, depthwise_regularizer, bias_regularizer, activity_regularizer,
                         depthwise_constraint, bias_constraint, **kwargs)

    def call(self, inputs):
        made = depthwise(inputs, self.depthwise_kernel, self.strides, self.padding, self.data_format, self.dilation_rate)
        return self._finished(made)
