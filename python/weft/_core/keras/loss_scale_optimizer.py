"""tf.keras.mixed_precision.LossScaleOptimizer: a Keras optimizer that scales the loss while gradients are computed."""
import weft as tf
from weft._core.keras import optimizers, session as K
from weft._core.keras.optimizer_base import Optimizer
from weft._core.train.loss_scale import DynamicLossScale, _after, scaled_gradient

_OWN = ("inner_optimizer", "_scale", "_initial")


class LossScaleOptimizer(Optimizer):
    """Scales the loss of another optimizer, so that gradients in float16 do not become 0.

    A dynamic scale doubles after a number of steps with finite gradients.  It halves, and the step changes no variable, when a
    gradient is not finite.  Hyperparameters, slots and weights are the other optimizer's.
    """

    def __init__(self, inner_optimizer, dynamic=True, initial_scale=None, dynamic_growth_steps=None):
        """Wraps an optimizer.

        Args:
          inner_optimizer: an optimizer of tf.keras.optimizers.
          dynamic: whether the scale changes.
          initial_scale: the first scale; 32768 for a dynamic one unless it is given.
          dynamic_growth_steps: the number of good steps before a dynamic scale doubles; 2000 unless it is given.
        """
        if isinstance(inner_optimizer, LossScaleOptimizer):
            raise TypeError("LossScaleOptimizer cannot wrap another LossScaleOptimizer, but got: %s" % (inner_optimizer,))
        if not isinstance(inner_optimizer, Optimizer):
            raise TypeError('"inner_optimizer" must be an instance of `tf.keras.optimizers.Optimizer` or '
                            "`tf.keras.optimizers.experimental.Optimizer`, but got: %s." % (inner_optimizer,))
        if not isinstance(dynamic, bool):
            raise TypeError('"dynamic" argument to LossScaleOptimizer.__init__ must be a bool, but got: %r' % (dynamic,))
        if not dynamic and initial_scale is None:
            raise ValueError('"initial_scale" must be specified if "dynamic" is False')
        if not dynamic and dynamic_growth_steps is not None:
            raise ValueError('"dynamic_growth_steps" must be None if "dynamic" is False, but got: %s' % (dynamic_growth_steps,))
        scale = None
        if dynamic:
            scale = DynamicLossScale(2.0 ** 15 if initial_scale is None else float(initial_scale),
                                     2000 if dynamic_growth_steps is None else dynamic_growth_steps, 2.0)
            for variable in scale._weights():
                K.track_variable(variable)
        self.__dict__.update(inner_optimizer=inner_optimizer, _scale=scale, _initial=None if dynamic else float(initial_scale))

    dynamic = property(lambda self: self._scale is not None)
    initial_scale = property(lambda self: self._initial if self._scale is None else self._scale.initial_loss_scale)
    dynamic_growth_steps = property(lambda self: self._scale and self._scale.increment_period)
    dynamic_counter = property(lambda self: self._scale and self._scale._num_good_steps)

    @property
    def loss_scale(self):
        """The scale as a tensor."""
        return tf.convert_to_tensor(self._initial) if self._scale is None else self._scale()

    def get_scaled_loss(self, loss):
        """Returns the loss times the scale; for a function that returns a loss, returns such a function."""
        if callable(loss):
            return lambda: self.get_scaled_loss(loss())
        return loss * tf.cast(self.loss_scale, loss.dtype.base_dtype)

    def get_unscaled_gradients(self, grads):
        """Returns the gradients divided by the scale; None is kept."""
        back = 1.0 / self.loss_scale
        return [None if g is None else scaled_gradient(g, back) for g in grads]

    def _clipped(self, grads):
        """Clips gradients after they are divided by the scale."""
        return self.inner_optimizer._clipped(self.get_unscaled_gradients(grads))

    def get_gradients(self, loss, params):
        return super().get_gradients(self.get_scaled_loss(loss), params)

    def _compute_gradients(self, loss, var_list, grad_loss=None, tape=None):
        return super()._compute_gradients(self.get_scaled_loss(loss), var_list, grad_loss, tape)

    def apply_gradients(self, grads_and_vars, name=None, experimental_aggregate_gradients=True):
        """Returns the op that does a step, and changes the scale."""
        pairs, inner = list(grads_and_vars), self.inner_optimizer
        if self._scale is None:
            return inner.apply_gradients(pairs, name, experimental_aggregate_gradients)
        if not any(g is not None for g, _ in pairs):
            # The inner optimizer raises the error that names what is missing.
            return inner.apply_gradients(pairs, name, experimental_aggregate_gradients)
        update, finite = self._scale.update([g for g, _ in pairs])
        applied = tf.cond(finite, lambda: _after(inner.apply_gradients(pairs, name, experimental_aggregate_gradients)),
                          lambda: _after(inner.iterations.assign_add(1, read_value=False)))
        return tf.group(applied, update)

    # ---- attributes of the inner optimizer ----

    def __getattr__(self, name):
        if name in _OWN or name.startswith("__"):
            raise AttributeError(name)
        if name in self.inner_optimizer._hyper or name in ("lr", "clipnorm", "clipvalue", "global_clipnorm"):
            return getattr(self.inner_optimizer, name)
        raise AttributeError("'LossScaleOptimizer' object has no attribute '%s'" % name)

    def __setattr__(self, name, value):
        if name in self.inner_optimizer._hyper or name in ("lr", "clipnorm", "clipvalue", "global_clipnorm", "iterations"):
            getattr(self.inner_optimizer, name)  # As in Keras, this makes the variables of hyperparameters.
            setattr(self.inner_optimizer, name, value)
        else:
            object.__setattr__(self, name, value)

    _name = property(lambda self: self.inner_optimizer._name)
    iterations = property(lambda self: self.inner_optimizer.iterations)
    weights = property(lambda self: self.inner_optimizer.weights)

    def variables(self):
        return self.inner_optimizer.variables()

    def get_weights(self):
        return self.inner_optimizer.get_weights()

    def set_weights(self, weights):
        return self.inner_optimizer.set_weights(weights)

    def get_slot_names(self):
        return self.inner_optimizer.get_slot_names()

    def get_slot(self, var, slot_name):
        return self.inner_optimizer.get_slot(var, slot_name)

    def add_slot(self, var, slot_name, initializer="zeros", shape=None):
        return self.inner_optimizer.add_slot(var, slot_name, initializer, shape)

    def add_weight(self, name, shape, dtype=None, initializer="zeros", trainable=None, synchronization=None, aggregation=None):
        return self.inner_optimizer.add_weight(name, shape, dtype, initializer, trainable, synchronization, aggregation)

    def _create_all_weights(self, var_list):
        self.inner_optimizer._create_all_weights(var_list)

    def _trackable_children(self):
        found = dict(self.inner_optimizer._trackable_children(), base_optimizer=self.inner_optimizer)
        return found if self._scale is None else dict(found, loss_scale=self._scale)

    def get_config(self):
        return {"inner_optimizer": optimizers.serialize(self.inner_optimizer), "dynamic": self.dynamic,
                "initial_scale": self.initial_scale, "dynamic_growth_steps": self.dynamic_growth_steps}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        inner = optimizers.deserialize(config["inner_optimizer"], custom_objects=custom_objects)
        return cls(**{**config, "inner_optimizer": inner})
