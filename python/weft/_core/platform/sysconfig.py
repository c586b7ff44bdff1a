"""tf.sysconfig: returns where the headers and the library are, and the flags for compiling with them."""
import os

from weft import _weft
from weft._core import PACKAGE
from weft._core.framework.versions import CXX11_ABI_FLAG, CXX_VERSION, MONOLITHIC_BUILD  # noqa: F401 - tf.sysconfig shows them


def _first(found, default):
    """Returns the first folder above the package in which `found` is true; it may be installed, in a wheel, or in a
    build folder.
    """
    folder = PACKAGE.rstrip(os.sep)
    while True:
        for part in ("", "include", "lib"):
            if found(os.path.join(folder, part)):
                return os.path.join(folder, part)
        if os.path.dirname(folder) == folder:
            return default
        folder = os.path.dirname(folder)


def get_include():
    return _first(lambda d: os.path.exists(os.path.join(d, "weft", "weft.h")), os.path.join(PACKAGE, "include"))


def get_lib():
    """Returns the folder of libweft."""
    return _first(lambda d: os.path.isdir(d) and any(f.startswith("libweft.so") for f in os.listdir(d)), PACKAGE.rstrip(os.sep))


def get_compile_flags():
    return ["-I" + get_include()]


def get_link_flags():
    return ["-L" + get_lib(), "-lweft"]


def get_build_info():
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False, "weft_version": _weft.version()}
