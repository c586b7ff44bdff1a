"""tf.contrib.bayesflow.metropolis_hastings: the Metropolis-Hastings algorithm."""
from weft._core.contrib.bayesflow.hmc import evolve, normal_random_proposal, uniform_random_proposal
from weft._core.public import publish as _publish

__all__ = ["evolve", "normal_random_proposal", "uniform_random_proposal"]
__getattr__ = _publish(__name__)
