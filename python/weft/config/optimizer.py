"""tf.config.optimizer: the compiler of graphs."""
from weft._core.public import publish as _publish
from weft._core.session.device_config import get_experimental_options, get_jit, set_experimental_options, set_jit

__all__ = ["get_experimental_options", "get_jit", "set_experimental_options", "set_jit"]
__getattr__ = _publish(__name__)
