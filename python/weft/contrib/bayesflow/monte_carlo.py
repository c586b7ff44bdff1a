"""tf.contrib.bayesflow.monte_carlo: expectations as means over samples."""
from weft._core.contrib.bayesflow.monte_carlo import expectation, expectation_importance_sampler, expectation_importance_sampler_logspace
from weft._core.public import publish as _publish

__all__ = ["expectation", "expectation_importance_sampler", "expectation_importance_sampler_logspace"]
__getattr__ = _publish(__name__)
