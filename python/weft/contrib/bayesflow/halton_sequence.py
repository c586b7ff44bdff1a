"""tf.contrib.bayesflow.halton_sequence: points that fill the unit cube evenly."""
from weft._core.contrib.bayesflow.hmc import sample
from weft._core.public import publish as _publish

__all__ = ["sample"]
__getattr__ = _publish(__name__)
