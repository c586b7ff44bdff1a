"""tf.train.*Optimizer: Python keeps the parameters and the bookkeeping; the library makes gradients and updates."""
import re

from weft import _weft
from weft._core.distribute import context
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.gradient_registry import gradient_of, rows_of
from weft._core.framework.graph import GraphKeys, Operation, Tensor, get_default_graph, graph_of
from weft._core.framework.trackable import Trackable
from weft._core.ops.gradients import _out, is_tree
from weft._core.ops.variables import Variable, resource_wanted, trainable_variables, variable_of
from weft._core.train import distributed_update, library_updates
from weft._core.train.python_optimizer import PythonUpdates, in_python


def step_out(global_step):
    return -1 if global_step is None else _out(global_step)


def as_operation(made):
    """Returns the op of an assignment, which returned a tensor or, for a resource variable, the op itself."""
    return made if isinstance(made, Operation) else made.op


class Optimizer(PythonUpdates, Trackable, metaclass=Named):
    """The base of all optimizers. A subclass names an optimizer of the library and its parameters."""

    __slots__ = ("_unset",)  # a class with a slot is __base__ of the optimizers, in front of their mixed-in updates
    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2
    _KIND = None
    _GATES = {0: 1, 1: 0, 2: 2}  # from TensorFlow's gate_gradients constants to the library's

    def __init__(self, use_locking, name, **params):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking, self._name = use_locking, name
        self._params = params
        self._made, self._graph, self._slot_variables, self._applied = None, None, [], None

    @property
    def _slots(self):
        """Returns {name of a slot: {variable: the slot}}."""
        if in_python(self) or self._made is None:
            return self.__dict__.setdefault("_python_slots", {})
        found = {}
        for name in self.get_slot_names():
            rows = ((v, self.get_slot(v, name)) for v in self._graph.get_collection(GraphKeys.GLOBAL_VARIABLES))
            found[name] = {v: slot for v, slot in rows if slot is not None}
        return found

    def _tensor_in_library(self, key):
        """Returns a parameter as the tensor that the library's update reads, or None before the update is built."""
        if self._made is None or self._applied is None:
            return None
        value = self._params.get(key)
        if isinstance(value, (Tensor, Variable)):
            return convert_to_tensor(value)
        names = {"learning_rate": ("learning_rate", "lr", "alpha"), "decay": ("decay", "rho"),
                 "l2_regularization_strength": ("l2_regularization_strength", "add")}.get(key, (key,))
        found = (self._graph._c.find("%s/%s:0" % (self._applied, name)) for name in names)
        return next((self._graph._tensor(out) for out in found if out >= 0), None)

    def get_name(self):
        return self._name

    def _capsule(self, graph):
        """Returns the library's optimizer, which is made in the graph where it is first used."""
        if self._made is not None and self._graph is graph:
            return self._made
        if self._KIND is None or in_python(self):
            raise NotImplementedError("%s: an optimizer written in Python cannot be wrapped by one of the library, such as "
                                      "SyncReplicasOptimizer" % type(self).__name__)
        made = _weft.optimizer_create(graph._c, self._KIND, self._name)
        _weft.optimizer_set(made, "use_locking", float(bool(self._use_locking)))
        for key, value in self._params.items():
            if callable(value):
                value = value()
            if isinstance(value, (Tensor, Variable)):
                _weft.optimizer_set_output(made, key, _out(value) if key == "global_step" else convert_to_tensor(value)._out)
            elif value is not None:
                _weft.optimizer_set(made, key, float(value))
        self._made, self._graph = made, graph
        return made

    def _capsule_for_gradients(self, graph):
        """Returns an optimizer of the library that computes gradients; any of them can do it for any subclass."""
        if self._KIND is not None and not in_python(self):
            return self._capsule(graph)
        return _weft.optimizer_create(graph._c, "GradientDescent", self._name)

    def compute_gradients(self, loss, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        if gate_gradients not in self._GATES:
            raise ValueError("gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                             "Optimizer.GATE_GRAPH.  Not %s" % gate_gradients)
        if callable(loss):
            loss = loss()
        if not hasattr(loss, "dtype"):
            raise AttributeError("compute_gradients: the loss must be a tensor, got %r, which has no attribute 'dtype'" % (loss,))
        loss = convert_to_tensor(loss)
        graph = loss.graph
        graph._check_not_finalized()
        if context.has_strategy():
            loss = distributed_update.scaled(loss)
        if var_list is None:
            var_list = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        var_list = _flat_variables(var_list)
        if not var_list:
            raise ValueError("No variables to optimize.")
        self._assert_valid_dtypes([loss])
        capsule, variables = self._capsule_for_gradients(graph), [_out(v) for v in var_list]
        with graph._differentiating():
            rows = _weft.optimizer_compute(graph._c, capsule, loss._out, variables, self._GATES[gate_gradients],
                                           bool(colocate_gradients_with_ops), is_tree(aggregation_method),
                                           -1 if grad_loss is None else _out(grad_loss))
        graph._last_loss = loss
        pairs = [(gradient_of(graph, row), v) for row, v in zip(rows, var_list)]
        # A variable without a gradient may be of any type: many programs have an integer step among the trainable ones.
        self._assert_valid_dtypes([v for g, v in pairs if g is not None])
        return pairs

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = [(g, _variable(v)) for g, v in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        if context.has_strategy():
            return distributed_update.apply_in_replica(self, pairs, global_step, name)
        if all(g is None for g, _ in pairs):
            raise ValueError("No gradients provided for any variable: %s." % ([str(v) for _, v in pairs],))
        _check_updated([v for g, v in pairs if g is not None], global_step)
        graph = graph_of([v for _, v in pairs])
        graph._check_not_finalized()
        constrained = any(g is not None and getattr(v, "constraint", None) is not None for g, v in pairs)
        if graph._context is not None or constrained:
            self._leave_library()  # In a tf.cond or a loop the library's updates would run regardless of the condition.
        with graph.as_default(), graph._variable_root():
            if self._KIND is None or in_python(self):
                operation = self._apply_in_python(pairs, global_step, name)
            else:
                before = {v.name for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)}
                operation = self._apply_in_library(graph, pairs, global_step, name or self._name)
                self._applied = operation.name
                self._find_non_slots(graph, before)
        if operation not in graph._collection(GraphKeys.TRAIN_OP):
            graph.add_to_collection(GraphKeys.TRAIN_OP, operation)
        return operation

    def _apply_in_library(self, graph, pairs, global_step, name):
        """Returns an op that applies the updates, then counts the global step."""
        outs, rows = [_out(v) for _, v in pairs], rows_of([g for g, _ in pairs])
        with graph._made_by_library():
            made = _weft.optimizer_apply(graph._c, self._capsule(graph), outs, rows, step_out(global_step), name)
        return graph._operation(made >> 16)

    def _leave_library(self):
        """Lets Python make the updates from now on, with the slots that the library has made."""
        if self._KIND is None or in_python(self):
            return
        slots = [(name, v, self.get_slot(v, name)) for name in self.get_slot_names() for v in self._graph.get_collection(
            GraphKeys.GLOBAL_VARIABLES)]
        self._KIND = None
        for name, v, slot in slots:
            if slot is not None:
                self._slot_dict(name)[v] = slot

    def _find_non_slots(self, graph, before):
        """Records the variables that the library just made for no particular variable, such as beta1_power, by that
        name.
        """
        for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
            kind = re.sub(r"_\d+$", "", v.op.name.rpartition("/")[2])
            if v.name not in before and kind in ("beta1_power", "beta2_power"):
                self.__dict__.setdefault("_non_slots", {})[kind] = v

    def _trackable_children(self):
        return {**super()._trackable_children(), **dict(sorted(self.__dict__.get("_non_slots", {}).items()))}

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None, grad_loss=None):
        pairs = self.compute_gradients(loss, var_list=var_list, gate_gradients=gate_gradients,
                                       aggregation_method=aggregation_method,
                                       colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        if all(g is None for g, _ in pairs):
            raise ValueError("No gradients provided for any variable, check your graph for ops that do not support "
                             "gradients, between variables %s and loss %s." % ([str(v) for _, v in pairs], loss))
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def get_slot(self, var, name):
        if in_python(self):
            return self._slot_dict(name).get(getattr(var, "_distributed_container", var))
        if self._made is None:
            return None
        out = _weft.optimizer_slot(self._made, _out(var), name)
        return None if out < 0 else variable_of(self._graph, self._graph._tensor(out).name)

    def get_slot_names(self):
        if in_python(self):
            return sorted(self.__dict__.get("_python_slots", {}))
        return sorted(_weft.optimizer_slot_names(self._made)) if self._made is not None else []

    def variables(self):
        if in_python(self):
            slots = [v for rows in self.__dict__.get("_python_slots", {}).values() for v in rows.values()]
            return sorted(slots + list(self.__dict__.get("_non_slots", {}).values()), key=lambda v: v.op.name)
        if self._made is None:
            return []
        found = [self.get_slot(v, s) for s in self.get_slot_names() for v in trainable_variables()]
        own = list(self.__dict__.get("_non_slots", {}).values())
        return sorted([v for v in found if v is not None] + own, key=lambda v: v.op.name)


def _flat_variables(var_list):
    out = []
    for v in var_list if isinstance(var_list, (list, tuple)) else [var_list]:
        out.extend(v) if hasattr(v, "_get_partitions") else out.append(_variable(v))
    return out


def _variable(v):
    """Returns v if an optimizer can update it; raises AttributeError otherwise."""
    if not hasattr(v, "dtype") or not hasattr(v, "op"):
        raise AttributeError("an optimizer updates variables, got %r of type %s, which has no attribute 'op'" % (
            v, type(v).__name__))
    return v


def _check_updated(variables, global_step):
    """Raises TensorFlow's errors for objects that cannot be updated."""
    for v in variables:
        if isinstance(v, Tensor):
            raise NotImplementedError("Trying to update a Tensor ", v)
    if global_step is not None and not hasattr(global_step, "dtype"):
        raise AttributeError("'%s' object has no attribute 'dtype'" % type(global_step).__name__)
    if isinstance(global_step, Tensor) and not global_step.dtype._is_ref_dtype:
        raise AttributeError("'Tensor' object has no attribute 'assign_add'")


def _check_positive(name, value):
    if value <= 0.0:
        raise ValueError("%s must be positive: %s" % (name, value))


class GradientDescentOptimizer(library_updates.GradientDescentUpdates, Optimizer):
    _KIND = "GradientDescent"

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name, learning_rate=learning_rate)


class ProximalGradientDescentOptimizer(library_updates.ProximalGradientDescentUpdates, Optimizer):
    _KIND = "ProximalGradientDescent"

    def __init__(self, learning_rate, l1_regularization_strength=0.0, l2_regularization_strength=0.0,
                 use_locking=False, name="ProximalGradientDescent"):
        super().__init__(use_locking, name, learning_rate=learning_rate,
                         l1_regularization_strength=l1_regularization_strength,
                         l2_regularization_strength=l2_regularization_strength)


class MomentumOptimizer(library_updates.MomentumUpdates, Optimizer):
    _KIND = "Momentum"

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False):
        super().__init__(use_locking, name, learning_rate=learning_rate, momentum=momentum, use_nesterov=use_nesterov)


