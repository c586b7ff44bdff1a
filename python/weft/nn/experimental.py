"""tf.nn.experimental: functions that take their own random numbers."""
from weft._core.nn.nn_functions import general_dropout, stateless_dropout
from weft._core.public import publish as _publish

__all__ = ["general_dropout", "stateless_dropout"]
__getattr__ = _publish(__name__)
