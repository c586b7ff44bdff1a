"""tf.keras.models: models."""
from weft._core.keras.cloning import clone_model, model_from_config, model_from_json, model_from_yaml
from weft._core.keras.linear_model import LinearModel, WideDeepModel
from weft._core.keras.models import Model
from weft._core.keras.saved_models import load_model, save_model
from weft._core.keras.sequential import Sequential
from weft._core.public import publish as _publish

__all__ = [
    "LinearModel", "Model", "Sequential", "WideDeepModel", "clone_model", "load_model", "model_from_config",
    "model_from_json", "model_from_yaml", "save_model",
]
__getattr__ = _publish(__name__)
