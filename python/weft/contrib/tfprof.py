"""tf.contrib.tfprof: tf.profiler under its older name."""
from weft._core.platform.profiler import ProfileOptionBuilder, Profiler, profile
from weft._core.public import publish as _publish

__all__ = ["ProfileOptionBuilder", "Profiler", "profile"]
__getattr__ = _publish(__name__)
