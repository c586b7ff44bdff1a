"""The updates of the library's optimizers, as methods that a program's subclass overrides and calls.

The library builds the updates of its own optimizers.  A subclass that overrides a step of TensorFlow's protocol
(_create_slots, _prepare, _apply_dense, _apply_sparse, _finish and so on) inherits the other steps from here. They make
TensorFlow's slots and ops.
"""
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import colocate_with, control_dependencies
from weft._core.ops import array_ops, init_ops, math_ops
from weft._core.ops.control_flow import group
from weft._core.ops.variables import assign, scatter_add
from weft._core.train.python_optimizer import slot_place


def parameter(key):
    """Returns a property that reads and sets a parameter of the optimizer; the update uses the value assigned to it."""
    def read(self):
        return self._params.get(key)

    def write(self, value):
        self._params[key] = value
    return property(read, write)


def tensor(key):
    """Returns a property for the parameter as a tensor, which is None until the update is built."""
    def read(self):
        found = self.__dict__.get("_tensors", {}).get(key)
        return self._tensor_in_library(key) if found is None else found

    def write(self, value):
        self.__dict__.setdefault("_tensors", {})[key] = value
    return property(read, write)


class LibraryUpdates:
    """The base of the classes below."""

    def _number(self, key, name=None):
        """Returns a parameter as a tensor, and keeps it for the updates."""
        value = self._call_if_callable(self._params.get(key))
        self.__dict__.setdefault("_tensors", {})[key] = made = convert_to_tensor(value, name=name or key)
        return made

    def _cast(self, key, var):
        return math_ops.cast(self.__dict__["_tensors"][key], var.dtype.base_dtype)

    @staticmethod
    def _filled(var, value):
        """Returns a constant with the shape, type and device of a variable, the initial value of a slot in older
        optimizers.
        """
        with slot_place(var):
            return array_ops.constant(value, var.dtype.base_dtype, var.get_shape().as_list())

    def _apply_op(self, kind, var, slots, **given):
        """Returns the op that updates a variable and its slots: `kind`, or "Resource" + kind for a resource variable.
        """
        given["use_locking"] = self._use_locking
        if hasattr(var, "handle"):
            return op("Resource" + kind, var=var.handle, **{k: s.handle for k, s in slots.items()}, **given)
        return op(kind, var=var._ref(), **{k: s._ref() for k, s in slots.items()}, **given).op

    def _resource_apply_dense(self, grad, handle):
        return LibraryUpdates._own(self, "_apply_dense")(grad, handle)

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._apply_rows(grad, handle, indices)

    def _apply_sparse(self, grad, var):
        return self._apply_rows(grad.values, var, grad.indices)

    def _own(self, method):
        """Returns the library's implementation of a method, even if a subclass overrides it."""
        for kind in type(self).__mro__:
            if method in vars(kind) and issubclass(kind, LibraryUpdates) and kind.__module__ == __name__:
                return vars(kind)[method].__get__(self)
        raise NotImplementedError(method)


class GradientDescentUpdates(LibraryUpdates):
    _learning_rate, _learning_rate_tensor = parameter("learning_rate"), tensor("learning_rate")

    def _prepare(self):
        self._number("learning_rate")

    def _apply_dense(self, grad, var):
        return self._apply_op("ApplyGradientDescent", var, {}, alpha=self._rate(var), delta=grad)

    def _rate(self, var):
        return math_ops.cast(self._learning_rate_tensor, var.dtype.base_dtype)

    def _apply_sparse_duplicate_indices(self, grad, var):
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        return self._apply_rows(grad, handle, indices)

    def _apply_rows(self, grad, var, indices):
        if hasattr(var, "handle"):
            return op("ResourceScatterAdd", resource=var.handle, indices=indices, updates=-grad * self._rate(var))
        return op("ScatterSub", ref=var._ref(), indices=indices, updates=grad * self._rate(var),
                  use_locking=self._use_locking).op


class ProximalGradientDescentUpdates(LibraryUpdates):
    _learning_rate, _learning_rate_tensor = parameter("learning_rate"), tensor("learning_rate")
    _l1_regularization_strength = parameter("l1_regularization_strength")
    _l2_regularization_strength = parameter("l2_regularization_strength")

    def _prepare(self):
        for key in ("learning_rate", "l1_regularization_strength", "l2_regularization_strength"):
            self._number(key)

    def _common(self, var):
        return dict(alpha=math_ops.cast(self._learning_rate_tensor, var.dtype.base_dtype),
                    l1=self._cast("l1_regularization_strength", var), l2=self._cast("l2_regularization_strength", var))

    def _apply_dense(self, grad, var):
        return self._apply_op("ApplyProximalGradientDescent", var, {}, delta=grad, **self._common(var))

    def _apply_rows(self, grad, var, indices):
        return self._apply_op("SparseApplyProximalGradientDescent", var, {}, grad=grad, indices=indices, **self._common(var))


