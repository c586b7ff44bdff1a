"""tf.sets: set operations on the rows of dense and sparse tensors."""
from weft._core.framework.build import convert_to_tensor, op
from weft._core.ops.sparse import SparseTensor


def _operate(a, b, kind, validate_indices):
    """Applies a set operation. TensorFlow has no op for a sparse set followed by a dense one, so the two are swapped.
    """
    if isinstance(b, SparseTensor) or not isinstance(a, SparseTensor):
        given = {"set_operation": kind, "validate_indices": validate_indices}
    else:
        a, b = b, a
        given = {"set_operation": {"a-b": "b-a", "b-a": "a-b"}.get(kind, kind), "validate_indices": validate_indices}
    if isinstance(a, SparseTensor):
        made = op("SparseToSparseSetOperation", None, set1_indices=a.indices, set1_values=a.values, set1_shape=a.dense_shape,
                  set2_indices=b.indices, set2_values=b.values, set2_shape=b.dense_shape, **given)
    elif isinstance(b, SparseTensor):
        made = op("DenseToSparseSetOperation", None, set1=a, set2_indices=b.indices, set2_values=b.values, set2_shape=b.dense_shape,
                  **given)
    else:
        made = op("DenseToDenseSetOperation", None, set1=convert_to_tensor(a), set2=convert_to_tensor(b), **given)
    return SparseTensor(*made)


def set_size(a, validate_indices=True):
    if not isinstance(a, SparseTensor):
        raise TypeError("Expected `SparseTensor`, got %s." % a)
    return op("SetSize", None, set_indices=a.indices, set_values=a.values, set_shape=a.dense_shape, validate_indices=validate_indices)


def set_intersection(a, b, validate_indices=True):
    return _operate(a, b, "intersection", validate_indices)


def set_difference(a, b, aminusb=True, validate_indices=True):
    return _operate(a, b, "a-b" if aminusb else "b-a", validate_indices)


def set_union(a, b, validate_indices=True):
    return _operate(a, b, "union", validate_indices)


size, intersection, difference, union = set_size, set_intersection, set_difference, set_union
