"""tf.contrib.integrate: ordinary differential equations."""
from weft._core.contrib.odes import odeint, odeint_fixed
from weft._core.public import publish as _publish

__all__ = ["odeint", "odeint_fixed"]
__getattr__ = _publish(__name__)
