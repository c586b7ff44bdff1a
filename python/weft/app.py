"""tf.app: runs the program's main with its flags read."""
from weft import flags
from weft._core.platform.app import run
from weft._core.public import publish as _publish

__all__ = ["flags", "run"]
__getattr__ = _publish(__name__)
