"""tf.keras.optimizers: the optimizers, using the library's ops for resource variables."""
import weft as tf
from weft._core.framework.build import op
from weft._core.keras import serialization as saving, session as K
from weft._core.keras.optimizer_base import Optimizer, TFOptimizer


def _or(kwargs, learning_rate):
    return kwargs.get("lr", learning_rate)


class SGD(Optimizer):
    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False, name="SGD", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", _or(kwargs, learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._momentum = isinstance(momentum, tf.Tensor) or callable(momentum) or momentum > 0
        if isinstance(momentum, (int, float)) and (momentum < 0 or momentum > 1):
            raise ValueError("`momentum` must be between [0, 1]. Received: momentum=%s (of type %s)." % (momentum, type(momentum)))
        self._set_hyper("momentum", momentum)
        self.nesterov = nesterov

    def _create_slots(self, var_list):
        if self._momentum:
            for var in var_list:
                self.add_slot(var, "momentum")

    def _prepare_local(self, var_dtype, apply_state):
        super()._prepare_local(var_dtype, apply_state)
        apply_state["momentum"] = tf.identity(self._get_hyper("momentum", var_dtype))

    def _resource_apply_dense(self, grad, var, apply_state=None):
        found = self._coefficients(var, apply_state)
        if self._momentum:
            return op("ResourceApplyKerasMomentum", None, var=var.handle, accum=self.get_slot(var, "momentum").handle, lr=found["lr_t"],
                      grad=grad, momentum=found["momentum"], use_locking=True, use_nesterov=self.nesterov)
        return op("ResourceApplyGradientDescent", None, var=var.handle, alpha=found["lr_t"], delta=grad, use_locking=True)

    def _resource_apply_sparse_duplicate_indices(self, grad, var, indices, **kwargs):
        if self._momentum:
            return super()._resource_apply_sparse_duplicate_indices(grad, var, indices, **kwargs)
        found = self._coefficients(var, kwargs.get("apply_state"))
        return op("ResourceScatterAdd", None, resource=var.handle, indices=indices, updates=-grad * found["lr_t"])

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        found = self._coefficients(var, apply_state)
        return op("ResourceSparseApplyKerasMomentum", None, var=var.handle, accum=self.get_slot(var, "momentum").handle,
                  lr=found["lr_t"], grad=grad, indices=indices, momentum=found["momentum"], use_locking=True,
                  use_nesterov=self.nesterov)

    def get_config(self):
        return self._config("momentum", "nesterov")