class RMSPropOptimizer(library_updates.RMSPropUpdates, Optimizer):
    _KIND = "RMSProp"

    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False,
                 name="RMSProp"):
        super().__init__(use_locking, name, learning_rate=learning_rate, decay=decay, momentum=momentum,
                         epsilon=epsilon, centered=centered)


class AdamOptimizer(library_updates.AdamUpdates, Optimizer):
    _KIND = "Adam"

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(use_locking, name, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon)


class AdagradOptimizer(library_updates.AdagradUpdates, Optimizer):
    _KIND = "Adagrad"

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        _check_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name, learning_rate=learning_rate,
                         initial_accumulator_value=initial_accumulator_value)


class ProximalAdagradOptimizer(library_updates.ProximalAdagradUpdates, Optimizer):
    _KIND = "ProximalAdagrad"

    def __init__(self, learning_rate, initial_accumulator_value=0.1, l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, use_locking=False, name="ProximalAdagrad"):
        _check_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name, learning_rate=learning_rate,
                         initial_accumulator_value=initial_accumulator_value,
                         l1_regularization_strength=l1_regularization_strength,
                         l2_regularization_strength=l2_regularization_strength)


class AdadeltaOptimizer(library_updates.AdadeltaUpdates, Optimizer):
    _KIND = "Adadelta"

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name, learning_rate=learning_rate, rho=rho, epsilon=epsilon)


