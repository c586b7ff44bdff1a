"""tf.keras.datasets: MNIST."""
from weft._core.public import publish as _publish
from weft.keras.datasets import mnist

__all__ = ["mnist"]
__getattr__ = _publish(__name__)
