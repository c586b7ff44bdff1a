"""tf.contrib.tfprof: tf.profiler under its older name."""
from weft._core.platform.profiler import ProfileOptionBuilder, Profiler, profile
from weft._core.public import publish as _publish
from weft.contrib.tfprof import model_analyzer

__all__ = ["ProfileOptionBuilder", "Profiler", "model_analyzer", "profile"]
__getattr__ = _publish(__name__)
