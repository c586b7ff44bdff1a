"""tf.keras.optimizers.schedules: learning rates that depend on the step."""
from weft._core.keras.schedules import (
    CosineDecay,
    CosineDecayRestarts,
    ExponentialDecay,
    InverseTimeDecay,
    LearningRateSchedule,
    PiecewiseConstantDecay,
    PolynomialDecay,
    deserialize,
    serialize,
)
from weft._core.public import publish as _publish

__all__ = [
    "CosineDecay", "CosineDecayRestarts", "ExponentialDecay", "InverseTimeDecay", "LearningRateSchedule",
    "PiecewiseConstantDecay", "PolynomialDecay", "deserialize", "serialize",
]
__getattr__ = _publish(__name__)
