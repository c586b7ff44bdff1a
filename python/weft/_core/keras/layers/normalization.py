"""Layers that normalize over the batch, over each example, or over groups of channels."""
from weft._core.framework.tensor_shape import TensorShape
from weft._core.keras import backend, constraints, initializers, regularizers
from weft._core.keras.base_layer import Layer
from weft._core.keras.input_spec import InputSpec
from weft._core.nn import nn
from weft._core.nn.batch_norm import batch_norm_here, parameters, statistics
from weft._core.nn.batch_renorm import Extended
from weft._core.ops import array_ops, math_ops


class BatchNormalization(Layer):
    """Normalizes by the mean and variance of the batch while training, and otherwise by their moving averages."""

    _CONFIG = ("axis", "momentum", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer", "moving_mean_initializer",
               "moving_variance_initializer", "beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint")

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros", gamma_initializer="ones",
                 moving_mean_initializer="zeros", moving_variance_initializer="ones", beta_regularizer=None, gamma_regularizer=None,
                 beta_constraint=None, gamma_constraint=None, renorm=False, renorm_clipping=None, renorm_momentum=0.99, fused=None,
                 trainable=True, virtual_batch_size=None, adjustment=None, name=None, **kwargs):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self.renorm, self.virtual_batch_size, self.adjustment = renorm, virtual_batch_size, adjustment
        self.renorm_clipping, self.renorm_momentum = dict(renorm_clipping or {}), renorm_momentum
        if renorm and set(self.renorm_clipping) - {"rmax", "rmin", "dmax"}:
            raise ValueError("Received invalid keys for `renorm_clipping` argument: %s. Supported values: [rmax, rmin, dmax]" % (
                renorm_clipping,))
        if virtual_batch_size is not None and renorm:
            raise ValueError("When using virtual_batch_size, renorm is not supported")
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError("Expected an int or a list/tuple of ints for the argument 'axis', but received: %r" % (axis,))
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale
        self.beta_initializer, self.gamma_initializer = initializers.get(beta_initializer), initializers.get(gamma_initializer)
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.beta_regularizer, self.gamma_regularizer = regularizers.get(beta_regularizer), regularizers.get(gamma_regularizer)
        self.beta_constraint, self.gamma_constraint = constraints.get(beta_constraint), constraints.get(gamma_constraint)
        self.fused, self.supports_masking = fused, True

    def build(self, input_shape):
        axes, shape, dtype = parameters(input_shape, self.axis, self._dtype)
        self.axis = axes
        if self.virtual_batch_size is not None:  # The batch becomes two axes.
            if axes[0] <= 0:
                raise ValueError("When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot include 0. Received "
                                 "axis=%s" % axes)
            dims = input_shape.as_list()
            self.axis = [a + 1 for a in axes]
            shape = [1, 1] + [dims[i] if i in axes else 1 for i in range(1, len(dims))]
        self.input_spec = InputSpec(ndim=input_shape.ndims, axes={a: input_shape.as_list()[a] for a in axes})
        self.gamma = self.add_weight(name="gamma", shape=shape, dtype=dtype, initializer=self.gamma_initializer,
                                     regularizer=self.gamma_regularizer, constraint=self.gamma_constraint,
                                     trainable=True) if self.scale else None
        self.beta = self.add_weight(name="beta", shape=shape, dtype=dtype, initializer=self.beta_initializer,
                                    regularizer=self.beta_regularizer, constraint=self.beta_constraint,
                                    trainable=True) if self.center else None
        self.moving_mean = self._statistic("moving_mean", shape, dtype, self.moving_mean_initializer)
        self.moving_variance = self._statistic("moving_variance", shape, dtype, self.moving_variance_initializer)
        if self.renorm:
            def stddev(shape, dtype=None, **kwargs):
                return math_ops.sqrt(self.moving_variance_initializer(shape, dtype=dtype))
            self.moving_stddev = self._statistic("moving_stddev", shape, dtype, stddev)
            self.renorm_mean = self._statistic("renorm_mean", shape, dtype, self.moving_mean_initializer)
            self.renorm_stddev = self._statistic("renorm_stddev", shape, dtype, stddev)
        self.built = True

    def _statistic(self, name, shape, dtype, initializer):
        return self.add_weight(name=name, shape=shape, dtype=dtype, initializer=initializer, trainable=False,
                               **statistics(name))

    def call(self, inputs, training=None):
        training = backend.learning_phase() if training is None else training
        if self.renorm or self.virtual_batch_size is not None or self.adjustment is not None:
            if self.fused:
                raise ValueError("Passing `fused=True` is not supported when renorm, virtual_batch_size or adjustment is given.")
            made, updates = Extended(self, training).run(inputs)
            for u in updates if self.trainable else ():
                self.add_update(u)
            return made
        made, updates = batch_norm_here(inputs, self.momentum, self.epsilon, self.center, self.scale, training, True,
                                        self.axis, lambda key, *_: getattr(self, key), self.fused)
        for u in updates:
            self.add_update(u)
        return made

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        config = super().get_config()
        if self.renorm:
            config.update(renorm=True, renorm_clipping=self.renorm_clipping, renorm_momentum=self.renorm_momentum)
        if self.virtual_batch_size is not None:
            config["virtual_batch_size"] = self.virtual_batch_size
        return config


