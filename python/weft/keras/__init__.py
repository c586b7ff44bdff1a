"""tf.keras: its MNIST reader, and layers as parts of a graph that a tf.Session trains.

Training loops are not here; a name of a part that is empty says what to use instead.
"""
from weft._core.keras.input_layer import Input
from weft._core.keras.models import Model
from weft._core.public import publish as _publish
from weft.keras import (
    activations,
    applications,
    backend,
    constraints,
    datasets,
    initializers,
    layers,
    models,
    optimizers,
    preprocessing,
    regularizers,
    utils,
)

__all__ = [
    "Input", "Model", "activations", "applications", "backend", "constraints", "datasets", "initializers", "layers",
    "models", "optimizers", "preprocessing", "regularizers", "utils",
]
__getattr__ = _publish(__name__)
