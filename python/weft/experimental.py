"""tf.experimental: the types of tf.dtypes.experimental, plug-ins of file systems, and settings of eager mode."""
from weft._core.data.optional import Optional
from weft._core.framework.dtypes import float8_e4m3fn, float8_e5m2, int4, uint4
from weft._core.framework.eager_settings import async_scope, function_executor_type, output_all_intermediates
from weft._core.platform.libraries import register_filesystem_plugin
from weft._core.public import publish as _publish

__all__ = [
    "Optional", "async_scope", "float8_e4m3fn", "float8_e5m2", "function_executor_type", "int4", "output_all_intermediates",
    "register_filesystem_plugin", "uint4",
]
__getattr__ = _publish(__name__)
