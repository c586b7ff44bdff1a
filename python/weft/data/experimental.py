"""tf.data.experimental: transformations for Dataset.apply."""
from weft._core.data.dataset import AUTOTUNE
from weft._core.data.experimental import (
    Counter,
    bucket_by_sequence_length,
    enumerate_dataset,
    get_single_element,
    group_by_window,
    ignore_errors,
    map_and_batch,
    parallel_interleave,
    prefetch_to_device,
    scan,
    shuffle_and_repeat,
    take_while,
    unbatch,
)
from weft._core.data.structure import Structure
from weft._core.public import publish as _publish

__all__ = [
    "AUTOTUNE", "Counter", "Structure", "bucket_by_sequence_length", "enumerate_dataset", "get_single_element",
    "group_by_window", "ignore_errors", "map_and_batch", "parallel_interleave", "prefetch_to_device", "scan",
    "shuffle_and_repeat", "take_while", "unbatch",
]
__getattr__ = _publish(__name__)
