"""tf.strings: tensors of text."""
from weft._core.ops.io_ops import as_string, reduce_join, regex_replace, substr
from weft._core.public import publish as _publish

__all__ = ["as_string", "reduce_join", "regex_replace", "substr"]
__getattr__ = _publish(__name__)
