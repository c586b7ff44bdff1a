"""tf.saved_model.tag_constants: tags of graphs."""
from weft._core.files.saved_model import EVAL, GPU, SERVING, TPU, TRAINING
from weft._core.public import publish as _publish

__all__ = ["EVAL", "GPU", "SERVING", "TPU", "TRAINING"]
__getattr__ = _publish(__name__)