class MomentumUpdates(LibraryUpdates):
    _learning_rate, _learning_rate_tensor = parameter("learning_rate"), tensor("learning_rate")
    _momentum, _momentum_tensor, _use_nesterov = parameter("momentum"), tensor("momentum"), parameter("use_nesterov")

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self):
        self._number("learning_rate")
        self._number("momentum")

    def _step(self, kind, grad, var, **more):
        return self._apply_op(kind, var, {"accum": self.get_slot(var, "momentum")}, grad=grad, lr=math_ops.cast(
            self._learning_rate_tensor, var.dtype.base_dtype), momentum=math_ops.cast(self._momentum_tensor, var.dtype.base_dtype),
            use_nesterov=bool(self._use_nesterov), **more)

    def _apply_dense(self, grad, var):
        return self._step("ApplyMomentum", grad, var)

    def _apply_rows(self, grad, var, indices):
        return self._step("SparseApplyMomentum", grad, var, indices=indices)


class AdagradUpdates(LibraryUpdates):
    _learning_rate, _learning_rate_tensor = parameter("learning_rate"), tensor("learning_rate")
    _initial_accumulator_value = parameter("initial_accumulator_value")

    def _create_slots(self, var_list):
        for v in var_list:
            self._get_or_make_slot_with_initializer(
                v, init_ops.constant_initializer(self._initial_accumulator_value, dtype=v.dtype.base_dtype), v.get_shape(),
                v.dtype.base_dtype, "accumulator", self._name)

    def _prepare(self):
        self._number("learning_rate")

    def _step(self, kind, grad, var, **more):
        return self._apply_op(kind, var, {"accum": self.get_slot(var, "accumulator")}, grad=grad,
                              lr=math_ops.cast(self._learning_rate_tensor, var.dtype.base_dtype), **more)

    def _apply_dense(self, grad, var):
        return self._step("ApplyAdagrad", grad, var)

    def _apply_rows(self, grad, var, indices):
        return self._step("SparseApplyAdagrad", grad, var, indices=indices)


class ProximalAdagradUpdates(AdagradUpdates):
    _l1_regularization_strength = parameter("l1_regularization_strength")
    _l2_regularization_strength = parameter("l2_regularization_strength")

    def _create_slots(self, var_list):
        for v in var_list:
            start = self._filled(v, self._initial_accumulator_value)
            self._get_or_make_slot(v, start, "accumulator", self._name)

    def _prepare(self):
        for key in ("learning_rate", "l1_regularization_strength", "l2_regularization_strength"):
            self._number(key)

    def _step(self, kind, grad, var, **more):
        more.update(l1=self._cast("l1_regularization_strength", var), l2=self._cast("l2_regularization_strength", var))
        return super()._step(kind.replace("Adagrad", "ProximalAdagrad"), grad, var, **more)


class RMSPropUpdates(LibraryUpdates):
    _learning_rate, _learning_rate_tensor = parameter("learning_rate"), tensor("learning_rate")
    _decay, _decay_tensor = parameter("decay"), tensor("decay")
    _momentum, _momentum_tensor = parameter("momentum"), tensor("momentum")
    _epsilon, _epsilon_tensor, _centered = parameter("epsilon"), tensor("epsilon"), parameter("centered")

    def _create_slots(self, var_list):
        for v in var_list:
            self._get_or_make_slot_with_initializer(v, init_ops.ones_initializer(dtype=v.dtype.base_dtype), v.get_shape(),
                                                    v.dtype.base_dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self):
        for key in ("learning_rate", "decay", "momentum", "epsilon"):
            self._number(key)

    def _step(self, kind, grad, var, **more):
        slots = {"ms": self.get_slot(var, "rms"), "mom": self.get_slot(var, "momentum")}
        if self._centered:
            slots["mg"], kind = self.get_slot(var, "mg"), kind.replace("RMSProp", "CenteredRMSProp")
        of = {"lr": self._learning_rate_tensor, "rho": self._decay_tensor, "momentum": self._momentum_tensor,
              "epsilon": self._epsilon_tensor}
        return self._apply_op(kind, var, slots, grad=grad, **{k: math_ops.cast(v, var.dtype.base_dtype) for k, v in of.items()}, **more)

    def _apply_dense(self, grad, var):
        return self._step("ApplyRMSProp", grad, var)

    def _apply_rows(self, grad, var, indices):
        return self._step("SparseApplyRMSProp", grad, var, indices=indices)


