"""tf.contrib.signal: tf.signal under its older name."""
from weft import signal as _signal
from weft._core.public import publish as _publish

__all__ = list(_signal.__all__)
globals().update({_name: getattr(_signal, _name) for _name in __all__})
__getattr__ = _publish(__name__)
