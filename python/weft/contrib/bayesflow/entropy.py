"""tf.contrib.bayesflow.entropy: entropies and bounds as means over samples."""
from weft._core.contrib.bayesflow.monte_carlo import ELBOForms, elbo_ratio, entropy_shannon, renyi_ratio
from weft._core.public import publish as _publish

__all__ = ["ELBOForms", "elbo_ratio", "entropy_shannon", "renyi_ratio"]
__getattr__ = _publish(__name__)