class AdadeltaUpdates(LibraryUpdates):
    _lr, _lr_t, _rho, _rho_t = parameter("learning_rate"), tensor("learning_rate"), parameter("rho"), tensor("rho")
    _epsilon, _epsilon_t = parameter("epsilon"), tensor("epsilon")

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)

    def _prepare(self):
        self._number("learning_rate", "lr")
        self._number("rho")
        self._number("epsilon")

    def _step(self, kind, grad, var, **more):
        slots = {"accum": self.get_slot(var, "accum"), "accum_update": self.get_slot(var, "accum_update")}
        of = {"lr": self._lr_t, "rho": self._rho_t, "epsilon": self._epsilon_t}
        return self._apply_op(kind, var, slots, grad=grad, **{k: math_ops.cast(v, var.dtype.base_dtype) for k, v in of.items()}, **more)

    def _apply_dense(self, grad, var):
        return self._step("ApplyAdadelta", grad, var)

    def _apply_rows(self, grad, var, indices):
        return self._step("SparseApplyAdadelta", grad, var, indices=indices)


class FtrlUpdates(LibraryUpdates):
    _learning_rate, _learning_rate_tensor = parameter("learning_rate"), tensor("learning_rate")
    _learning_rate_power, _learning_rate_power_tensor = parameter("learning_rate_power"), tensor("learning_rate_power")
    _initial_accumulator_value = parameter("initial_accumulator_value")
    _l1_regularization_strength = parameter("l1_regularization_strength")
    _l1_regularization_strength_tensor = tensor("l1_regularization_strength")
    _l2_regularization_strength = parameter("l2_regularization_strength")
    _adjusted_l2_regularization_strength_tensor = tensor("l2_regularization_strength")
    _l2_shrinkage_regularization_strength = parameter("l2_shrinkage_regularization_strength")
    _l2_shrinkage_regularization_strength_tensor = tensor("l2_shrinkage_regularization_strength")
    _beta, _beta_tensor = parameter("beta"), tensor("beta")

    def _create_slots(self, var_list):
        def start(shape, dtype=None, partition_info=None):
            return array_ops.ones(shape, dtype) * self._initial_accumulator_value
        for v in var_list:
            self._get_or_make_slot_with_initializer(v, start, v.get_shape(), v.dtype.base_dtype, "accum", self._name)
            self._zeros_slot(v, "linear", self._name)

    def _prepare(self):
        """Prepares the learning rate and the l2 strength; what the op calls l2 includes beta."""
        self._number("learning_rate")
        self._number("l1_regularization_strength")
        rate = math_ops.maximum(self._call_if_callable(self._learning_rate), 1e-36)
        self._adjusted_l2_regularization_strength_tensor = self._l2_regularization_strength + self._beta / (2.0 * rate)
        for key in ("beta", "l2_shrinkage_regularization_strength", "learning_rate_power"):
            self._number(key)

    def _step(self, kind, grad, var, **more):
        slots = {"accum": self.get_slot(var, "accum"), "linear": self.get_slot(var, "linear")}
        of = {"lr": "learning_rate", "l1": "l1_regularization_strength", "l2": "l2_regularization_strength",
              "lr_power": "learning_rate_power"}
        if self._l2_shrinkage_regularization_strength:
            of["l2_shrinkage"], kind = "l2_shrinkage_regularization_strength", kind + "V2"
        return self._apply_op(kind, var, slots, grad=grad, **{name: self._cast(key, var) for name, key in of.items()}, **more)

    def _apply_dense(self, grad, var):
        return self._step("ApplyFtrl", grad, var)

    def _apply_rows(self, grad, var, indices):
        return self._step("SparseApplyFtrl", grad, var, indices=indices)


