"""Parts of tensorflow.python.ops.rnn and rnn_cell_impl that programs with loops of their own import."""
from weft._core.framework import tensor_shape
from weft._core.framework.build import constant, constant_value, convert_to_tensor
from weft._core.framework.dtypes import int32
from weft._core.framework.graph import Tensor
from weft._core.framework.shape_values import constant_value_as_shape
from weft._core.ops import array_ops, math_ops


def _transpose_batch_time(x):
    """Returns (batch, time, ...) as (time, batch, ...); a tensor of fewer than two dimensions is returned unchanged."""
    if x.shape.ndims is not None and x.shape.ndims < 2:
        return x
    made = array_ops.transpose(x, array_ops.concat([[1, 0], math_ops.range(2, array_ops.rank(x))], 0))
    if x.shape.ndims is not None:
        made.set_shape([x.shape[1], x.shape[0], *x.shape[2:]])
    return made


def _best_effort_input_batch_size(flat_input):
    """Returns the rows of inputs of the form (time, batch, ...): a number if one of them knows it, else a tensor."""
    for each in flat_input:
        shape = each.shape
        if shape.rank is None:
            continue
        if shape.rank < 2:
            raise ValueError("Input tensor should have rank >= 2. Received input=%s of rank %s" % (each, shape.rank))
        if tensor_shape.as_shape(shape).as_list()[1] is not None:
            return tensor_shape.as_shape(shape).as_list()[1]
    return array_ops.shape(flat_input[0])[1]


def _infer_state_dtype(explicit_dtype, state):
    """Returns the type that is given, or the one that all tensors of a state have."""
    from weft._core.framework import nest
    if explicit_dtype is not None:
        return explicit_dtype
    if not nest.is_nested(state):
        return state.dtype
    types = [each.dtype for each in nest.flatten(state)]
    if not types:
        raise ValueError("Unable to infer dtype from argument state=%s." % (state,))
    if any(t != types[0] for t in types):
        raise ValueError("Argument state=%s has tensors of different inferred dtypes. Unable to infer a single representative dtype. "
                         "Dtypes received: %s" % (state, types))
    return types[0]


def _maybe_tensor_shape_from_tensor(shape):
    """Returns a shape that is given as a tensor, as far as it is known."""
    return constant_value_as_shape(shape) if isinstance(shape, Tensor) else shape


def _part(given, what):
    """Returns (as a tensor of one dimension or None, as a list or None) of one of the two that _concat joins."""
    if isinstance(given, Tensor):
        if given.shape.ndims not in (0, 1):
            raise ValueError("Argument %s must be either a scalar or vector tensor. Received: %s" % (what, given))
        made = array_ops.expand_dims(given, 0) if given.shape.ndims == 0 else given
        known = constant_value(made)
        return made, None if known is None else [int(d) for d in known]
    shape = tensor_shape.as_shape(given if isinstance(given, (list, tuple, tensor_shape.TensorShape)) or given is None else [given])
    dims = shape.as_list() if shape.ndims is not None else None
    full = dims is not None and None not in dims
    return constant(dims, int32) if full else None, dims


def _concat(prefix, suffix, static=False):
    """Returns the shape that begins with one and ends with another: a list if `static`, else a tensor."""
    first, first_dims = _part(prefix, "prefix")
    last, last_dims = _part(suffix, "suffix")
    if static:
        return tensor_shape.as_shape(first_dims).concatenate(tensor_shape.as_shape(last_dims)).as_list() \
            if first_dims is not None and last_dims is not None else None
    if first is None or last is None:
        raise ValueError("Prefix or suffix cannot be None. Received prefix = %s and suffix = %s" % (prefix, suffix))
    return array_ops.concat([convert_to_tensor(first), convert_to_tensor(last)], 0)
