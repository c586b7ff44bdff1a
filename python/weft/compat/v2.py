"""tf.compat.v2: the part of TensorFlow 2's interface that programs with graphs use.

Its modules (tf.compat.v2.math and so on) are made from the tables in _core/compat_v2.
"""
from weft._core.compat_v2.modules import install as _install, names as _names, publish as _publish

__all__, __path__ = _names(""), []
_install()
__getattr__ = _publish(__name__)


def __dir__():
    return list(__all__)
