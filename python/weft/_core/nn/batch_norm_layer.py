"""tf.layers.BatchNormalization and tf.keras.layers.BatchNormalization: batch normalization as an object.

The variables are made in the first call and used again in later ones.
"""
import contextlib

from weft._core.framework.absent import Named, where
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.nn.batch_norm import batch_norm_here
from weft._core.ops import init_ops
from weft._core.ops.variable_scope import get_variable, get_variable_scope, variable_scope

_STATISTICS = ("gamma", "beta", "moving_mean", "moving_variance")
_ABSENT = ("renorm", "virtual_batch_size", "adjustment")


@contextlib.contextmanager
def _whole():
    """Variables that the scope's partitioner does not cut: moving statistics are assigned as a whole."""
    scope = get_variable_scope()
    partitioner = scope.partitioner
    scope.set_partitioner(None)
    try:
        yield
    finally:
        scope.set_partitioner(partitioner)


class BatchNormalization(metaclass=Named):
    """A layer of tf.layers; its updates go to tf.GraphKeys.UPDATE_OPS."""

    _WHAT, _RESOURCE = "tf.layers.batch_normalization", None

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer=init_ops.Zeros(),
                 gamma_initializer=init_ops.Ones(), moving_mean_initializer=init_ops.Zeros(),
                 moving_variance_initializer=init_ops.Ones(), beta_regularizer=None, gamma_regularizer=None,
                 beta_constraint=None, gamma_constraint=None, renorm=False, renorm_clipping=None, renorm_momentum=0.99,
                 fused=None, trainable=True, virtual_batch_size=None, adjustment=None, name=None, **kwargs):
        asked = {"renorm": renorm, "virtual_batch_size": virtual_batch_size, "adjustment": adjustment}
        for key in (k for k in _ABSENT if asked[k]):
            raise NotImplementedError("%s(%s=...) is not in Weft%s: leave it out" % (self._WHAT, key, where()))
        self.axis, self.momentum, self.epsilon, self.center, self.scale = axis, momentum, epsilon, center, scale
        self.fused, self.trainable, self._name = fused, trainable, name
        self._start = dict(zip(_STATISTICS, (gamma_initializer, beta_initializer, moving_mean_initializer,
                                             moving_variance_initializer)))
        self._kept = {"gamma": gamma_regularizer, "beta": beta_regularizer}
        self._held = {"gamma": gamma_constraint, "beta": beta_constraint}
        self._reuse, self._within = kwargs.pop("_reuse", None), kwargs.pop("_scope", None)
        for key in ("dtype", "input_shape", "batch_input_shape"):
            kwargs.pop(key, None)  # the inputs have a type, and a shape
        if kwargs:
            raise TypeError("Keyword argument not understood: %s" % ", ".join(sorted(kwargs)))
        self._scope, self._made, self._updates = None, {}, []

    # ---- what it has ----

    @property
    def name(self):
        return self._scope.name if self._scope is not None else self._name or "batch_normalization"

    scope_name = name
    built = property(lambda self: bool(self._made))
    gamma = property(lambda self: self._made.get("gamma"))
    beta = property(lambda self: self._made.get("beta"))
    moving_mean = property(lambda self: self._made.get("moving_mean"))
    moving_variance = property(lambda self: self._made.get("moving_variance"))
    updates = property(lambda self: list(self._updates))
    weights = variables = property(lambda self: [self._made[k] for k in _STATISTICS if k in self._made])

    @property
    def trainable_weights(self):
        return [self._made[k] for k in _STATISTICS[:2] if k in self._made] if self.trainable else []

    @property
    def non_trainable_weights(self):
        learnt = self.trainable_weights
        return [v for v in self.weights if not any(v is t for t in learnt)]

    trainable_variables = property(lambda self: self.trainable_weights)
    non_trainable_variables = property(lambda self: self.non_trainable_weights)

    @property
    def losses(self):
        found = get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES)
        return [x for x in found if x.op.name.startswith(self.name + "/")] if self.built else []

    # ---- calling it ----

    def _variable(self, key, shape, dtype, default, learnt):
        if key not in self._made:
            start = self._start[key]
            with _whole() if key.startswith("moving") else contextlib.nullcontext():
                self._made[key] = get_variable(key, shape, dtype, default if start is None else start, self._kept.get(key), learnt,
                                               constraint=self._held.get(key), use_resource=self._RESOURCE)
        return self._made[key]

    def _normalize(self, inputs, training):
        return batch_norm_here(inputs, self.momentum, self.epsilon, self.center, self.scale, training, self.trainable,
                               self.axis, self._variable, self.fused)

    def _entered(self, inputs, training):
        """The output and the updates, in the layer's scope; ops of later calls go into the name scope of the first."""
        if self._scope is None:
            with variable_scope(self._within or self._name, "batch_normalization", [inputs], reuse=self._reuse) as scope:
                made = self._normalize(inputs, training)
                self._scope = scope
            return made
        with variable_scope(self._scope, reuse=True, auxiliary_name_scope=False), \
                get_default_graph().name_scope(self._scope.original_name_scope):
            return self._normalize(inputs, training)

    def __call__(self, inputs, training=False):
        out, updates = self._entered(inputs, training)
        self._updates += updates
        for u in updates:
            get_default_graph().add_to_collection(GraphKeys.UPDATE_OPS, u)
        return out

    apply = __call__


class KerasBatchNormalization(BatchNormalization):
    """A layer of tf.keras: resource variables, the learning phase by default, and updates only in `updates`."""

    _WHAT, _RESOURCE = "tf.keras.layers.BatchNormalization", True

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros",
                 gamma_initializer="ones", moving_mean_initializer="zeros", moving_variance_initializer="ones", **kwargs):
        from weft._core.keras.layers import _initializer
        super().__init__(axis, momentum, epsilon, center, scale, _initializer(beta_initializer),
                         _initializer(gamma_initializer), _initializer(moving_mean_initializer),
                         _initializer(moving_variance_initializer), **kwargs)

    def _entered(self, inputs, training):
        if self._scope is None:
            return super()._entered(inputs, training)
        with variable_scope(self._scope, reuse=True):
            return self._normalize(inputs, training)

    def __call__(self, inputs, training=None):
        out, updates = self._entered(inputs, training)
        self._updates += updates
        get_default_graph().__dict__.setdefault("_keras_made", {})[out._out] = self, inputs
        self.input, self.output = inputs, out
        return out
