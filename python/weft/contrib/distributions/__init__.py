"""tf.contrib.distributions: random variables, those of tf.distributions and more."""
from weft._core.distributions.bijectors import softplus_inverse
from weft._core.distributions.compound import (
    Independent,
    LogNormal,
    MultivariateNormalDiag,
    MultivariateNormalDiagPlusLowRank,
    MultivariateNormalDiagWithSoftplusScale,
    MultivariateNormalFullCovariance,
    MultivariateNormalTriL,
    TransformedDistribution,
)
from weft._core.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, ReparameterizationType
from weft._core.distributions.kullback_leibler import RegisterKL, kl_divergence
from weft._core.distributions.mixtures import (
    ExpRelaxedOneHotCategorical,
    Mixture,
    MixtureSameFamily,
    OneHotCategorical,
    RelaxedOneHotCategorical,
    percentile,
)
from weft._core.distributions.more_scalars import (
    Binomial,
    Cauchy,
    Chi2,
    Deterministic,
    ExponentialWithSoftplusRate,
    GammaWithSoftplusConcentrationRate,
    Geometric,
    Gumbel,
    HalfNormal,
    InverseGamma,
    LaplaceWithSoftplusScale,
    Logistic,
    NegativeBinomial,
    NormalWithSoftplusScale,
    Poisson,
    RelaxedBernoulli,
    StudentTWithAbsDfSoftplusScale,
    VectorDeterministic,
)
from weft._core.distributions.scalars import (
    Bernoulli,
    Beta,
    BetaWithSoftplusConcentration,
    Exponential,
    Gamma,
    Laplace,
    Normal,
    StudentT,
    Uniform,
)
from weft._core.distributions.vector_bijectors import fill_triangular, fill_triangular_inverse
from weft._core.distributions.vectors import Categorical, Dirichlet, DirichletMultinomial, Multinomial
from weft._core.public import publish as _publish
from weft.contrib.distributions import bijectors

__all__ = [
    "Bernoulli", "Beta", "BetaWithSoftplusConcentration", "Binomial", "Categorical", "Cauchy", "Chi2",
    "Deterministic", "Dirichlet", "DirichletMultinomial", "Distribution", "ExpRelaxedOneHotCategorical",
    "Exponential", "ExponentialWithSoftplusRate", "FULLY_REPARAMETERIZED", "Gamma",
    "GammaWithSoftplusConcentrationRate", "Geometric", "Gumbel", "HalfNormal", "Independent", "InverseGamma",
    "Laplace", "LaplaceWithSoftplusScale", "LogNormal", "Logistic", "Mixture", "MixtureSameFamily", "Multinomial",
    "MultivariateNormalDiag", "MultivariateNormalDiagPlusLowRank", "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance", "MultivariateNormalTriL", "NOT_REPARAMETERIZED", "NegativeBinomial", "Normal",
    "NormalWithSoftplusScale", "OneHotCategorical", "Poisson", "RegisterKL", "RelaxedBernoulli",
    "RelaxedOneHotCategorical", "ReparameterizationType", "StudentT", "StudentTWithAbsDfSoftplusScale",
    "TransformedDistribution", "Uniform", "VectorDeterministic", "bijectors", "fill_triangular",
    "fill_triangular_inverse", "kl_divergence", "percentile", "softplus_inverse",
]
__getattr__ = _publish(__name__)
