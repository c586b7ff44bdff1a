"""tf.layers.BatchNormalization: batch normalization with variables from tf.get_variable, updates in tf.GraphKeys.UPDATE_OPS."""
import contextlib

from weft._core.keras.layers.normalization import BatchNormalization as KerasBatchNormalization
from weft._core.nn.base_layer import Layer
from weft._core.ops import init_ops
from weft._core.ops.variable_scope import get_variable_scope


@contextlib.contextmanager
def whole_variables(scope=None):
    """Turns the scope's partitioner off inside, because moving statistics are assigned as a whole."""
    scope = scope or get_variable_scope()
    partitioner = scope.partitioner
    scope.set_partitioner(None)
    try:
        yield
    finally:
        scope.set_partitioner(partitioner)


class BatchNormalization(KerasBatchNormalization, Layer):
    """Normalizes the inputs by the mean and variance of the batch, or by their moving averages."""

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer=init_ops.Zeros(),
                 gamma_initializer=init_ops.Ones(), moving_mean_initializer=init_ops.Zeros(),
                 moving_variance_initializer=init_ops.Ones(), beta_regularizer=None, gamma_regularizer=None,
                 beta_constraint=None, gamma_constraint=None, renorm=False, renorm_clipping=None, renorm_momentum=0.99,
                 fused=None, trainable=True, virtual_batch_size=None, adjustment=None, name=None, **kwargs):
        super().__init__(axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer, moving_mean_initializer,
                         moving_variance_initializer, beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint, renorm,
                         renorm_clipping, renorm_momentum, fused, trainable, virtual_batch_size, adjustment, name, **kwargs)

    def _statistic(self, name, shape, dtype, initializer):
        with whole_variables(self._scope):
            return super()._statistic(name, shape, dtype, initializer)

    def call(self, inputs, training=False):
        return super().call(inputs, training=training)
