"""tf.saved_model.main_op: the op that runs when a model is loaded."""
from weft._core.files.saved_model import main_op, main_op_with_restore
from weft._core.public import publish as _publish

__all__ = ["main_op", "main_op_with_restore"]
__getattr__ = _publish(__name__)
