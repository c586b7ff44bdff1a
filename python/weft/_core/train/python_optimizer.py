"""Optimizers that a program writes in Python: TensorFlow's protocol of slots, _apply_dense and _finish.

The library computes the gradients, and the program's methods make the nodes of the update.
"""
import contextlib

from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import IndexedSlices, colocate_with, control_dependencies, name_scope
from weft._core.ops import init_ops
from weft._core.ops.control_flow import group
from weft._core.ops.resource_variables import is_resource_variable
from weft._core.ops.variable_scope import single, variable_scope
from weft._core.ops.variables import Variable


def slot_place(var):
    """Returns a context that places a slot beside its variable.

    For a variable with copies it does nothing, because the strategy places a copy of the slot beside each.
    """
    return contextlib.nullcontext() if hasattr(var, "_values") else colocate_with(var)


class PythonUpdates:
    """The methods that a subclass calls and overrides. Optimizers of the library do not use them."""

    def _create_slots(self, var_list):
        pass

    def _prepare(self):
        pass

    def _apply_dense(self, grad, var):
        return self._resource_apply_dense(grad, var)

    def _apply_sparse(self, grad, var):
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_dense(self, grad, var):
        raise NotImplementedError("%s has no _apply_dense" % type(self).__name__)

    def _resource_apply_sparse(self, grad, var, indices):
        raise NotImplementedError("%s has no _apply_sparse" % type(self).__name__)

    @staticmethod
    def _summed(values, indices):
        """Returns values and indices in which rows with the same index are added up."""
        from weft._core.ops import array_ops, math_ops
        once, place = array_ops.unique(indices)
        return math_ops.unsorted_segment_sum(values, place, array_ops.shape(once)[0]), once

    def _apply_sparse_duplicate_indices(self, grad, var):
        total, once = self._summed(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(total, once, grad.dense_shape), var)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        total, once = self._summed(grad, indices)
        return self._resource_apply_sparse(total, handle, once)

    def _finish(self, update_ops, name_scope):
        return group(*update_ops, name=name_scope)

    def _valid_dtypes(self):
        from weft._core.framework import dtypes
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _assert_valid_dtypes(self, tensors):
        valid = self._valid_dtypes()
        for t in tensors:
            if t.dtype.base_dtype not in valid:
                raise ValueError("Invalid type %r for %s, expected: %s." % (t.dtype.base_dtype, t.name, list(valid)))

    @staticmethod
    def _call_if_callable(param):
        return param() if callable(param) else param

    # ---- slots ----

    def _slot_dict(self, slot_name):
        return self.__dict__.setdefault("_python_slots", {}).setdefault(slot_name, {})

    def _make_slot(self, var, initializer, shape, dtype, slot_name, op_name):
        found, var = self._slot_dict(slot_name), getattr(var, "_distributed_container", var)
        if var not in found:
            with slot_place(var), variable_scope(None, var.op.name + "/" + op_name, auxiliary_name_scope=False) as scope:
                found[var] = single(scope.name, shape, dtype, initializer, trainable=False,
                                    use_resource=is_resource_variable(var))
        return found[var]

    def _get_or_make_slot(self, var, val, slot_name, op_name):
        val = convert_to_tensor(val)
        return self._make_slot(var, val, None, val.dtype.base_dtype, slot_name, op_name)

    def _get_or_make_slot_with_initializer(self, var, initializer, shape, dtype, slot_name, op_name):
        return self._make_slot(var, initializer, shape, dtype, slot_name, op_name)

    def _zeros_slot(self, var, slot_name, op_name):
        return self._make_slot(var, init_ops.zeros_initializer(), var.get_shape().as_list(), var.dtype.base_dtype, slot_name,
                               op_name)

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        found = self.__dict__.setdefault("_non_slots", {})
        if name not in found:
            with slot_place(colocate_with):
                found[name] = Variable(initial_value, name=name, trainable=False,
                                       use_resource=is_resource_variable(colocate_with))
        return found[name]

    def _get_non_slot_variable(self, name, graph=None):
        return self.__dict__.get("_non_slots", {}).get(name)

    # ---- the update ----

    def _update(self, grad, var):
        if isinstance(grad, IndexedSlices) and getattr(var, "constraint", None) is not None:
            raise RuntimeError("Cannot use a constraint function on a sparse variable.")
        with name_scope("update_" + var.op.name), colocate_with(var):
            if isinstance(grad, IndexedSlices) and is_resource_variable(var):
                made = self._resource_apply_sparse_duplicate_indices(grad.values, var, grad.indices)
            elif isinstance(grad, IndexedSlices):
                made = self._apply_sparse_duplicate_indices(grad, var)
            elif is_resource_variable(var):
                made = self._resource_apply_dense(grad, var)
            else:
                made = self._apply_dense(grad, var)
            if getattr(var, "constraint", None) is None:
                return made
            with control_dependencies([made]):
                return var.assign(var.constraint(var.read_value())).op

    def _apply_in_python(self, pairs, global_step, name):
        pairs = [(g if isinstance(g, IndexedSlices) else convert_to_tensor(g), v) for g, v in pairs if g is not None]
        with control_dependencies(None):  # Slots must not depend on a condition.
            self._create_slots([v for _, v in pairs])
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = [self._update(g, v) for g, v in pairs]
            if global_step is None:
                return self._finish(updates, scope)
            with control_dependencies([self._finish(updates, "update")]), colocate_with(global_step):
                if is_resource_variable(global_step):
                    one = convert_to_tensor(1, global_step.dtype.base_dtype)
                    return op("AssignAddVariableOp", scope, resource=global_step.handle, value=one)
                return op("AssignAdd", scope, ref=global_step._ref(), value=1).op


_STEPS = ("_create_slots", "_prepare", "_apply_dense", "_apply_sparse", "_resource_apply_dense", "_resource_apply_sparse",
          "_apply_sparse_duplicate_indices", "_resource_apply_sparse_duplicate_indices", "_apply_sparse_shared", "_finish",
          "_make_slot", "_zeros_slot", "_get_or_make_slot", "_get_or_make_slot_with_initializer", "_create_non_slot_variable",
          "_get_beta_accumulators")


def _is_ours(method):
    return method is None or getattr(method, "__globals__", {}).get("__name__", "").startswith("weft.")


def in_python(optimizer):
    """Returns whether Python makes the updates: for optimizers of programs and for our own with _KIND None.

    In a strategy, Python makes them too, because each copy of a variable needs an update.
    """
    if optimizer.__dict__.get("_in_strategy"):
        return True
    kind = type(optimizer)
    return optimizer._KIND is None or not all(_is_ours(getattr(kind, step, None)) for step in _STEPS)
