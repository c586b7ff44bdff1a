"""Layers that prepare inputs: scaling, resizing, and encoding of categories."""
import numpy as np

from weft._core.framework.absent import where
from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import name_scope
from weft._core.framework.tensor_shape import TensorShape
from weft._core.keras import backend
from weft._core.keras.base_layer import Layer
from weft._core.keras.input_spec import InputSpec
from weft._core.keras.layers.reshaping import _RESIZE
from weft._core.ops import array_ops, math_ops
from weft._core.ops.control_flow import cond


class PreprocessingLayer(Layer):
    """A layer whose state can be learned from data before a model is trained, by adapt(data)."""

    def adapt(self, data, batch_size=None, steps=None):
        raise NotImplementedError("tf.keras.layers.%s.adapt() is not in Weft%s: compute the state with numpy, and give it to the "
                                  "constructor" % (type(self).__name__, where()))


class Rescaling(Layer):
    """Computes inputs * scale + offset."""

    _CONFIG = ("scale", "offset")

    def __init__(self, scale, offset=0.0, **kwargs):
        super().__init__(**kwargs)
        self.scale, self.offset = scale, offset

    def call(self, inputs):
        dtype = self._dtype or as_dtype(backend.floatx())
        scale, offset = math_ops.cast(self.scale, dtype), math_ops.cast(self.offset, dtype)
        return math_ops.cast(inputs, dtype) * scale + offset

    def compute_output_shape(self, input_shape):
        return input_shape


def _resized(images, size, interpolation):
    """Returns images resized to a size; also accepts one image without a batch."""
    kind = _RESIZE[interpolation]
    if kind is None:
        raise NotImplementedError("interpolation=%r is not in Weft%s: use nearest, bilinear, bicubic or area" % (interpolation, where()))
    with name_scope("resize"):
        one = images.shape.ndims == 3
        x = array_ops.expand_dims(images, 0) if one else images
        given = {} if interpolation == "area" else {"half_pixel_centers": True}
        made = op(kind, images=x, size=constant(size, name="size"), align_corners=False, **given)
        return array_ops.squeeze(made, [0]) if one else made


class _ImagesOfSize(Layer):
    """The base of layers whose results have the layer's height and width."""

    def compute_output_shape(self, input_shape):
        dims = TensorShape(input_shape).as_list()
        dims[-3:-1] = [self.height, self.width]
        return TensorShape(dims)


class Resizing(_ImagesOfSize):
    """Resizes images."""

    _CONFIG = ("height", "width", "interpolation", "crop_to_aspect_ratio")

    def __init__(self, height, width, interpolation="bilinear", crop_to_aspect_ratio=False, **kwargs):
        if interpolation.lower() not in _RESIZE:
            raise NotImplementedError("Value not recognized for `interpolation`: %s. Supported values are: %s" % (
                interpolation.lower(), list(_RESIZE)))
        super().__init__(**kwargs)
        self.height, self.width, self.interpolation, self.crop_to_aspect_ratio = height, width, interpolation, crop_to_aspect_ratio

    def call(self, inputs):
        dtype = self._dtype or as_dtype(backend.floatx())
        inputs = math_ops.cast(inputs, dtype if self.interpolation == "nearest" else "float32")
        if self.crop_to_aspect_ratio:
            made = _smart_resize(inputs, self.height, self.width, self.interpolation)
        else:
            made = _resized(inputs, [self.height, self.width], self.interpolation.lower())
        return math_ops.cast(made, dtype)


def _smart_resize(images, height, width, interpolation):
    """Returns the largest center part with the right aspect ratio, resized."""
    shape = array_ops.shape(images)
    rows, columns = shape[-3], shape[-2]
    tall = math_ops.cast(math_ops.cast(columns * height, "float32") / width, "int32")
    wide = math_ops.cast(math_ops.cast(rows * width, "float32") / height, "int32")
    tall, wide = math_ops.minimum(rows, tall), math_ops.minimum(columns, wide)
    top = math_ops.cast(math_ops.cast(rows - tall, "float32") / 2, "int32")
    left = math_ops.cast(math_ops.cast(columns - wide, "float32") / 2, "int32")
    four = images.shape.ndims == 4
    part = array_ops.slice(images, array_ops.stack(([0] if four else []) + [top, left, 0]),
                           array_ops.stack(([-1] if four else []) + [tall, wide, -1]))
    return _resized(part, [height, width], interpolation)


