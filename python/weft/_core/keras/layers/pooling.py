"""Pooling layers: the maximum or the mean of windows, or of whole inputs."""
from weft._core.framework.build import op
from weft._core.keras import arguments
from weft._core.keras.base_layer import Layer, output_shape
from weft._core.keras.input_spec import InputSpec
from weft._core.nn import nn
from weft._core.ops import array_ops, math_ops


class _Pooling(Layer):
    """The base of pooling over windows. _kind is Max or Avg, and _axes the number of axes."""

    _CONFIG = ("pool_size", "padding", "strides", "data_format")
    _kind, _axes = None, None

    def __init__(self, pool_size=2, strides=None, padding="valid", data_format=None, **kwargs):
        name = kwargs.pop("name", None)
        super().__init__(name=name, **kwargs)
        self.pool_size = arguments.sizes(pool_size, self._axes, "pool_size")
        self.strides = arguments.sizes(pool_size if strides is None else strides, self._axes, "strides", allow_zero=True)
        self.padding, self.data_format = arguments.padding_name(padding), arguments.layout(data_format)
        self.input_spec = InputSpec(ndim=self._axes + 2)

    _channels_first = property(lambda self: self.data_format == "channels_first")

    def _full(self, values):
        return [1, 1, *values] if self._channels_first else [1, *values, 1]

    @output_shape
    def compute_output_shape(self, input_shape):
        inside = input_shape[2:] if self._channels_first else input_shape[1:-1]
        made = tuple(arguments.window_length(n, self.pool_size[i], self.padding, self.strides[i]) for i, n in enumerate(inside))
        return input_shape[:2] + made if self._channels_first else input_shape[:1] + made + input_shape[-1:]


class Pooling1D(_Pooling):
    """Pools windows of sequences, computed as images that are one column wide."""

    _axes = 1

    def call(self, inputs):
        first = self._channels_first
        at = 3 if first else 2
        x = array_ops.expand_dims(inputs, at)
        if first:  # CPUs compute it with the channels last.
            x = array_ops.transpose(x, [0, 2, 3, 1])
        pool = nn.max_pool if self._kind == "Max" else nn.avg_pool
        made = pool(x, [1, self.pool_size[0], 1, 1], [1, self.strides[0], 1, 1], self.padding.upper())
        if first:
            made = array_ops.transpose(made, [0, 3, 1, 2])
        return array_ops.squeeze(made, at)


class Pooling2D(_Pooling):
    """Pools windows of images."""

    _axes = 2

    def call(self, inputs):
        pool = nn.max_pool if self._kind == "Max" else nn.avg_pool
        return pool(inputs, self._full(self.pool_size), self._full(self.strides), self.padding.upper(),
                    data_format=arguments.op_layout(self.data_format, 2))


class Pooling3D(_Pooling):
    """Pools windows of volumes."""

    _axes = 3

    def call(self, inputs):
        if self._channels_first:
            inputs = array_ops.transpose(inputs, [0, 2, 3, 4, 1])
        made = op(self._kind + "Pool3D", input=inputs, ksize=[1, *self.pool_size, 1], strides=[1, *self.strides, 1],
                  padding=self.padding.upper())
        return array_ops.transpose(made, [0, 4, 1, 2, 3]) if self._channels_first else made


class MaxPooling1D(Pooling1D):
    """The largest value of each window of a sequence."""

    _kind = "Max"

    def __init__(self, pool_size=2, strides=None, padding="valid", data_format="channels_last", **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class AveragePooling1D(Pooling1D):
    """The mean of each window of a sequence."""

    _kind = "Avg"

    def __init__(self, pool_size=2, strides=None, padding="valid", data_format="channels_last", **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class MaxPooling2D(Pooling2D):
    """The largest value of each window of an image."""

    _kind = "Max"

    def __init__(self, pool_size=(2, 2), strides=None, padding="valid", data_format=None, **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class AveragePooling2D(Pooling2D):
    """The mean of each window of an image."""

    _kind = "Avg"

    def __init__(self, pool_size=(2, 2), strides=None, padding="valid", data_format=None, **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class MaxPooling3D(Pooling3D):
    """The largest value of each window of a volume."""

    _kind = "Max"

    def __init__(self, pool_size=(2, 2, 2), strides=None, padding="valid", data_format=None, **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class AveragePooling3D(Pooling3D):
    """The mean of each window of a volume."""

    _kind = "Avg"

    def __init__(self, pool_size=(2, 2, 2), strides=None, padding="valid", data_format=None, **kwargs):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class _GlobalPooling(Layer):
    """The base of pooling over whole spatial axes."""

    _CONFIG = ("data_format", "keepdims")
    _axes = None

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(**kwargs)
        self.data_format, self.keepdims = arguments.layout(data_format), keepdims
        self.input_spec = InputSpec(ndim=self._axes + 2)

    def _over(self):
        start = 1 if self.data_format == "channels_last" else 2
        return start if self._axes == 1 else [start + i for i in range(self._axes)]

    @output_shape
    def compute_output_shape(self, input_shape):
        ones = (1,) * self._axes if self.keepdims else ()
        if self.data_format == "channels_last":
            return input_shape[:1] + ones + input_shape[-1:]
        return input_shape[:2] + ones


class _GlobalMax(_GlobalPooling):
    def call(self, inputs):
        return math_ops.reduce_max(inputs, axis=self._over(), keepdims=self.keepdims)


class _GlobalAverage(_GlobalPooling):
    def call(self, inputs):
        return math_ops.reduce_mean(inputs, axis=self._over(), keepdims=self.keepdims)


class GlobalMaxPooling1D(_GlobalMax):
    """The largest value of each sequence."""

    _axes = 1

    def __init__(self, data_format="channels_last", keepdims=False, **kwargs):
        super().__init__(data_format, keepdims, **kwargs)


class GlobalMaxPooling2D(_GlobalMax):
    """The largest value of each image."""

    _axes = 2


class GlobalMaxPooling3D(_GlobalMax):
    """The largest value of each volume."""

    _axes = 3


class GlobalAveragePooling1D(_GlobalAverage):
    """Computes the mean of each sequence; a mask excludes steps."""

    _axes = 1

    def __init__(self, data_format="channels_last", **kwargs):
        super().__init__(data_format, **kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        if mask is None:
            return super().call(inputs)
        over = self._over()
        kept = math_ops.cast(mask, inputs.dtype.base_dtype)
        kept = array_ops.expand_dims(kept, 2 if self.data_format == "channels_last" else 1)
        total = math_ops.reduce_sum(inputs * kept, axis=over, keepdims=self.keepdims)
        return total / math_ops.reduce_sum(kept, axis=over, keepdims=self.keepdims)

    def compute_mask(self, inputs, mask=None):
        return None


class GlobalAveragePooling2D(_GlobalAverage):
    """The mean of each image."""

    _axes = 2


class GlobalAveragePooling3D(_GlobalAverage):
    """The mean of each volume."""

    _axes = 3


MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D = GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D
GlobalAvgPool1D, GlobalAvgPool2D, GlobalAvgPool3D = GlobalAveragePooling1D, GlobalAveragePooling2D, GlobalAveragePooling3D
