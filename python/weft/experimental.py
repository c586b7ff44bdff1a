"""tf.experimental: the types of tf.dtypes.experimental, and plug-ins of file systems."""
from weft._core.framework.dtypes import float8_e4m3fn, float8_e5m2, int4, uint4
from weft._core.platform.libraries import register_filesystem_plugin
from weft._core.public import publish as _publish

__all__ = ["float8_e4m3fn", "float8_e5m2", "int4", "register_filesystem_plugin", "uint4"]
__getattr__ = _publish(__name__)