class _Betas(Optimizer):
    """The base of Adam, Adamax and Nadam."""

    def __init__(self, learning_rate, beta_1, beta_2, epsilon, name, **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", _or(kwargs, learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.epsilon = epsilon or K.epsilon()

    def _create_slots(self, var_list):
        for name in ("m", "v"):
            for var in var_list:
                self.add_slot(var, name)

    def _prepare_local(self, var_dtype, apply_state):
        super()._prepare_local(var_dtype, apply_state)
        step = tf.cast(self.iterations + 1, var_dtype)
        beta_1, beta_2 = (tf.identity(self._get_hyper(n, var_dtype)) for n in ("beta_1", "beta_2"))
        power_1, power_2 = tf.pow(beta_1, step), tf.pow(beta_2, step)
        apply_state.update(epsilon=tf.convert_to_tensor(self.epsilon, var_dtype), beta_1_t=beta_1, beta_1_power=power_1,
                           one_minus_beta_1_t=1 - beta_1, beta_2_t=beta_2, beta_2_power=power_2, one_minus_beta_2_t=1 - beta_2)

    def _moments(self, grad, var, indices, found):
        """Returns the slots m and v after an update by the rows of a gradient."""
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        kept = m.assign(m * found["beta_1_t"])
        with tf.control_dependencies([kept.op]):
            m_t = self._added(m, indices, grad * found["one_minus_beta_1_t"])
        kept = v.assign(v * found["beta_2_t"])
        with tf.control_dependencies([kept.op]):
            v_t = self._added(v, indices, grad * grad * found["one_minus_beta_2_t"])
        return m_t, v_t

    @staticmethod
    def _added(variable, indices, rows):
        """Returns the value of a variable after rows are added."""
        done = op("ResourceScatterAdd", None, resource=variable.handle, indices=indices, updates=rows)
        with tf.control_dependencies([done]):
            return variable.value()


class Adam(_Betas):
    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False, name="Adam", **kwargs):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self.amsgrad = amsgrad

    def _create_slots(self, var_list):
        super()._create_slots(var_list)
        if self.amsgrad:
            for var in var_list:
                self.add_slot(var, "vhat")

    def _prepare_local(self, var_dtype, apply_state):
        super()._prepare_local(var_dtype, apply_state)
        apply_state["lr"] = apply_state["lr_t"] * (tf.sqrt(1 - apply_state["beta_2_power"]) / (1 - apply_state["beta_1_power"]))

    def set_weights(self, weights):
        params = self.weights
        count = int((len(params) - 1) / 2)
        if len(weights) == 3 * count + 1:  # The weights are from a version that always had vhat.
            weights = weights[:len(params)]
        super().set_weights(weights)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        found = self._coefficients(var, apply_state)
        given = dict(var=var.handle, m=self.get_slot(var, "m").handle, v=self.get_slot(var, "v").handle,
                     beta1_power=found["beta_1_power"], beta2_power=found["beta_2_power"], lr=found["lr_t"], beta1=found["beta_1_t"],
                     beta2=found["beta_2_t"], epsilon=found["epsilon"], grad=grad, use_locking=True)
        if self.amsgrad:
            return op("ResourceApplyAdamWithAmsgrad", None, vhat=self.get_slot(var, "vhat").handle, **given)
        return op("ResourceApplyAdam", None, **given)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        found = self._coefficients(var, apply_state)
        m_t, v_t = self._moments(grad, var, indices, found)
        if not self.amsgrad:
            return var.assign_sub(found["lr"] * m_t / (tf.sqrt(v_t) + found["epsilon"])).op
        hat = self.get_slot(var, "vhat")
        largest = tf.maximum(hat, v_t)
        with tf.control_dependencies([hat.assign(largest).op]):
            return var.assign_sub(found["lr"] * m_t / (tf.sqrt(largest) + found["epsilon"])).op

    def get_config(self):
        return self._config("beta_1", "beta_2", "epsilon", "amsgrad")


