"""tf.keras.optimizers.legacy: optimizers of Keras."""
from weft._core.keras.optimizer_base import Optimizer
from weft._core.keras.optimizers import SGD, Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop
from weft._core.public import publish as _publish

__all__ = ["Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "Optimizer", "RMSprop", "SGD"]
__getattr__ = _publish(__name__)
