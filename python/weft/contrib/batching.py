"""tf.contrib.batching: rows of concurrent runs in one batch."""
from weft._core.contrib.batching import batch_function, batch_function_v1
from weft._core.public import publish as _publish

__all__ = ["batch_function", "batch_function_v1"]
__getattr__ = _publish(__name__)
