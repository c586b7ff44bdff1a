"""tf.keras.layers: tf.layers as objects."""
from weft._core.keras.layers import (
    Activation,
    AveragePooling2D,
    AvgPool2D,
    Conv2D,
    Dense,
    Dropout,
    Flatten,
    Input,
    Layer,
    MaxPool2D,
    MaxPooling2D,
)
from weft._core.nn.batch_norm_layer import KerasBatchNormalization as BatchNormalization
from weft._core.public import publish as _publish

__all__ = [
    "Activation", "AveragePooling2D", "AvgPool2D", "BatchNormalization", "Conv2D", "Dense", "Dropout", "Flatten", "Input", "Layer",
    "MaxPool2D", "MaxPooling2D",
]
__getattr__ = _publish(__name__)
