"""Computes the shapes and values with which Dataset.padded_batch pads elements."""
import numpy as np

from weft._core.data import structure
from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import constant_value, convert_to_tensor
from weft._core.framework.graph import Tensor


def padded_shape(given, known):
    """Returns a padded shape as a tensor, and its static form. An element of the shape `known` must fit into it."""
    if isinstance(given, Tensor):
        value = constant_value(given)
        dims = None if value is None else [None if d < 0 else int(d) for d in value]
        if dims is None and known.ndims is not None:
            dims = [None] * known.ndims
        made, shape = given, tensor_shape.TensorShape(dims)
    else:
        shape = tensor_shape.as_shape([None if d in (-1, None) else d for d in given] if isinstance(given, (list, tuple))
                                      else given)
        if shape.ndims is None:
            raise ValueError("You must provide `padded_shapes` for elements of unknown rank")
        made = convert_to_tensor([-1 if d is None else d for d in shape.as_list()], dtypes.int64)
    if not _fits(known, shape):
        raise ValueError("The padded shape %s is not compatible with the shape %s of the corresponding input component." % (shape, known))
    return made, shape


def _fits(element, padded):
    """Returns true unless an element is known to be larger than the padded shape, or of another rank."""
    if element.ndims is None or padded.ndims is None:
        return True
    return element.ndims == padded.ndims and all(
        have is None or room is None or have <= room for have, room in zip(element.as_list(), padded.as_list()))


def padding_values(form, given):
    """Returns a scalar of the type of each component, which is zero or the empty string if none is given."""
    if given is None or (not isinstance(given, (tuple, dict)) and len(form.flat_specs) > 1):
        given = structure.pack_like(form.specs, [given] * len(form.flat_specs))
    out = []
    for value, dtype in zip(structure.along(form.specs, given), form.flat_types):
        if value is None:
            value = b"" if dtype == dtypes.string else np.zeros([], dtype.as_numpy_dtype)
        made = convert_to_tensor(value, name="padding_value")
        if not made.shape.is_compatible_with([]):
            raise ValueError("Invalid `padding_values`. `padding_values` values should be scalars, but got %s." % made.shape)
        if made.dtype != dtype:
            raise TypeError("Invalid `padding_values`. `padding_values` values type %s does not match type %s of the corresponding input "
                            "component." % (made.dtype, dtype))
        out.append(made)
    return out