class AdagradDAUpdates(LibraryUpdates):
    _learning_rate, _learning_rate_tensor = parameter("learning_rate"), tensor("learning_rate")
    _initial_gradient_squared_accumulator_value = parameter("initial_gradient_squared_accumulator_value")
    _l1_regularization_strength = parameter("l1_regularization_strength")
    _l2_regularization_strength = parameter("l2_regularization_strength")
    _global_step = parameter("global_step")

    def _create_slots(self, var_list):
        for v in var_list:
            sums, squares = self._filled(v, 0.0), self._filled(v, self._initial_gradient_squared_accumulator_value)
            self._get_or_make_slot(v, sums, "gradient_accumulator", self._name)
            self._get_or_make_slot(v, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self):
        """Prepares the learning rate and the step; the op counts steps from 1."""
        rate, step = self._number("learning_rate"), convert_to_tensor(self._global_step)
        with colocate_with(rate):
            self._global_step_on_worker = array_ops.identity(step) + 1

    def _step(self, kind, grad, var, **more):
        dtype = var.dtype.base_dtype
        slots = {"gradient_" + k: self.get_slot(var, "gradient_" + k) for k in ("accumulator", "squared_accumulator")}
        return self._apply_op(kind, var, slots, grad=grad, lr=self._cast("learning_rate", var),
                              l1=math_ops.cast(self._l1_regularization_strength, dtype),
                              l2=math_ops.cast(self._l2_regularization_strength, dtype),
                              global_step=array_ops.identity(self._global_step_on_worker), **more)

    def _apply_dense(self, grad, var):
        return self._step("ApplyAdagradDA", grad, var)

    def _apply_rows(self, grad, var, indices):
        return self._step("SparseApplyAdagradDA", grad, var, indices=indices)


class AdamUpdates(LibraryUpdates):
    _lr, _beta1, _beta2, _epsilon = (parameter(k) for k in ("learning_rate", "beta1", "beta2", "epsilon"))
    _lr_t, _beta1_t, _beta2_t, _epsilon_t = (tensor(k) for k in ("learning_rate", "beta1", "beta2", "epsilon"))

    def _get_beta_accumulators(self):
        found = [self._get_non_slot_variable(n) for n in ("beta1_power", "beta2_power")]
        return tuple(found if None not in found else self._powers_in_library())

    def _powers_in_library(self):
        """Returns the power variables that the library made, found through an op that reads them."""
        if self._graph is None:
            return None, None
        by_name = {v.op.name: v for v in self._graph.get_collection("variables")}
        for o in reversed(self._graph.get_operations()):
            if o.type in ("ApplyAdam", "ResourceApplyAdam") and o.name.startswith(self._applied + "/"):
                return tuple(by_name[i.op.name.rpartition("/")[0] if i.op.type == "Identity" else i.op.inputs[0].op.name]
                             for i in o.inputs[3:5])
        return None, None

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        self._create_non_slot_variable(self._beta2, "beta2_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self):
        for key in ("learning_rate", "beta1", "beta2", "epsilon"):
            self._number(key)

    def _numbers(self, var):
        powers = [p.value() for p in self._get_beta_accumulators()]
        of = (*powers, self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        return [math_ops.cast(x, var.dtype.base_dtype) for x in of]

    def _apply_dense(self, grad, var):
        power1, power2, lr, beta1, beta2, epsilon = self._numbers(var)
        return self._apply_op("ApplyAdam", var, {"m": self.get_slot(var, "m"), "v": self.get_slot(var, "v")}, beta1_power=power1,
                              beta2_power=power2, lr=lr, beta1=beta1, beta2=beta2, epsilon=epsilon, grad=grad)

    def _apply_sparse_shared(self, grad, var, indices, scatter_add):
        power1, power2, lr, beta1, beta2, epsilon = self._numbers(var)
        lr = lr * math_ops.sqrt(1 - power2) / (1 - power1)
        made = []
        for name, beta in (("m", beta1), ("v", beta2)):
            part = (grad if name == "m" else grad * grad) * (1 - beta)
            slot = self.get_slot(var, name)
            with control_dependencies([assign(slot, slot * beta, use_locking=self._use_locking)]):
                made.append(scatter_add(slot, indices, part))
        update = var.assign_sub(lr * made[0] / (math_ops.sqrt(made[1]) + epsilon), use_locking=self._use_locking)
        return group(update, *made)

    def _apply_rows(self, grad, var, indices):
        def add_rows(x, i, v):
            if not hasattr(x, "handle"):
                return scatter_add(x, i, v, use_locking=self._use_locking)
            with control_dependencies([op("ResourceScatterAdd", resource=x.handle, indices=i, updates=v)]):
                return x.value()
        return self._apply_sparse_shared(grad, var, indices, add_rows)

    def _finish(self, update_ops, name_scope):
        power1, power2 = self._get_beta_accumulators()
        with control_dependencies(update_ops), colocate_with(power1):
            updates = [power1.assign(power1 * self._beta1_t, use_locking=self._use_locking),
                       power2.assign(power2 * self._beta2_t, use_locking=self._use_locking)]
        return group(*update_ops, *updates, name=name_scope)
