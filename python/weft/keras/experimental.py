"""tf.keras.experimental: schedules and models that Keras publishes under this name, too."""
from weft._core.keras.layers.features import SequenceFeatures
from weft._core.keras.linear_model import LinearModel, WideDeepModel
from weft._core.keras.schedules import CosineDecay, CosineDecayRestarts
from weft._core.public import publish as _publish

__all__ = ["CosineDecay", "CosineDecayRestarts", "LinearModel", "SequenceFeatures", "WideDeepModel"]
__getattr__ = _publish(__name__)
