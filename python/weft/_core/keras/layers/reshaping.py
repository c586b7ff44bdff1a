"""Layers that upsample, pad or crop sequences, images and volumes."""
from weft._core.framework.build import constant
from weft._core.keras import arguments
from weft._core.keras.base_layer import Layer, output_shape
from weft._core.keras.input_spec import InputSpec
from weft._core.ops import array_ops


class _Spatial(Layer):
    """The base of layers over `_axes` spatial axes."""

    _axes = None

    def _space(self, shape):
        return shape[2:] if self._first else shape[1:-1]

    def _with_space(self, shape, made):
        return shape[:2] + tuple(made) if self._first else shape[:1] + tuple(made) + shape[-1:]

    @property
    def _first(self):
        return getattr(self, "data_format", "channels_last") == "channels_first"


def _repeated(x, times, axis):
    """Returns a tensor with each element of an axis repeated."""
    size = x.shape.as_list()[axis]
    if size is not None:
        parts = array_ops.split(value=x, num_or_size_splits=size, axis=axis)
        return array_ops.concat([p for p in parts for _ in range(times)], axis)
    wide = array_ops.expand_dims(x, axis=axis + 1)
    made = array_ops.tile(wide, [times if i == axis + 1 else 1 for i in range(wide.shape.ndims)])
    shape = array_ops.unstack(array_ops.shape(x))
    shape[axis] = shape[axis] * times
    made = array_ops.reshape(made, array_ops.stack(shape))
    made.set_shape(x.shape)
    return made


class UpSampling1D(_Spatial):
    """Repeats each step of a sequence."""

    _CONFIG = ("size",)
    _axes = 1

    def __init__(self, size=2, **kwargs):
        super().__init__(**kwargs)
        self.size, self.input_spec = int(size), InputSpec(ndim=3)

    @output_shape
    def compute_output_shape(self, input_shape):
        return (input_shape[0], None if input_shape[1] is None else self.size * input_shape[1], input_shape[2])

    def call(self, inputs):
        return _repeated(inputs, self.size, 1)


class UpSampling2D(_Spatial):
    """Enlarges images."""

    _CONFIG = ("size", "data_format", "interpolation")
    _axes = 2

    def __init__(self, size=(2, 2), data_format=None, interpolation="nearest", **kwargs):
        super().__init__(**kwargs)
        self.data_format, self.size = arguments.layout(data_format), arguments.sizes(size, 2, "size")
        if interpolation.lower() not in _RESIZE:
            raise NotImplementedError("Value not recognized for `interpolation`: %s. Supported values are: %s" % (
                interpolation.lower(), list(_RESIZE)))
        self.interpolation, self.input_spec = interpolation.lower(), InputSpec(ndim=4)

    @output_shape
    def compute_output_shape(self, input_shape):
        return self._with_space(input_shape, [None if n is None else n * s for n, s in zip(self._space(input_shape), self.size)])

    def call(self, inputs):
        rows = 2 if self._first else 1
        dims = inputs.shape.as_list()
        known = dims[rows:rows + 2]
        now = constant(known) if None not in known else array_ops.shape(inputs)[rows:rows + 2]
        size = now * constant(list(self.size))
        x = array_ops.transpose(inputs, [0, 2, 3, 1]) if self._first else inputs
        made = _resized(x, size, self.interpolation)
        made = array_ops.transpose(made, [0, 3, 1, 2]) if self._first else made
        made.set_shape(self.compute_output_shape(inputs.shape))
        return made


_RESIZE = {"nearest": "ResizeNearestNeighbor", "bilinear": "ResizeBilinear", "bicubic": "ResizeBicubic", "area": "ResizeArea",
           "lanczos3": None, "lanczos5": None, "gaussian": None, "mitchellcubic": None}


def _resized(x, size, interpolation):
    from weft._core.framework.absent import where
    from weft._core.framework.build import op
    from weft._core.framework.graph import name_scope
    kind = _RESIZE[interpolation]
    if kind is None:
        raise NotImplementedError("tf.keras.layers.UpSampling2D(interpolation=%r) is not in Weft%s: use nearest, bilinear, bicubic or "
                                  "area" % (interpolation, where()))
    with name_scope("resize"):
        given = {} if interpolation == "area" else {"half_pixel_centers": True}
        return op(kind, images=x, size=size, align_corners=False, **given)


