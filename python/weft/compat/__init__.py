"""tf.compat: text and bytes, and the interfaces v1 and v2."""
import weft as v1
from weft._core.platform.compat import (
    as_bytes,
    as_str,
    as_str_any,
    as_text,
    bytes_or_text_types,
    complex_types,
    dimension_value,
    forward_compatibility_horizon,
    forward_compatible,
    integral_types,
    path_to_str,
    real_types,
)
from weft._core.public import publish as _publish

__all__ = [
    "as_bytes", "as_str", "as_str_any", "as_text", "bytes_or_text_types", "complex_types", "dimension_value",
    "forward_compatibility_horizon", "forward_compatible", "integral_types", "path_to_str", "real_types", "v1",
    "v2",
]
__getattr__ = _publish(__name__, ("v2",))
