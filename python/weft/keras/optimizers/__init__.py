"""tf.keras.optimizers: optimizers of Keras."""
from weft._core.keras.optimizer_base import Optimizer
from weft._core.keras.optimizers import SGD, Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop, deserialize, get, serialize
from weft._core.public import publish as _publish
from weft.keras.optimizers import legacy, schedules

__all__ = [
    "Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "Optimizer", "RMSprop", "SGD", "deserialize", "get",
    "legacy", "schedules", "serialize",
]
__getattr__ = _publish(__name__)
