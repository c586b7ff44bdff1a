"""tf.layers.experimental: layers that make their variables as Keras does."""
from weft._core.nn.base_layer import keras_style_scope, set_keras_style
from weft._core.public import publish as _publish

__all__ = ["keras_style_scope", "set_keras_style"]
__getattr__ = _publish(__name__)
