"""tf.sysconfig: where the headers and the library are."""
from weft._core.platform.sysconfig import (
    CXX11_ABI_FLAG,
    CXX_VERSION,
    MONOLITHIC_BUILD,
    get_build_info,
    get_compile_flags,
    get_include,
    get_lib,
    get_link_flags,
)
from weft._core.public import publish as _publish

__all__ = [
    "CXX11_ABI_FLAG", "CXX_VERSION", "MONOLITHIC_BUILD", "get_build_info", "get_compile_flags", "get_include", "get_lib",
    "get_link_flags",
]
__getattr__ = _publish(__name__)
