"""tf.distributions: random variables with densities, samples and divergences."""
from weft._core.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, ReparameterizationType
from weft._core.distributions.kullback_leibler import RegisterKL, kl_divergence
from weft._core.distributions.scalars import Bernoulli, Beta, Exponential, Gamma, Laplace, Normal, StudentT, Uniform
from weft._core.distributions.vectors import Categorical, Dirichlet, DirichletMultinomial, Multinomial
from weft._core.public import publish as _publish

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Dirichlet", "DirichletMultinomial", "Distribution", "Exponential",
    "FULLY_REPARAMETERIZED", "Gamma", "Laplace", "Multinomial", "NOT_REPARAMETERIZED", "Normal", "RegisterKL",
    "ReparameterizationType", "StudentT", "Uniform", "kl_divergence",
]
__getattr__ = _publish(__name__)