class UpSampling3D(_Spatial):
    """Repeats each element of volumes along each axis."""

    _CONFIG = ("size", "data_format")
    _axes = 3

    def __init__(self, size=(2, 2, 2), data_format=None, **kwargs):
        self.data_format, self.size = arguments.layout(data_format), arguments.sizes(size, 3, "size")
        super().__init__(**kwargs)

    @output_shape
    def compute_output_shape(self, input_shape):
        return self._with_space(input_shape, [None if n is None else n * s for n, s in zip(self._space(input_shape), self.size)])

    def call(self, inputs):
        start = 2 if self._first else 1
        for i, times in enumerate(self.size):
            inputs = _repeated(inputs, times, start + i)
        return inputs


class _Padding(_Spatial):
    """The base of layers that pad the spatial axes with zeros."""

    @output_shape
    def compute_output_shape(self, input_shape):
        return self._with_space(input_shape, [None if n is None else n + a + b
                                              for n, (a, b) in zip(self._space(input_shape), self._sides())])

    def _sides(self):
        return self.padding

    def call(self, inputs):
        sides = [list(p) for p in self._sides()]
        return array_ops.pad(inputs, [[0, 0], [0, 0], *sides] if self._first else [[0, 0], *sides, [0, 0]])


class ZeroPadding1D(_Padding):
    """Pads sequences with zeros."""

    _CONFIG = ("padding",)
    _axes = 1

    def __init__(self, padding=1, **kwargs):
        super().__init__(**kwargs)
        self.padding, self.input_spec = arguments.sizes(padding, 2, "padding", allow_zero=True), InputSpec(ndim=3)

    def _sides(self):
        return [self.padding]


class ZeroPadding2D(_Padding):
    """Pads images with zeros."""

    _CONFIG = ("padding", "data_format")
    _axes = 2

    def __init__(self, padding=(1, 1), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = arguments.layout(data_format)
        self.padding, self.input_spec = arguments.pairs(padding, 2, "padding"), InputSpec(ndim=4)


class ZeroPadding3D(_Padding):
    """Pads volumes with zeros."""

    _CONFIG = ("padding", "data_format")
    _axes = 3

    def __init__(self, padding=(1, 1, 1), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = arguments.layout(data_format)
        self.padding, self.input_spec = arguments.pairs(padding, 3, "padding"), InputSpec(ndim=5)


class _Cropping(_Spatial):
    """The base of layers that crop the spatial axes."""

    def _sides(self):
        return self.cropping

    @output_shape
    def compute_output_shape(self, input_shape):
        return self._with_space(input_shape, [None if n is None else n - a - b
                                              for n, (a, b) in zip(self._space(input_shape), self._sides())])

    def call(self, inputs):
        sides = self._sides()
        dims = inputs.shape.as_list()
        inside = self._space(tuple(dims))
        if any(n is not None and a + b >= n for n, (a, b) in zip(inside, sides)):
            raise ValueError("Argument `cropping` must be greater than the input shape. Received: inputs.shape=%s, and cropping=%s" % (
                inputs.shape, self.cropping))
        cuts = [slice(a, -b if b else None) for a, b in sides]
        return inputs[(slice(None), slice(None), *cuts) if self._first else (slice(None), *cuts, slice(None))]


class Cropping1D(_Cropping):
    """Crops sequences at both ends."""

    _CONFIG = ("cropping",)
    _axes = 1

    def __init__(self, cropping=(1, 1), **kwargs):
        super().__init__(**kwargs)
        self.cropping, self.input_spec = arguments.sizes(cropping, 2, "cropping", allow_zero=True), InputSpec(ndim=3)

    def _sides(self):
        return [self.cropping]


class Cropping2D(_Cropping):
    """Crops the borders of images."""

    _CONFIG = ("cropping", "data_format")
    _axes = 2

    def __init__(self, cropping=((0, 0), (0, 0)), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = arguments.layout(data_format)
        self.cropping, self.input_spec = arguments.pairs(cropping, 2, "cropping"), InputSpec(ndim=4)


class Cropping3D(_Cropping):
    """Crops the borders of volumes."""

    _CONFIG = ("cropping", "data_format")
    _axes = 3

    def __init__(self, cropping=((1, 1), (1, 1), (1, 1)), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = arguments.layout(data_format)
        self.cropping, self.input_spec = arguments.pairs(cropping, 3, "cropping"), InputSpec(ndim=5)
