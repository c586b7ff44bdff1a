"""tf.ragged: ragged tensors, whose rows have different lengths."""
from weft._core.public import publish as _publish
from weft._core.ragged.ragged_factory import constant, constant_value, placeholder, ragged_range as range
from weft._core.ragged.ragged_ops import (
    boolean_mask,
    cross,
    cross_hashed,
    map_flat_values,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack,
    stack_dynamic_partitions,
)
from weft._core.ragged.ragged_value import RaggedTensorValue

__all__ = [
    "RaggedTensorValue", "boolean_mask", "constant", "constant_value", "cross", "cross_hashed", "map_flat_values",
    "placeholder", "range", "row_splits_to_segment_ids", "segment_ids_to_row_splits", "stack",
    "stack_dynamic_partitions",
]
__getattr__ = _publish(__name__)
