"""tf.user_ops: Ops that show how to add one."""
from weft._core.ops.user_ops import my_fact
from weft._core.public import publish as _publish

__all__ = ["my_fact"]
__getattr__ = _publish(__name__)
