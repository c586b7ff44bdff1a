"""tf.keras.datasets: well-known data sets."""
from weft._core.public import publish as _publish
from weft.keras.datasets import boston_housing, cifar10, cifar100, fashion_mnist, imdb, mnist, reuters

__all__ = ["boston_housing", "cifar10", "cifar100", "fashion_mnist", "imdb", "mnist", "reuters"]
__getattr__ = _publish(__name__)
