"""Layers that normalize: by the batch, by the example, or by groups of channels."""
from weft._core.framework.absent import where
from weft._core.keras import backend, constraints, initializers, regularizers
from weft._core.keras.base_layer import Layer
from weft._core.keras.input_spec import InputSpec
from weft._core.nn.batch_norm import batch_norm_here, parameters

_ABSENT = ("renorm", "virtual_batch_size", "adjustment")


class BatchNormalization(Layer):
    """Normalizes by the mean and variance of the batch while training, and else by their moving averages."""

    _CONFIG = ("axis", "momentum", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer", "moving_mean_initializer",
               "moving_variance_initializer", "beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint")
    _WHAT = "tf.keras.layers.BatchNormalization"

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros", gamma_initializer="ones",
                 moving_mean_initializer="zeros", moving_variance_initializer="ones", beta_regularizer=None, gamma_regularizer=None,
                 beta_constraint=None, gamma_constraint=None, renorm=False, renorm_clipping=None, renorm_momentum=0.99, fused=None,
                 trainable=True, virtual_batch_size=None, adjustment=None, name=None, **kwargs):
        asked = {"renorm": renorm, "virtual_batch_size": virtual_batch_size, "adjustment": adjustment}
        for key in (k for k in _ABSENT if asked[k]):
            raise NotImplementedError("%s(%s=...) is not in Weft%s: leave it out" % (self._WHAT, key, where()))
        super().__init__(name=name, trainable=trainable, **kwargs)
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
        self.input_spec = InputSpec(ndim=input_shape.ndims, axes={a: input_shape.as_list()[a] for a in axes})
        self.gamma = self.add_weight(name="gamma", shape=shape, dtype=dtype, initializer=self.gamma_initializer,
                                     regularizer=self.gamma_regularizer, constraint=self.gamma_constraint,
                                     trainable=True) if self.scale else None
        self.beta = self.add_weight(name="beta", shape=shape, dtype=dtype, initializer=self.beta_initializer,
                                    regularizer=self.beta_regularizer, constraint=self.beta_constraint,
                                    trainable=True) if self.center else None
        self.moving_mean = self._statistic("moving_mean", shape, dtype, self.moving_mean_initializer)
        self.moving_variance = self._statistic("moving_variance", shape, dtype, self.moving_variance_initializer)
        self.built = True

    def _statistic(self, name, shape, dtype, initializer):
        return self.add_weight(name=name, shape=shape, dtype=dtype, initializer=initializer, trainable=False)

    def call(self, inputs, training=None):
        training = backend.learning_phase() if training is None else training
        made, updates = batch_norm_here(inputs, self.momentum, self.epsilon, self.center, self.scale, training, self.trainable,
                                        self.axis, lambda key, *_: getattr(self, key), self.fused)
        for u in updates:
            self.add_update(u)
        return made

    def compute_output_shape(self, input_shape):
        return input_shape
