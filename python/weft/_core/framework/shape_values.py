"""Computes the shapes that integer tensors hold, as far as they are known without a run."""
from weft._core.framework.build import constant_value as _any_constant
from weft._core.framework.tensor_shape import TensorShape, unknown_shape

# The ops through which TensorFlow's Python computes a value; Weft's library could handle more of them.
_READ = {"Const", "Identity", "StopGradient", "Range", "Cast", "Concat", "ConcatV2", "ConcatOffset", "Pack", "Unpack", "Split", "Fill",
         "Equal", "NotEqual"}
_SIZES = {"Shape", "Size", "Rank", "TensorArraySizeV3"}


def constant_value(tensor):
    """Returns the value that TensorFlow knows without a run, or None: tf.contrib.util.constant_value."""
    return _any_constant(tensor) if not hasattr(tensor, "op") or _is_read(tensor.op) else None


def _is_read(node):
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.type in _READ:
            waiting.extend(t.op for t in node.inputs)
        elif node.type not in _SIZES:
            return False
    return True


def _count(tensor):
    """Returns one dimension that a scalar tensor holds, or None."""
    value = constant_value(tensor)
    return None if value is None or int(value) < 0 else int(value)


def _sliced(node):
    """Returns the part of a shape that shape[a:b:c] selects, or None if that is not known."""
    begin, end, stride = (constant_value(t) for t in node.inputs[1:4])
    masks = {m: node.get_attr(m + "_mask") for m in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    whole = constant_value_as_shape(node.inputs[0])
    if begin is None or end is None or stride is None or len(begin) != 1 or whole.ndims is None or \
            masks["ellipsis"] or masks["new_axis"] or masks["shrink_axis"]:
        return None
    part = slice(None if masks["begin"] else int(begin[0]), None if masks["end"] else int(end[0]), int(stride[0]))
    return TensorShape(whole.as_list()[part])


def _joined(node):
    made = TensorShape([])
    for each in node.inputs[:-1] if node.type == "ConcatV2" else node.inputs[1:]:
        made = made.concatenate(constant_value_as_shape(each))
    return made


_RULES = {"Shape": lambda node: node.inputs[0].shape, "Cast": lambda node: constant_value_as_shape(node.inputs[0]),
          "Pack": lambda node: TensorShape([_count(t) for t in node.inputs]), "StridedSlice": _sliced, "ConcatV2": _joined,
          "Concat": _joined}


def constant_value_as_shape(tensor):
    """Returns the shape that an integer tensor holds, as far as the graph determines it."""
    if tensor.shape.ndims == 0:
        value = constant_value(tensor)
        if value is None or value != -1:
            raise ValueError("Received a scalar with value '%s' as shape; require a statically known scalar with value '-1' to "
                             "describe an unknown shape." % value)
        return unknown_shape()
    known = constant_value(tensor)
    if known is not None:
        return TensorShape([None if d == -1 else int(d) for d in known])
    if tensor.op.type in _RULES:
        found = _RULES[tensor.op.type](tensor.op)
        if found is not None:
            return TensorShape(found)
    count = tensor.shape.with_rank(1).as_list()[0]
    return unknown_shape() if count is None else TensorShape([None] * count)
