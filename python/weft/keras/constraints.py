"""tf.keras.constraints: what an optimizer does to a variable after each step."""
from weft._core.keras.constraints import (
    Constraint,
    MaxNorm,
    MinMaxNorm,
    NonNeg,
    RadialConstraint,
    UnitNorm,
    deserialize,
    get,
    max_norm,
    min_max_norm,
    non_neg,
    radial_constraint,
    serialize,
    unit_norm,
)
from weft._core.public import publish as _publish

__all__ = [
    "Constraint", "MaxNorm", "MinMaxNorm", "NonNeg", "RadialConstraint", "UnitNorm", "deserialize", "get", "max_norm",
    "min_max_norm", "non_neg", "radial_constraint", "serialize", "unit_norm",
]
__getattr__ = _publish(__name__)
