"""tf.contrib.bayesflow: Monte Carlo methods and graphs with samples."""
from weft._core.public import publish as _publish
from weft.contrib.bayesflow import (
    entropy,
    halton_sequence,
    hmc,
    metropolis_hastings,
    monte_carlo,
    stochastic_gradient_estimators,
    stochastic_graph,
    stochastic_tensor,
    variational_inference,
)

__all__ = [
    "entropy", "halton_sequence", "hmc", "metropolis_hastings", "monte_carlo", "stochastic_gradient_estimators",
    "stochastic_graph", "stochastic_tensor", "variational_inference",
]
__getattr__ = _publish(__name__)
