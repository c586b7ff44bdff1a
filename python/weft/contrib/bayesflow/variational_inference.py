"""tf.contrib.bayesflow.variational_inference: lower bounds of the evidence."""
from weft._core.contrib.bayesflow.monte_carlo import ELBOForms
from weft._core.contrib.bayesflow.stochastic import elbo, elbo_with_log_joint, register_prior
from weft._core.public import publish as _publish

__all__ = ["ELBOForms", "elbo", "elbo_with_log_joint", "register_prior"]
__getattr__ = _publish(__name__)