class _Scaled(Layer):
    """The base of LayerNormalization and GroupNormalization, with gamma and beta."""

    def _start(self, epsilon, center, scale, beta_initializer, gamma_initializer, beta_regularizer, gamma_regularizer, beta_constraint,
               gamma_constraint):
        self.epsilon, self.center, self.scale, self.supports_masking = epsilon, center, scale, True
        self.beta_initializer, self.gamma_initializer = initializers.get(beta_initializer), initializers.get(gamma_initializer)
        self.beta_regularizer, self.gamma_regularizer = regularizers.get(beta_regularizer), regularizers.get(gamma_regularizer)
        self.beta_constraint, self.gamma_constraint = constraints.get(beta_constraint), constraints.get(gamma_constraint)

    def _add_scale(self, shape):
        self.gamma = self.add_weight(name="gamma", shape=shape, initializer=self.gamma_initializer, regularizer=self.gamma_regularizer,
                                     constraint=self.gamma_constraint, trainable=True) if self.scale else None
        self.beta = self.add_weight(name="beta", shape=shape, initializer=self.beta_initializer, regularizer=self.beta_regularizer,
                                    constraint=self.beta_constraint, trainable=True) if self.center else None

    def compute_output_shape(self, input_shape):
        return input_shape


class LayerNormalization(_Scaled):
    """Normalizes each example by the mean and variance of its own elements along the axes."""

    _CONFIG = ("axis", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer", "beta_regularizer", "gamma_regularizer",
               "beta_constraint", "gamma_constraint")

    def __init__(self, axis=-1, epsilon=0.001, center=True, scale=True, beta_initializer="zeros", gamma_initializer="ones",
                 beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError("Expected an int or a list/tuple of ints for the argument 'axis', but received: %r" % (axis,))
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
        self._start(epsilon, center, scale, beta_initializer, gamma_initializer, beta_regularizer, gamma_regularizer, beta_constraint,
                    gamma_constraint)

    def build(self, input_shape):
        shape = TensorShape(input_shape)
        rank, given = shape.ndims, self.axis if isinstance(self.axis, list) else [self.axis]
        axes = [a % rank if -rank <= a < 0 else a for a in given]
        if any(not 0 <= a < rank for a in axes):
            raise ValueError("Invalid value for `axis` argument. Expected 0 <= axis < inputs.rank (with inputs.rank=%d). Received: "
                             "axis=%s" % (rank, tuple(axes)))
        if len(axes) != len(set(axes)):
            raise ValueError("Duplicate axis: %s" % (tuple(axes),))
        self.axis = axes
        self._add_scale([shape.as_list()[a] for a in axes])
        self.built = True

    def _is_fused(self, rank):
        """Returns whether the fused op applies; TensorFlow uses it for the last axes of floats."""
        axes = sorted(self.axis)
        last = axes[-1] == rank - 1 and axes[-1] - axes[0] == len(axes) - 1
        return last and self.epsilon >= 1.001e-5 and self._dtype.name == "float32"

    def call(self, inputs):
        rank, dims = inputs.shape.ndims, inputs.shape.as_list()
        wide = [dims[i] if i in self.axis else 1 for i in range(rank)]

        def along(v):
            return array_ops.reshape(v, wide) if v is not None and rank != len(self.axis) and self.axis != [rank - 1] else v
        if self._is_fused(rank):
            made = self._fused(inputs, along)
        else:
            narrow = inputs.dtype.name in ("float16", "bfloat16") and self.dtype == "float32"
            x = math_ops.cast(inputs, "float32") if narrow else inputs
            mean, variance = nn.moments(x, self.axis, keepdims=True)
            scale, offset = along(self.gamma), along(self.beta)
            made = nn.batch_normalization(x, mean, variance, offset, scale, self.epsilon)
            made = math_ops.cast(made, inputs.dtype) if x is not inputs else made
        made.set_shape(inputs.shape)
        return made

    def _fused(self, inputs, along):
        shape, first = array_ops.shape(inputs), sorted(self.axis)[0]
        before, within = math_ops.reduce_prod(shape[:first]), math_ops.reduce_prod(shape[first:])
        x = array_ops.reshape(inputs, (1, before, within, 1))
        scale, offset = array_ops.ones([before], dtype=self._dtype), array_ops.zeros([before], dtype=self._dtype)
        made = nn.fused_batch_norm(x, scale, offset, epsilon=self.epsilon, data_format="NCHW")[0]
        made = array_ops.reshape(made, shape)
        if self.gamma is not None:
            made = made * along(self.gamma)
        return made if self.beta is None else made + along(self.beta)
