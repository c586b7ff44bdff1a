"""tf.keras: layers, models and their training on graphs."""
from weft._core.keras.input_layer import Input
from weft._core.keras.models import Model
from weft._core.keras.sequential import Sequential
from weft._core.public import publish as _publish
from weft.keras import (
    activations,
    backend,
    callbacks,
    constraints,
    datasets,
    estimator,
    experimental,
    initializers,
    layers,
    losses,
    metrics,
    mixed_precision,
    models,
    optimizers,
    preprocessing,
    regularizers,
    saving,
    utils,
)

__all__ = [
    "Input", "Model", "Sequential", "activations", "applications", "backend", "callbacks", "constraints", "datasets",
    "estimator", "experimental", "initializers", "layers", "losses", "metrics", "mixed_precision", "models", "optimizers",
    "preprocessing", "regularizers", "saving", "utils",
]
__getattr__ = _publish(__name__, later=("applications",))
