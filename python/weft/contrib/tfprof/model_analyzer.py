"""tf.contrib.tfprof.model_analyzer: tf.profiler.profile under its older name."""
from weft._core.platform.profiler import FLOAT_OPS_OPTIONS, TRAINABLE_VARS_PARAMS_STAT_OPTIONS, print_model_analysis
from weft._core.public import publish as _publish

__all__ = ["FLOAT_OPS_OPTIONS", "TRAINABLE_VARS_PARAMS_STAT_OPTIONS", "print_model_analysis"]
__getattr__ = _publish(__name__)
