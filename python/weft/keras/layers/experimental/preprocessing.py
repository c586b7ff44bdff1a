"""tf.keras.layers.experimental.preprocessing: layers that prepare inputs."""
from weft._core.keras.layers.preprocessing import (
    CategoryEncoding,
    CenterCrop,
    Discretization,
    Hashing,
    Normalization,
    PreprocessingLayer,
    Rescaling,
    Resizing,
)
from weft._core.public import publish as _publish

__all__ = [
    "CategoryEncoding", "CenterCrop", "Discretization", "Hashing", "Normalization", "PreprocessingLayer", "Rescaling", "Resizing",
]
__getattr__ = _publish(__name__)
