"""The base of tf.keras.optimizers: hyperparameters as variables, slots, the count of steps, and gradient clipping.

Subclasses say which slots a variable has and which op updates it.  The ops are the library's, for resource variables.
"""
import weft as tf
from weft._core.framework.absent import Named
from weft._core.framework.build import op
from weft._core.framework.trackable import Trackable
from weft._core.keras import session as K
from weft._core.keras.schedules import LearningRateSchedule
from weft._core.ops.resource_variables import ResourceVariable

_KEYWORDS = {"clipnorm", "clipvalue", "lr", "decay", "global_clipnorm"}


class Optimizer(Trackable, metaclass=Named):
    """The base of Keras optimizers. A subclass defines _prepare_local, _create_slots and _resource_apply_*."""

    def __init__(self, name, gradient_aggregator=None, gradient_transformers=None, **kwargs):
        self.__dict__.update(_hyper={}, _slots={}, _weights=[], _iterations=None, _hypers_created=False, _slot_names=[])
        for key, value in kwargs.items():
            if key not in _KEYWORDS:
                raise TypeError("Unexpected keyword argument passed to optimizer: %s. Allowed kwargs are %s." % (key, _KEYWORDS))
            if value is not None and not callable(value) and value < 0:
                raise ValueError("Expected %s >= 0, received: %s" % (key, value))
        self._name, self._use_locking, self._initial_decay = name, True, kwargs.pop("decay", 0.0) or 0.0
        self.clipnorm, self.clipvalue = kwargs.pop("clipnorm", None), kwargs.pop("clipvalue", None)
        self.global_clipnorm = kwargs.pop("global_clipnorm", None)
        if self.clipnorm is not None and self.global_clipnorm is not None:
            raise ValueError("Cannot accept both `clipnorm` and `global_clipnorm`. Received: `clipnorm`=%s, `global_clipnorm`=%s." % (
                self.clipnorm, self.global_clipnorm))
        self.gradient_aggregator, self.gradient_transformers = gradient_aggregator, list(gradient_transformers or [])

    # ---- hyperparameters ----

    def _set_hyper(self, name, value):
        if isinstance(value, Optimizer):
            raise TypeError("%s must be a number, a tensor or a schedule" % name)
        before = self._hyper.get(name)
        if isinstance(before, ResourceVariable) and not callable(value) and not isinstance(value, (tf.Tensor, LearningRateSchedule)):
            K.set_value(before, value)
        else:
            self._hyper[name] = value

    def _get_hyper(self, name, dtype=None):
        if not self._hypers_created:
            self._create_hypers()
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return value
        value = value() if callable(value) else value
        return tf.cast(value, dtype) if dtype else value

    def _create_hypers(self):
        if self._hypers_created:
            return
        for name, value in sorted(self._hyper.items()):
            if not isinstance(value, (tf.Tensor, tf.Variable)) and not callable(value):
                self._hyper[name] = self._variable(name, value, tf.float32)
        self.__dict__["_hypers_created"] = True

    def _variable(self, name, value, dtype):
        """Returns a variable for a scalar or an array that Keras initializes."""
        with tf.init_scope() if hasattr(tf, "init_scope") else tf.control_dependencies(None):
            made = ResourceVariable(value, trainable=False, name=name, dtype=dtype)
        K.track_variable(made)
        return made

    def __getattr__(self, name):
        name = "learning_rate" if name == "lr" else name
        if name in self.__dict__.get("_hyper", ()):
            return self._get_hyper(name)
        raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))

    def __setattr__(self, name, value):
        name = "learning_rate" if name == "lr" else name
        if name in self.__dict__.get("_hyper", ()):
            self._set_hyper(name, value)
        else:
            object.__setattr__(self, name, value)

    def _serialize_hyperparameter(self, name):
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            from weft._core.keras import schedules
            return schedules.serialize(value)
        value = value() if callable(value) else value
        if isinstance(value, (tf.Tensor, tf.Variable)):
            return K.get_value(value)
        return value

    def get_config(self):
        given = {"name": self._name}
        for key in ("clipnorm", "clipvalue", "global_clipnorm"):
            if getattr(self, key) is not None:
                given[key] = getattr(self, key)
        return given

    def _config(self, *names, **given):
        """Returns the configuration of a subclass: its hyperparameters in order, with the decay after the learning
        rate.
        """
        made = {**Optimizer.get_config(self), "learning_rate": self._serialize_hyperparameter("learning_rate"),
                "decay": self._initial_decay}
        for name in names:
            made[name] = self._serialize_hyperparameter(name) if name in self._hyper else getattr(self, name)
        return {**made, **given}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), dict):
            from weft._core.keras import schedules
            config["learning_rate"] = schedules.deserialize(config["learning_rate"], custom_objects=custom_objects)
        return cls(**config)

    # ---- variables ----

    @property
    def iterations(self):
        """The number of steps that were done."""
        if self._iterations is None:
            zero = tf.zeros_initializer()
            self._iterations = self._variable("iter", lambda: zero([], dtype=tf.int64), tf.int64)
            self._weights.append(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable):
        if self._iterations is not None:
            raise RuntimeError("Cannot set `iterations` to a new Variable after the Optimizer weights have been created. Here it is "
                               "attempting to set `iterations` to %s." % (variable,))
        self.__dict__["_iterations"] = variable
        self._weights.append(variable)

    weights = property(lambda self: self._weights)

    def _trackable_children(self):
        """Returns the count of steps, the hyperparameters and other variables by name; slots belong to their variables.
        """
        found = {} if self._iterations is None else {"iter": self._iterations}
        found.update((k, v) for k, v in sorted(self._hyper.items()) if isinstance(v, tf.Variable))
        found.update(self.__dict__.get("_extra_weights", {}))
        return found

    def variables(self):
        return self._weights

    def add_weight(self, name, shape, dtype=None, initializer="zeros", trainable=None, synchronization=None, aggregation=None):
        from weft._core.keras import initializers
        start = initializers.get(initializer) if isinstance(initializer, (str, dict)) or callable(initializer) else None
        kind = tf.as_dtype(dtype or "float32")
        value = (lambda: start(shape, dtype=kind)) if start is not None else initializer
        with tf.init_scope() if hasattr(tf, "init_scope") else tf.control_dependencies(None):
            made = ResourceVariable(value, trainable=bool(trainable), name=name, dtype=kind)
        K.track_variable(made)
        self.__dict__.setdefault("_extra_weights", {})[name] = made
        return made

    def add_slot(self, var, slot_name, initializer="zeros", shape=None):
        """Returns the slot of a variable, which is made only once."""
        if slot_name not in self._slot_names:
            self._slot_names.append(slot_name)
        slots = self._slots.setdefault(id(var), {})
        if slot_name not in slots:
            from weft._core.keras import initializers
            start = initializers.get(initializer) if isinstance(initializer, str) or callable(initializer) else initializer
            kind, size = var.dtype.base_dtype, var.shape if shape is None else shape
            value = (lambda: start(size, dtype=kind)) if callable(start) else start
            with tf.init_scope() if hasattr(tf, "init_scope") else tf.control_dependencies(None):
                slots[slot_name] = ResourceVariable(value, trainable=False, dtype=kind, name="%s/%s" % (var.op.name, slot_name))
            K.track_variable(slots[slot_name])
            self._weights.append(slots[slot_name])
        return slots[slot_name]

    def get_slot(self, var, slot_name):
        """Returns the slot of a variable, or None if it has no such slot."""
        return self._slots.get(id(var), {}).get(slot_name)

    def get_slot_names(self):
        return list(self._slot_names)

    def get_weights(self):
        return K.batch_get_value(self.weights)

    def set_weights(self, weights):
        """Sets the count of steps and the slots, in the order of get_weights."""
        params = self.weights
        if len(params) != len(weights):
            raise ValueError("You called `set_weights(weights)` on optimizer %s with a  weight list of length %d, but the optimizer was "
                             "expecting %d weights. Provided weights: %s..." % (self._name, len(weights), len(params), str(weights)[:50]))
        if not params:
            return
        for p, value, w in zip(params, K.batch_get_value(params), weights):
            if value.shape != getattr(w, "shape", ()):
                raise ValueError("Optimizer weight shape %s not compatible with provided weight shape %s." % (value.shape, w.shape))
        K.batch_set_value(list(zip(params, weights)))

    # ---- gradients ----

    def _clipped(self, grads):
        if self.clipvalue is not None:
            grads = [g if g is None else tf.clip_by_value(_dense(g), -self.clipvalue, self.clipvalue) for g in grads]
        if self.clipnorm is not None:
            grads = [g if g is None else tf.clip_by_norm(g, self.clipnorm) for g in grads]
        if self.global_clipnorm is not None:
            grads = tf.clip_by_global_norm(grads, self.global_clipnorm)[0]
        return grads

    def get_gradients(self, loss, params):
        """Returns the clipped gradients of a loss with respect to variables."""
        with tf.name_scope(self._name + "/gradients"):
            grads = tf.gradients(loss, params)
            for grad, param in zip(grads, params):
                if grad is None:
                    raise ValueError("Variable %s has `None` for gradient. Please make sure that all of your ops have a gradient defined "
                                     "(i.e. are differentiable). Common ops without gradient: K.argmax, K.round, K.eval." % (param,))
        return self._clipped(grads)

    def get_updates(self, loss, params):
        """Returns the ops that do one step."""
        return [self.apply_gradients(zip(self.get_gradients(loss, params), params))]

    def _compute_gradients(self, loss, var_list, grad_loss=None, tape=None):
        if not callable(loss) and tape is None:
            raise ValueError("`tape` is required when a `Tensor` loss is passed. Received: loss=%s, tape=%s. Give a function that "
                             "returns the loss, or call get_updates(loss, params)." % (loss, tape))
        loss = loss() if callable(loss) else loss
        var_list = var_list() if callable(var_list) else var_list
        with tf.name_scope(self._name + "/gradients"):
            grads = tf.gradients(loss, var_list, grad_loss)
        return list(zip(self._clipped(grads), var_list))

    def minimize(self, loss, var_list, grad_loss=None, name=None, tape=None):
        """Returns the op that does one step."""
        return self.apply_gradients(self._compute_gradients(loss, var_list, grad_loss, tape), name=name)

    def apply_gradients(self, grads_and_vars, name=None, experimental_aggregate_gradients=True):
        """Returns the op that applies gradients to variables and counts the step."""
        pairs = list(grads_and_vars)
        if not pairs:  # The model has no variables, or only frozen ones.
            with tf.name_scope(self._name):
                self._create_all_weights([])
                return tf.no_op()
        kept = [(g, v) for g, v in pairs if g is not None]
        if not kept:
            raise ValueError("No gradients provided for any variable: %s." % ([v.name for _, v in pairs],))
        for transform in self.gradient_transformers:
            kept = transform(kept)
        with tf.name_scope(self._name):
            self._create_all_weights([v for _, v in kept])
            state = self._prepare([v for _, v in kept])
            with tf.name_scope(name or self._name) as scope:
                updates = [self._update(g, v, state) for g, v in kept]
                with tf.control_dependencies([tf.group(*updates)]):
                    made = self.iterations.assign_add(1, name=None, read_value=False)
                    return made if isinstance(made, tf.Operation) else made.op if scope else made

    def _update(self, grad, var, state):
        with tf.name_scope("update_" + var.op.name.replace(":", "_")), tf.colocate_with(var.op):
            if isinstance(grad, tf.IndexedSlices):
                if var.constraint is not None:
                    raise RuntimeError("Cannot use a constraint function on a sparse variable.")
                made = self._resource_apply_sparse_duplicate_indices(grad.values, var, grad.indices, apply_state=state)
            else:
                made = self._resource_apply_dense(grad, var, apply_state=state)
            made = made if isinstance(made, tf.Operation) else made.op
            if var.constraint is not None:
                with tf.control_dependencies([made]):
                    return var.assign(var.constraint(var), read_value=False)
            return made

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices, **kwargs):
        """Adds up rows with the same index before it applies them."""
        unique, at = tf.unique(indices)
        return self._resource_apply_sparse(tf.unsorted_segment_sum(grad, at, tf.shape(unique)[0]), handle, unique, **kwargs)

    # ---- methods that a subclass defines ----

    def _create_all_weights(self, var_list):
        """Makes all variables, so that they can be restored before the first step."""
        _ = self.iterations
        self._create_hypers()
        self._create_slots(var_list)

    def _create_slots(self, var_list):
        pass

    def _prepare(self, var_list):
        """Returns {type of variables: {name: the tensors that their updates use}}."""
        state = {}
        for kind in dict.fromkeys(v.dtype.base_dtype for v in var_list):
            state[kind] = {}
            self._prepare_local(kind, state[kind])
        return state

    def _prepare_local(self, var_dtype, apply_state):
        apply_state["lr_t"] = self._decayed_lr(var_dtype) if "learning_rate" in self._hyper else None

    def _decayed_lr(self, var_dtype):
        rate = self._get_hyper("learning_rate", None if isinstance(self._hyper["learning_rate"], LearningRateSchedule) else var_dtype)
        if isinstance(rate, LearningRateSchedule):
            rate = tf.cast(rate(tf.cast(self.iterations, var_dtype)), var_dtype)
        if self._initial_decay > 0.0:
            step = tf.cast(self.iterations, var_dtype)
            decay = tf.cast(self._initial_decay if "decay" not in self._hyper else self._get_hyper("decay"), var_dtype)
            rate = rate / (1.0 + decay * step)
        return tf.identity(rate)

    def _coefficients(self, var, apply_state):
        kind = var.dtype.base_dtype
        found = (apply_state or {}).get(kind)
        return self._prepare([var])[kind] if found is None else found

    def _resource_apply_dense(self, grad, handle, apply_state):
        raise NotImplementedError("Must be implemented in subclasses.")

    def _resource_apply_sparse(self, grad, handle, indices, apply_state):
        raise NotImplementedError("Must be implemented in subclasses.")

    def _resource_scatter_add(self, x, i, v):
        op("ResourceScatterAdd", None, resource=x.handle, indices=i, updates=v)
        return x.value()