class Adamax(_Betas):
    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, name="Adamax", **kwargs):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        found = self._coefficients(var, apply_state)
        return op("ResourceApplyAdaMax", None, var=var.handle, m=self.get_slot(var, "m").handle, v=self.get_slot(var, "v").handle,
                  beta1_power=found["beta_1_power"], lr=found["lr_t"], beta1=found["beta_1_t"], beta2=found["beta_2_t"],
                  epsilon=found["epsilon"], grad=grad, use_locking=True)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        found = self._coefficients(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = tf.gather(m, indices) * found["beta_1_t"] + grad * found["one_minus_beta_1_t"]
        v_rows = tf.maximum(tf.gather(v, indices) * found["beta_2_t"], tf.abs(grad))
        with tf.control_dependencies([m.scatter_update(tf.IndexedSlices(m_rows, indices)).op,
                                      v.scatter_update(tf.IndexedSlices(v_rows, indices)).op]):
            step = -found["lr_t"] / (1 - found["beta_1_power"]) * (m_rows / (v_rows + found["epsilon"]))
            return op("ResourceScatterAdd", None, resource=var.handle, indices=indices, updates=step)

    def get_config(self):
        return self._config("beta_1", "beta_2", "epsilon")


class Nadam(_Betas):
    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, name="Nadam", **kwargs):
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        if callable(learning_rate):
            raise ValueError("The Nadam optimizer does not support tf.keras.optimizers.LearningRateSchedules as the learning rate.")
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self._m_cache = None

    def _create_slots(self, var_list):
        if self._m_cache is None:
            self._m_cache = self.add_weight("momentum_cache", shape=[], dtype=var_list[0].dtype.base_dtype, initializer="ones")
            self._weights.append(self._m_cache)
        super()._create_slots(var_list)

    def _prepare_local(self, var_dtype, apply_state):
        rate = tf.identity(self._get_hyper("learning_rate", var_dtype))
        beta_1, beta_2 = (tf.identity(self._get_hyper(n, var_dtype)) for n in ("beta_1", "beta_2"))
        step, following = tf.cast(self.iterations + 1, var_dtype), tf.cast(self.iterations + 2, var_dtype)
        base = tf.cast(0.96, var_dtype)
        m_t = beta_1 * (1.0 - 0.5 * tf.pow(base, self._initial_decay * step))
        m_next = beta_1 * (1.0 - 0.5 * tf.pow(base, self._initial_decay * following))
        schedule = tf.cast(self._m_cache_read, var_dtype) * m_t
        if var_dtype == self._m_cache.dtype.base_dtype:
            schedule = tf.identity(self._m_cache.assign(schedule))
        apply_state.update(lr_t=rate, neg_lr_t=-rate, epsilon=tf.convert_to_tensor(self.epsilon, var_dtype), beta_1_t=beta_1,
                           beta_2_t=beta_2, m_t=m_t, m_t_1=m_next, one_minus_beta_1_t=1 - beta_1, one_minus_beta_2_t=1 - beta_2,
                           one_minus_m_t=1.0 - m_t, one_minus_m_schedule_new=1.0 - schedule,
                           one_minus_m_schedule_next=1.0 - schedule * m_next, v_t_prime_denominator=1.0 - tf.pow(beta_2, step))

    def _prepare(self, var_list):
        self._m_cache_read = tf.identity(self._m_cache)
        return super()._prepare(var_list)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        found = self._coefficients(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        prime = grad / found["one_minus_m_schedule_new"]
        m_t = tf.identity(m.assign(found["beta_1_t"] * m + found["one_minus_beta_1_t"] * grad))
        v_t = tf.identity(v.assign(found["beta_2_t"] * v + found["one_minus_beta_2_t"] * tf.square(grad)))
        return var.assign(var - self._step(found, prime, m_t, v_t)).op

    @staticmethod
    def _step(found, prime, m_t, v_t):
        mean = found["one_minus_m_t"] * prime + found["m_t_1"] * (m_t / found["one_minus_m_schedule_next"])
        return found["lr_t"] * mean / (tf.sqrt(v_t / found["v_t_prime_denominator"]) + found["epsilon"])

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        found = self._coefficients(var, apply_state)
        m_t, v_t = self._moments(grad, var, indices, found)
        step = self._step(found, grad / found["one_minus_m_schedule_new"], tf.gather(m_t, indices), tf.gather(v_t, indices))
        return op("ResourceScatterAdd", None, resource=var.handle, indices=indices, updates=-step)

    def get_config(self):
        return self._config("beta_1", "beta_2", "epsilon")


class RMSprop(Optimizer):
    def __init__(self, learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-7, centered=False, name="RMSprop", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", _or(kwargs, learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("rho", rho)
        self._momentum = isinstance(momentum, tf.Tensor) or callable(momentum) or momentum > 0
        if isinstance(momentum, (int, float)) and (momentum < 0 or momentum > 1):
            raise ValueError("`momentum` must be between [0, 1]. Received: momentum=%s (of type %s)." % (momentum, type(momentum)))
        self._set_hyper("momentum", momentum)
        self.epsilon, self.centered = epsilon or K.epsilon(), centered

    def _create_slots(self, var_list):
        for name, wanted in (("rms", True), ("momentum", self._momentum), ("mg", self.centered)):
            for var in var_list if wanted else ():
                self.add_slot(var, name)

    def _prepare_local(self, var_dtype, apply_state):
        super()._prepare_local(var_dtype, apply_state)
        rho = tf.identity(self._get_hyper("rho", var_dtype))
        apply_state.update(epsilon=tf.convert_to_tensor(self.epsilon, var_dtype), rho=rho, one_minus_rho=1.0 - rho,
                           momentum=tf.identity(self._get_hyper("momentum", var_dtype)), neg_lr_t=-apply_state["lr_t"])

    def _with_momentum(self, kind, grad, var, found, **given):
        made = dict(var=var.handle, ms=self.get_slot(var, "rms").handle, mom=self.get_slot(var, "momentum").handle, lr=found["lr_t"],
                    rho=found["rho"], momentum=found["momentum"], epsilon=found["epsilon"], grad=grad, use_locking=True, **given)
        if self.centered:
            return op("Resource%sCenteredRMSProp" % kind, None, mg=self.get_slot(var, "mg").handle, **made)
        return op("Resource%sRMSProp" % kind, None, **made)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        found = self._coefficients(var, apply_state)
        if self._momentum:
            return self._with_momentum("Apply", grad, var, found)
        rms = self.get_slot(var, "rms")
        wide = tf.identity(rms.assign(found["rho"] * rms + found["one_minus_rho"] * tf.square(grad)))
        if self.centered:
            mg = self.get_slot(var, "mg")
            wide = wide - tf.square(tf.identity(mg.assign(found["rho"] * mg + found["one_minus_rho"] * grad)))
        return var.assign(var - found["lr_t"] * grad / (tf.sqrt(wide) + found["epsilon"])).op

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        found = self._coefficients(var, apply_state)
        if self._momentum:
            return self._with_momentum("SparseApply", grad, var, found, indices=indices)
        rows = self._averaged(self.get_slot(var, "rms"), grad * grad, indices, found)
        if self.centered:
            rows = rows - tf.square(self._averaged(self.get_slot(var, "mg"), grad, indices, found))
        step = found["neg_lr_t"] * grad / (tf.sqrt(rows) + found["epsilon"])
        return op("ResourceScatterAdd", None, resource=var.handle, indices=indices, updates=step)

    @staticmethod
    def _averaged(slot, values, indices, found):
        """Returns the rows of a moving average after an update by values."""
        kept = slot.assign(slot * found["rho"])
        with tf.control_dependencies([kept.op]):
            return tf.gather(_Betas._added(slot, indices, values * found["one_minus_rho"]), indices)

    def get_config(self):
        return self._config("rho", "momentum", "epsilon", "centered")


class Adagrad(Optimizer):
    def __init__(self, learning_rate=0.001, initial_accumulator_value=0.1, epsilon=1e-7, name="Adagrad", **kwargs):
        if initial_accumulator_value < 0.0:
            raise ValueError("initial_accumulator_value must be non-negative: %s" % initial_accumulator_value)
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", _or(kwargs, learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon or K.epsilon()

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "accumulator", tf.constant_initializer(self._initial_accumulator_value, dtype=var.dtype.base_dtype))

    def _prepare_local(self, var_dtype, apply_state):
        super()._prepare_local(var_dtype, apply_state)
        apply_state["epsilon"] = tf.convert_to_tensor(self.epsilon, var_dtype)

    def _apply(self, kind, grad, var, apply_state, **given):
        found = self._coefficients(var, apply_state)
        return op(kind, None, var=var.handle, accum=self.get_slot(var, "accumulator").handle, lr=found["lr_t"],
                  epsilon=found["epsilon"], grad=grad, use_locking=True, **given)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        return self._apply("ResourceApplyAdagradV2", grad, var, apply_state)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        return self._apply("ResourceSparseApplyAdagradV2", grad, var, apply_state, indices=indices)

    def get_config(self):
        return self._config(initial_accumulator_value=self._initial_accumulator_value, epsilon=self.epsilon)


class Adadelta(Optimizer):
    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-7, name="Adadelta", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", _or(kwargs, learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("rho", rho)
        self.epsilon = epsilon or K.epsilon()

    def _create_slots(self, var_list):
        for name in ("accum_grad", "accum_var"):
            for var in var_list:
                self.add_slot(var, name)

    def _prepare_local(self, var_dtype, apply_state):
        super()._prepare_local(var_dtype, apply_state)
        apply_state.update(epsilon=tf.convert_to_tensor(self.epsilon, var_dtype), rho=tf.identity(self._get_hyper("rho", var_dtype)))

    def _apply(self, kind, grad, var, apply_state, **given):
        found = self._coefficients(var, apply_state)
        return op(kind, None, var=var.handle, accum=self.get_slot(var, "accum_grad").handle,
                  accum_update=self.get_slot(var, "accum_var").handle, lr=found["lr_t"], rho=found["rho"], epsilon=found["epsilon"],
                  grad=grad, use_locking=True, **given)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        return self._apply("ResourceApplyAdadelta", grad, var, apply_state)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        return self._apply("ResourceSparseApplyAdadelta", grad, var, apply_state, indices=indices)

    def get_config(self):
        return self._config("rho", "epsilon")


class Ftrl(Optimizer):
    def __init__(self, learning_rate=0.001, learning_rate_power=-0.5, initial_accumulator_value=0.1, l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, name="Ftrl", l2_shrinkage_regularization_strength=0.0, beta=0.0, **kwargs):
        super().__init__(name, **kwargs)
        for key, value in (("initial_accumulator_value", initial_accumulator_value),
                           ("l1_regularization_strength", l1_regularization_strength),
                           ("l2_regularization_strength", l2_regularization_strength),
                           ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength)):
            if value < 0.0:
                raise ValueError("`%s` needs to be positive or zero. Received: %s=%s." % (key, key, value))
        if learning_rate_power > 0.0:
            raise ValueError("`learning_rate_power` needs to be negative or zero. Received: learning_rate_power=%s." % learning_rate_power)
        self._set_hyper("learning_rate", _or(kwargs, learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("learning_rate_power", learning_rate_power)
        self._set_hyper("l1_regularization_strength", l1_regularization_strength)
        self._set_hyper("l2_regularization_strength", l2_regularization_strength)
        self._set_hyper("beta", beta)
        self._initial_accumulator_value = initial_accumulator_value
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "accumulator", tf.constant_initializer(self._initial_accumulator_value, dtype=var.dtype.base_dtype))
            self.add_slot(var, "linear")

    def _prepare_local(self, var_dtype, apply_state):
        super()._prepare_local(var_dtype, apply_state)
        power, l1, l2, beta = (tf.identity(self._get_hyper(n, var_dtype)) for n in (
            "learning_rate_power", "l1_regularization_strength", "l2_regularization_strength", "beta"))
        apply_state.update(learning_rate_power=power, l1_regularization_strength=l1,
                           adjusted_l2_regularization_strength=l2 + beta / (2.0 * apply_state["lr_t"]),
                           l2_shrinkage_regularization_strength=tf.cast(self._l2_shrinkage_regularization_strength, var_dtype))

    def _apply(self, kind, grad, var, apply_state, **given):
        found = self._coefficients(var, apply_state)
        made = dict(var=var.handle, accum=self.get_slot(var, "accumulator").handle, linear=self.get_slot(var, "linear").handle, grad=grad,
                    lr=found["lr_t"], l1=found["l1_regularization_strength"], l2=found["adjusted_l2_regularization_strength"],
                    lr_power=found["learning_rate_power"], use_locking=True, **given)
        if self._l2_shrinkage_regularization_strength <= 0.0:
            return op(kind, None, **made)
        return op(kind + "V2", None, l2_shrinkage=found["l2_shrinkage_regularization_strength"], **made)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        return self._apply("ResourceApplyFtrl", grad, var, apply_state)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        return self._apply("ResourceSparseApplyFtrl", grad, var, apply_state, indices=indices)

    def get_config(self):
        return self._config(initial_accumulator_value=self._initial_accumulator_value,
                            **{n: self._serialize_hyperparameter(n) for n in (
                                "learning_rate_power", "l1_regularization_strength", "l2_regularization_strength", "beta")},
                            l2_shrinkage_regularization_strength=self._l2_shrinkage_regularization_strength)


def serialize(optimizer, use_legacy_format=False):
    return saving.serialize_keras_object(optimizer)


def deserialize(config, custom_objects=None, use_legacy_format=False, **kwargs):
    if kwargs.pop("use_legacy_optimizer", None) is None and kwargs:
        raise TypeError("Invalid keyword arguments: %s" % list(kwargs))
    from weft._core.keras.loss_scale_optimizer import LossScaleOptimizer
    known = {c.__name__.lower(): c for c in (Adadelta, Adagrad, Adam, Adamax, Ftrl, LossScaleOptimizer, Nadam, RMSprop, SGD)}
    if config["class_name"].lower() in known:
        config = {**config, "class_name": config["class_name"].lower()}
    return saving.deserialize_keras_object(config, custom_objects=custom_objects, module_objects=known,
                                           printable_module_name="optimizer")


def get(identifier, **kwargs):
    """Returns the optimizer for a name, a serialized dictionary or an optimizer of tf.train."""
    if isinstance(identifier, (Optimizer, TFOptimizer)):
        return identifier
    if isinstance(identifier, tf.train.Optimizer):
        return TFOptimizer(identifier)
    if isinstance(identifier, dict):
        return deserialize(identifier, **kwargs)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}}, **kwargs)
    if isinstance(identifier, (list, tuple)):  # The model is a WideDeepModel.
        return [get(one, **kwargs) for one in identifier]
    raise ValueError("Could not interpret optimizer identifier: %s" % (identifier,))
