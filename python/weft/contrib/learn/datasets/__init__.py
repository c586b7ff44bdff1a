"""tf.contrib.learn.datasets: MNIST."""
from weft._core.contrib.learn import load_dataset
from weft._core.public import publish as _publish
from weft.contrib.learn.datasets import base, mnist

__all__ = ["base", "load_dataset", "mnist"]
__getattr__ = _publish(__name__)