def _dense(grad):
    return tf.convert_to_tensor(grad) if isinstance(grad, tf.IndexedSlices) else grad


class TFOptimizer(Trackable):
    """Wraps an optimizer of tf.train that was given to compile()."""

    def __init__(self, optimizer, iterations=None):
        from weft._core.keras.backend_math import variable
        self.optimizer, self.updates = optimizer, []
        if iterations is None:
            with tf.name_scope("TFOptimizer"):
                iterations = variable(0, dtype="int64", name="iterations")
        self.iterations = iterations
        K.track_optimizer(optimizer)

    def _trackable_children(self):
        return {"optimizer": self.optimizer, "global_step": self.iterations}

    def get_updates(self, loss, params):
        if not params:
            return [tf.assign_add(self.iterations, 1)]
        grads = self.optimizer.compute_gradients(loss, params)
        self.updates = [self.optimizer.apply_gradients(grads, global_step=self.iterations)]
        return self.updates

    def get_grads(self, loss, params):
        return self.optimizer.compute_gradients(loss, params)

    def apply_gradients(self, grads_and_vars):
        return self.optimizer.apply_gradients(grads_and_vars, global_step=self.iterations)

    @property
    def weights(self):
        raise NotImplementedError

    def get_config(self):
        raise NotImplementedError

    def from_config(self, config):
        raise NotImplementedError

    def __getattr__(self, name):
        raise AttributeError("'TFOptimizer' object has no attribute '%s'" % name)
