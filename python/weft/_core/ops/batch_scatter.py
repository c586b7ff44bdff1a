"""tf.batch_scatter_update: writes rows at given indices in a batch of matrices."""
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ops.variables import scatter_nd_update


def batch_scatter_update(ref, indices, updates, use_locking=True, name=None):
    """Writes updates[i, ..., :] at ref[i, indices[i, ...], :], for each i of the batch dimensions that ref and indices share.

    Args:
      ref: a variable.
      indices: the indices into the dimension behind the batch dimensions.
      updates: the values.
      use_locking: whether others wait until it is done.
      name: the name of the scope.

    Returns:
      The variable after the update.
    """
    with name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        shape, rank = array_ops.shape(indices), indices.get_shape().ndims
        rows = array_ops.expand_dims(indices, -1)
        parts = []
        for dimension in range(rank - 1):
            size = shape[dimension]
            wide = [1] * dimension + [size] + [1] * (rank - dimension)
            numbers = array_ops.reshape(math_ops.range(0, size, 1, name="Range"), wide)
            parts.append(numbers * array_ops.ones_like(rows))
        return scatter_nd_update(ref, array_ops.concat([*parts, rows], -1), updates, use_locking=use_locking)
