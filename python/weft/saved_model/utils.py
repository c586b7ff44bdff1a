"""tf.saved_model.utils: tensors in signatures."""
from weft._core.files.saved_model import build_tensor_info, get_tensor_from_tensor_info
from weft._core.public import publish as _publish

__all__ = ["build_tensor_info", "get_tensor_from_tensor_info"]
__getattr__ = _publish(__name__)
