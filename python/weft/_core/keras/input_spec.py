"""tf.keras.layers.InputSpec: the shapes and types that a layer expects, and the check of its inputs."""
from weft._core.framework.absent import Named
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.nest import flatten
from weft._core.framework.tensor_shape import TensorShape


class InputSpec(metaclass=Named):
    """The type, shape, rank and sizes of axes that a layer expects of one input."""

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None,
                 allow_last_axis_squeeze=False, name=None):
        self.dtype = None if dtype is None else as_dtype(dtype).name
        shape = TensorShape(shape)
        self.shape = None if shape.ndims is None else tuple(shape.as_list())
        self.ndim = len(self.shape) if self.shape is not None else ndim
        self.max_ndim, self.min_ndim, self.name = max_ndim, min_ndim, name
        self.allow_last_axis_squeeze = allow_last_axis_squeeze
        try:
            self.axes = {int(k): v for k, v in (axes or {}).items()}
        except (ValueError, TypeError):
            raise TypeError("Argument `axes` must be a dict with integer keys. Received: axes=%s" % (axes,)) from None
        limit = self.ndim or self.max_ndim
        if self.axes and limit is not None and max(self.axes) > limit - 1:
            raise ValueError("Axis %s is greater than the maximum allowed value: %s" % (max(self.axes), limit - 1))

    def __repr__(self):
        shown = (("dtype", self.dtype), ("shape", self.shape), ("ndim", self.ndim), ("max_ndim", self.max_ndim),
                 ("min_ndim", self.min_ndim), ("axes", self.axes))
        return "InputSpec(%s)" % ", ".join("%s=%s" % (k, v) for k, v in shown if v or (k == "shape" and v is not None))

    def get_config(self):
        return {"dtype": self.dtype, "shape": self.shape, "ndim": self.ndim, "max_ndim": self.max_ndim, "min_ndim": self.min_ndim,
                "axes": self.axes}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def check_inputs(spec, inputs, layer_name):
    """Raises ValueError if the inputs do not match the specification of the layer."""
    if not spec:
        return
    specs = flatten(spec)
    inputs = [x for x in flatten(inputs) if hasattr(x, "shape")]
    if len(inputs) != len(specs):
        raise ValueError('Layer "%s" expects %d input(s), but it received %d input tensors. Inputs received: %s' % (
            layer_name, len(specs), len(inputs), inputs))
    for i, (x, one) in enumerate(zip(inputs, specs)):
        wrong = None if one is None else _difference(x, one)
        if wrong is not None:
            raise ValueError('Input %d of layer "%s" is incompatible with the layer: %s' % (i, layer_name, wrong))


def _difference(x, spec):
    """Returns what is wrong with one input, or None."""
    shape = x.shape
    if shape.ndims is None:
        return None
    dims, rank = shape.as_list(), shape.ndims
    full = " Full shape received: %s" % (tuple(dims),)
    if spec.ndim is not None and rank != spec.ndim and not (spec.allow_last_axis_squeeze and dims[-1] == 1):
        return "expected ndim=%d, found ndim=%d.%s" % (spec.ndim, rank, full)
    if spec.max_ndim is not None and rank > spec.max_ndim:
        return "expected max_ndim=%d, found ndim=%d" % (spec.max_ndim, rank)
    if spec.min_ndim is not None and rank < spec.min_ndim:
        return "expected min_ndim=%d, found ndim=%d.%s" % (spec.min_ndim, rank, full)
    if spec.dtype is not None and x.dtype.base_dtype.name != spec.dtype:
        return "expected dtype=%s, found dtype=%s" % (spec.dtype, x.dtype.base_dtype.name)
    for axis, size in spec.axes.items():
        if size is not None and dims[axis] not in (size, None):
            return "expected axis %s of input shape to have value %s, but received input with shape %s" % (axis, size, tuple(dims))
    for want, have in zip(spec.shape or (), dims):
        if want is not None and have is not None and want != have:
            return "expected shape=%s, found shape=%s" % (spec.shape, tuple(dims))
    return None
