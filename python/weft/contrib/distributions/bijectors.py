"""tf.contrib.distributions.bijectors: invertible functions of random variables."""
from weft._core.distributions.bijectors import (
    AbsoluteValue,
    Bijector,
    Exp,
    Gumbel,
    Identity,
    PowerTransform,
    Sigmoid,
    SinhArcsinh,
    SoftmaxCentered,
    Softplus,
    Softsign,
    Square,
    Weibull,
)
from weft._core.distributions.flows import (
    MaskedAutoregressiveFlow,
    RealNVP,
    masked_autoregressive_default_template,
    masked_dense,
    real_nvp_default_template,
)
from weft._core.distributions.vector_bijectors import (
    Affine,
    AffineLinearOperator,
    AffineScalar,
    Chain,
    FillTriangular,
    Inline,
    Invert,
    Permute,
    Reshape,
)
from weft._core.public import publish as _publish

__all__ = [
    "AbsoluteValue", "Affine", "AffineLinearOperator", "AffineScalar", "Bijector", "Chain", "Exp", "FillTriangular",
    "Gumbel", "Identity", "Inline", "Invert", "MaskedAutoregressiveFlow", "Permute", "PowerTransform", "RealNVP",
    "Reshape", "Sigmoid", "SinhArcsinh", "SoftmaxCentered", "Softplus", "Softsign", "Square", "Weibull",
    "masked_autoregressive_default_template", "masked_dense", "real_nvp_default_template",
]
__getattr__ = _publish(__name__)
