"""tf.keras.layers.experimental: layers that are new in TensorFlow 2."""
from weft._core.keras.layers.attention import EinsumDense
from weft._core.keras.layers.preprocessing import RandomFourierFeatures
from weft._core.public import publish as _publish
from weft.keras.layers.experimental import preprocessing

__all__ = ["EinsumDense", "RandomFourierFeatures", "preprocessing"]
__getattr__ = _publish(__name__)
