"""tf.contrib.bayesflow.hmc: Hamiltonian Monte Carlo."""
from weft._core.contrib.bayesflow.hmc import chain, kernel, leapfrog_integrator, leapfrog_step, sample_chain
from weft._core.public import publish as _publish

__all__ = ["chain", "kernel", "leapfrog_integrator", "leapfrog_step", "sample_chain"]
__getattr__ = _publish(__name__)
