"""tf.contrib.training: hyperparameters, and where to put variables."""
from weft._core.contrib.training import HParams
from weft._core.public import publish as _publish
from weft._core.train.device_setter import GreedyLoadBalancingStrategy, byte_size_load_fn

__all__ = ["GreedyLoadBalancingStrategy", "HParams", "byte_size_load_fn"]
__getattr__ = _publish(__name__)