class CenterCrop(_ImagesOfSize):
    """Crops images to their center; smaller images are enlarged."""

    _CONFIG = ("height", "width")

    def __init__(self, height, width, **kwargs):
        super().__init__(**kwargs)
        self.height, self.width = height, width

    def call(self, inputs):
        dtype = self._dtype or as_dtype(backend.floatx())
        x = math_ops.cast(inputs, dtype)
        shape = array_ops.shape(x)
        rows, columns = shape[-3] - self.height, shape[-2] - self.width

        def cropped():
            four = x.shape.ndims == 4
            top, left = (math_ops.cast(n / 2, "int32") for n in (rows, columns))
            return array_ops.slice(x, array_ops.stack(([0] if four else []) + [top, left, 0]),
                                   ([-1] if four else []) + [self.height, self.width, -1])

        def enlarged():
            return math_ops.cast(_smart_resize(x, self.height, self.width, "bilinear"), dtype)
        fits = math_ops.logical_and(math_ops.greater_equal(rows, 0), math_ops.greater_equal(columns, 0))
        made = cond(fits, cropped, enlarged)
        made.set_shape(self.compute_output_shape(inputs.shape))
        return made


class Normalization(PreprocessingLayer):
    """Computes (inputs - mean) / sqrt(variance), or the inverse. The two are given, or learned by adapt()."""

    def __init__(self, axis=-1, mean=None, variance=None, invert=False, **kwargs):
        super().__init__(**kwargs)
        axis = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        if 0 in axis:
            raise ValueError("The argument 'axis' may not be 0.")
        if (mean is None) != (variance is None):
            raise ValueError("When setting values directly, both `mean` and `variance` must be set. Got mean: %s and variance: %s" % (
                mean, variance))
        self.axis, self.input_mean, self.input_variance, self.invert = axis, mean, variance, invert

    def get_config(self):
        return dict(self._configured(("axis", "invert")), mean=self.input_mean, variance=self.input_variance)

    def build(self, input_shape):
        dims = TensorShape(input_shape).as_list()
        self._axes = tuple(sorted(a % len(dims) for a in self.axis))
        if any(dims[a] is None for a in self._axes):
            raise ValueError("All `axis` values to be kept must have known shape. Got axis: %s, input shape: %s, with unknown axis at "
                             "index: %s" % (self.axis, dims, [a for a in self._axes if dims[a] is None][0]))
        self._wide, shape = [dims[i] if i in self._axes else 1 for i in range(len(dims))], [dims[a] for a in self._axes]
        if self.input_mean is None:
            self.adapt_mean = self.add_weight(name="mean", shape=shape, dtype="float32", initializer="zeros", trainable=False)
            self.adapt_variance = self.add_weight(name="variance", shape=shape, dtype="float32", initializer="ones", trainable=False)
            self.count = self.add_weight(name="count", shape=(), dtype="int64", initializer="zeros", trainable=False)
        else:
            self._given = [np.broadcast_to(np.asarray(v, "float32"), shape) for v in (self.input_mean, self.input_variance)]
        self.built = True

    def adapt(self, data, batch_size=None, steps=None):
        """Computes mean and variance of an array."""
        if self.input_mean is not None:
            raise ValueError("Cannot `adapt` a Normalization layer that is initialized with static `mean` and `variance`, you passed "
                             "mean %s and variance %s." % (self.input_mean, self.input_variance))
        data = np.asarray(data, "float32")
        if not self.built:
            with name_scope(self.name):
                self.build(TensorShape([None] + list(data.shape[1:])))
        over = tuple(i for i in range(data.ndim) if i not in self._axes)
        backend.batch_set_value([(self.adapt_mean, data.mean(over)), (self.adapt_variance, data.var(over)),
                                 (self.count, data.size // max(1, int(np.prod(self._wide))))])

    def call(self, inputs):
        found = [self.adapt_mean, self.adapt_variance] if self.input_mean is None else self._given
        dtype = self._dtype if self._dtype.is_floating else as_dtype(backend.floatx())
        inputs = math_ops.cast(inputs, dtype)
        mean, variance = (math_ops.cast(array_ops.reshape(v, self._wide), dtype) for v in found)
        if self.invert:
            return mean + inputs * math_ops.maximum(math_ops.sqrt(variance), backend.epsilon())
        return (inputs - mean) / math_ops.maximum(math_ops.sqrt(variance), backend.epsilon())

    def compute_output_shape(self, input_shape):
        return input_shape


_MODES = ("one_hot", "multi_hot", "count")


def _encoded(ids, mode, depth, dtype, weights=None):
    """Returns category numbers as rows of `depth` values."""
    if mode == "int":
        return ids
    if ids.shape.ndims == 0 or (mode == "one_hot" and ids.shape.ndims > 1 and ids.shape.as_list()[-1] != 1):
        ids = array_ops.expand_dims(ids, -1)
    if ids.shape.ndims is not None and ids.shape.ndims > 2:
        raise ValueError("When output_mode is not `'int'`, maximum supported output rank is 2. Received output_mode %s and input shape "
                         "%s, which would result in output rank %d." % (mode, ids.shape, ids.shape.ndims))
    hot = array_ops.one_hot(ids, depth, dtype=dtype)
    if mode != "count":
        return math_ops.reduce_max(hot, axis=-2)
    if weights is not None:
        hot = hot * array_ops.expand_dims(math_ops.cast(weights, dtype), -1)
    return math_ops.reduce_sum(hot, axis=-2)


def _check_sparse(sparse, layer):
    if sparse:
        raise NotImplementedError("tf.keras.layers.%s(sparse=True) is not in Weft%s: the dense rows hold the same values" % (
            layer, where()))


class CategoryEncoding(Layer):
    """Encodes integers as rows, with a one for each category or with counts."""

    _CONFIG = ("num_tokens", "output_mode", "sparse")

    def __init__(self, num_tokens=None, output_mode="multi_hot", sparse=False, **kwargs):
        kwargs.setdefault("dtype", backend.floatx())
        super().__init__(**kwargs)
        output_mode = "multi_hot" if output_mode == "binary" else output_mode
        if output_mode not in _MODES:
            raise ValueError("Unkown value for `output_mode` argument of layer CategoryEncoding. Allowed values are: or one of the "
                             "following values: %s. Received: %s" % (("count", "one_hot", "multi_hot"), output_mode))
        if num_tokens is None:
            raise ValueError("num_tokens must be set to use this layer. If the number of tokens is not known beforehand, use the "
                             "IntegerLookup layer instead.")
        if num_tokens < 1:
            raise ValueError("`num_tokens` must be >= 1. Received: num_tokens=%s." % num_tokens)
        _check_sparse(sparse, "CategoryEncoding")
        self.num_tokens, self.output_mode, self.sparse = num_tokens, output_mode, sparse

    def compute_output_shape(self, input_shape):
        dims = TensorShape(input_shape).as_list()
        if not dims:
            return TensorShape([self.num_tokens])
        if self.output_mode == "one_hot" and dims[-1] != 1:
            return TensorShape(dims + [self.num_tokens])
        return TensorShape(dims[:-1] + [self.num_tokens])

    def call(self, inputs, count_weights=None):
        from weft._core.ops.check_ops import assert_greater_equal, assert_less
        if count_weights is not None and self.output_mode != "count":
            raise ValueError("`count_weights` is not used when `output_mode` is not `'count'`. Received `count_weights=%s`." % (
                count_weights,))
        ids = convert_to_tensor(inputs)
        said = "Input values must be in the range 0 <= values < num_tokens with num_tokens=%d" % self.num_tokens
        limit = constant(self.num_tokens, ids.dtype)
        with ids.graph.control_dependencies([assert_less(ids, limit, message=said),
                                             assert_greater_equal(ids, constant(0, ids.dtype), message=said)]):
            ids = array_ops.identity(ids)
        return _encoded(ids, self.output_mode, self.num_tokens, self._dtype, count_weights)


class Discretization(PreprocessingLayer):
    """Converts numbers to the index of the interval that they are in."""

    def __init__(self, bin_boundaries=None, num_bins=None, epsilon=0.01, output_mode="int", sparse=False, **kwargs):
        kwargs.setdefault("dtype", "int64" if output_mode == "int" else backend.floatx())
        super().__init__(**kwargs)
        if sparse and output_mode == "int":
            raise ValueError("`sparse` may only be true if `output_mode` is `'one_hot'`, `'multi_hot'`, or `'count'`. Received: "
                             "sparse=%s and output_mode=%s" % (sparse, output_mode))
        if output_mode not in ("int", *_MODES):
            raise ValueError("Unknown argument for output_mode: %s. Expected one of %s" % (output_mode, ("int", *_MODES)))
        if num_bins is not None and num_bins < 0:
            raise ValueError("`num_bins` must be greater than or equal to 0. You passed `num_bins=%s`" % num_bins)
        if num_bins is not None and bin_boundaries is not None:
            raise ValueError("Both `num_bins` and `bin_boundaries` should not be set. You passed `num_bins=%s` and `bin_boundaries=%s`" % (
                num_bins, bin_boundaries))
        _check_sparse(sparse, "Discretization")
        self.input_bin_boundaries = bin_boundaries
        self.bin_boundaries = list(bin_boundaries) if bin_boundaries is not None else []
        self.num_bins, self.epsilon, self.output_mode, self.sparse = num_bins, epsilon, output_mode, sparse

    def get_config(self):
        return dict(self._configured(()), bin_boundaries=self.input_bin_boundaries, num_bins=self.num_bins, epsilon=self.epsilon,
                    output_mode=self.output_mode, sparse=self.sparse)

    def compute_output_shape(self, input_shape):
        return input_shape

    def call(self, inputs):
        made = op("Bucketize", input=inputs, boundaries=[float(b) for b in self.bin_boundaries])
        if self.output_mode == "int":
            return array_ops.identity(math_ops.cast(made, self._dtype))
        return _encoded(made, self.output_mode, len(self.bin_boundaries) + 1, self._dtype)


class Hashing(Layer):
    """Converts categories to numbers by a hash."""

    _CONFIG = ("num_bins", "salt", "mask_value", "output_mode", "sparse")

    def __init__(self, num_bins, mask_value=None, salt=None, output_mode="int", sparse=False, **kwargs):
        if num_bins is None or num_bins <= 0:
            raise ValueError("The `num_bins` for `Hashing` cannot be `None` or non-positive values. Received: num_bins=%s." % num_bins)
        kwargs.setdefault("dtype", "int64" if output_mode == "int" else backend.floatx())
        super().__init__(**kwargs)
        if output_mode not in ("int", *_MODES):
            raise ValueError("Unknown argument for output_mode: %s. Expected one of %s" % (output_mode, ("int", *_MODES)))
        _check_sparse(sparse, "Hashing")
        if salt is not None and not isinstance(salt, int) and not (isinstance(salt, (list, tuple)) and len(salt) == 2):
            raise ValueError("The `salt` argument for `Hashing` can only be a tuple of size 2 integers, or a single integer. Received: "
                             "salt=%s." % (salt,))
        self.num_bins, self.mask_value, self.output_mode, self.sparse = num_bins, mask_value, output_mode, sparse
        self.strong_hash, self.salt = salt is not None, [salt, salt] if isinstance(salt, int) else None if salt is None else list(salt)

    def compute_output_shape(self, input_shape):
        return TensorShape(input_shape) if self.output_mode == "int" else TensorShape(
            TensorShape(input_shape).as_list()[:-1] + [self.num_bins])

    def call(self, inputs):
        values, bins = convert_to_tensor(inputs), self.num_bins - 1 if self.mask_value is not None and self.num_bins > 1 else self.num_bins
        given = values
        if values.dtype.is_integer:
            values = op("AsString", input=values)
        if self.strong_hash:
            made = op("StringToHashBucketStrong", input=values, num_buckets=bins, key=self.salt, name="hash")
        else:
            made = op("StringToHashBucketFast", input=values, num_buckets=bins, name="hash")
        if self.mask_value is not None:
            made = array_ops.where(math_ops.equal(given, self.mask_value), array_ops.zeros_like(made), made + 1)
        return array_ops.identity(made) if self.output_mode == "int" else _encoded(made, self.output_mode, self.num_bins, self._dtype)


class RandomFourierFeatures(Layer):
    """Computes cos(inputs * kernel / scale + bias), features whose products approximate a kernel function."""

    def __init__(self, output_dim, kernel_initializer="gaussian", scale=None, trainable=False, name=None, **kwargs):
        if output_dim <= 0:
            raise ValueError("`output_dim` should be a positive integer. Received: %s" % output_dim)
        if isinstance(kernel_initializer, str) and kernel_initializer.lower() not in ("gaussian", "laplacian"):
            raise ValueError("Unsupported `kernel_initializer`: %s. Expected one of: ['gaussian', 'laplacian']" % kernel_initializer)
        if scale is not None and scale <= 0.0:
            raise ValueError("When provided, `scale` should be a positive float. Received: %s" % scale)
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.output_dim, self.kernel_initializer, self.scale = output_dim, kernel_initializer, scale

    def build(self, input_shape):
        from weft._core.keras import initializers
        width, laplacian = TensorShape(input_shape).as_list()[-1], str(self.kernel_initializer).lower() == "laplacian"
        self.input_spec, start = InputSpec(ndim=2, axes={1: width}), self.kernel_initializer
        if isinstance(start, str):
            start = _laplacian(width, self.output_dim) if laplacian else initializers.RandomNormal(stddev=1.0)
        self.unscaled_kernel = self.add_weight(name="unscaled_kernel", shape=(width, self.output_dim), dtype="float32", initializer=start,
                                               trainable=False)
        self.bias = self.add_weight(name="bias", shape=(self.output_dim,), dtype="float32", trainable=False,
                                    initializer=initializers.RandomUniform(minval=0.0, maxval=2 * np.pi))
        if self.scale is None:
            self.scale = np.sqrt(width / 2.0) if str(self.kernel_initializer).lower() == "gaussian" else 1.0
        self.kernel_scale = self.add_weight(name="kernel_scale", shape=(1,), dtype="float32", constraint="NonNeg", trainable=True,
                                            initializer=lambda shape, dtype=None: constant(self.scale, dtype, shape))
        self.built = True

    def call(self, inputs):
        kernel = (1.0 / self.kernel_scale) * self.unscaled_kernel
        return math_ops.cos(math_ops.matmul(math_ops.cast(inputs, "float32"), kernel) + self.bias)

    def compute_output_shape(self, input_shape):
        return TensorShape(TensorShape(input_shape).as_list()[:-1] + [self.output_dim])

    def get_config(self):
        from weft._core.keras import initializers
        start = self.kernel_initializer
        return dict(self._configured(("output_dim",)), kernel_initializer=start if isinstance(start, str) else
                    initializers.serialize(start), scale=self.scale)


def _laplacian(rows, columns):
    """Returns an initializer with numbers of the Cauchy distribution."""
    drawn = np.random.standard_cauchy((rows, columns))
    return lambda shape, dtype=None: constant(drawn, dtype, shape)