class AdagradDAOptimizer(library_updates.AdagradDAUpdates, Optimizer):
    _KIND = "AdagradDA"

    def __init__(self, learning_rate, global_step, initial_gradient_squared_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="AdagradDA"):
        _check_positive("initial_gradient_squared_accumulator_value", initial_gradient_squared_accumulator_value)
        super().__init__(use_locking, name, learning_rate=learning_rate, global_step=global_step,
                         initial_gradient_squared_accumulator_value=initial_gradient_squared_accumulator_value,
                         l1_regularization_strength=l1_regularization_strength,
                         l2_regularization_strength=l2_regularization_strength)


class FtrlOptimizer(library_updates.FtrlUpdates, Optimizer):
    _KIND = "Ftrl"

    def __init__(self, learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="Ftrl",
                 accum_name=None, linear_name=None, l2_shrinkage_regularization_strength=0.0, beta=None):
        for key, given in (("accum_name", accum_name), ("linear_name", linear_name)):
            if given not in (None, name):
                raise NotImplementedError("tf.train.FtrlOptimizer(%s=%r) is not in Weft: leave it out, and the slots have the "
                                          "optimizer's name" % (key, given))
        if learning_rate_power > 0.0:
            raise ValueError("learning_rate_power %f needs to be negative or zero" % learning_rate_power)
        for key, given in (("initial_accumulator_value", initial_accumulator_value),
                           ("l1_regularization_strength", l1_regularization_strength),
                           ("l2_regularization_strength", l2_regularization_strength),
                           ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength)):
            if given < 0.0:
                raise ValueError("%s %f needs to be positive or zero" % (key, given))
        super().__init__(use_locking, name, learning_rate=learning_rate, learning_rate_power=learning_rate_power,
                         initial_accumulator_value=initial_accumulator_value,
                         l1_regularization_strength=l1_regularization_strength,
                         l2_regularization_strength=l2_regularization_strength, beta=0.0 if beta is None else beta,
                         l2_shrinkage_regularization_strength=l2_shrinkage_regularization_strength)


