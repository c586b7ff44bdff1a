"""tf.keras: layers, models and their training on graphs."""
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
    losses,
    metrics,
    models,
    optimizers,
    preprocessing,
    regularizers,
    utils,
)

__all__ = [
    "Input", "Model", "activations", "applications", "backend", "constraints", "datasets", "initializers", "layers",
    "losses", "metrics", "models", "optimizers", "preprocessing", "regularizers", "utils",
]
__getattr__ = _publish(__name__)
