"""tf.contrib.nccl: sums and extremes of a tensor of each device."""
from weft._core.contrib.nccl import all_max, all_min, all_prod, all_sum, broadcast, reduce_sum
from weft._core.public import publish as _publish

__all__ = ["all_max", "all_min", "all_prod", "all_sum", "broadcast", "reduce_sum"]
__getattr__ = _publish(__name__)