# ---- moving averages ----

class ExponentialMovingAverage(metaclass=Named):
    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay, self._num_updates, self._zero_debias, self._name = decay, num_updates, zero_debias, name
        self._made = self._graph = None

    @property
    def name(self):
        return self._name

    def _capsule(self):
        if self._made is None:
            self._graph = graph = get_default_graph()
            updates = -1
            if self._num_updates is not None:
                updates = _out(self._num_updates)
            self._made = _weft.average_create(graph._c, self._name, float(self._decay), updates, bool(self._zero_debias))
        return self._made

    def apply(self, var_list=None):
        if var_list is None:
            var_list = trainable_variables()
        made = self._capsule()
        for v in _flat_variables(var_list):
            if v.dtype.base_dtype.name not in ("float16", "bfloat16", "float32", "float64"):
                raise TypeError("The variables must be half, float, or double: %s" % v.name)
        values = [_out(v) for v in _flat_variables(var_list)]
        self._graph._c.variables_resource(resource_wanted(None))
        out = _weft.average_apply(self._graph._c, made, values)
        return self._graph._operation(out >> 16)

    def average(self, var):
        if self._made is None:
            return None
        out = _weft.average_of(self._made, _out(var))
        return None if out < 0 else variable_of(self._graph, self._graph._tensor(out).name)

    def average_name(self, var):
        average = self.average(var)
        if average is not None:
            return average.op.name
        return _weft.average_name(self._capsule(), _out(var))

    def variables_to_restore(self, moving_avg_variables=None):
        from weft._core.ops.variables import global_variables, moving_average_variables
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        names = {self.average_name(v): v for v in dict.fromkeys(moving_avg_variables)}
        taken = {v.name for v in names.values()}
        names.update({v.op.name: v for v in global_variables() if v.name not in taken and v.op.name not in names})
        return names


def operation_or_none(graph, out):
    return None if out < 0 else graph._operation(out >> 16)


