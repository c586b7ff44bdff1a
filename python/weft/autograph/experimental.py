"""tf.autograph.experimental: functions that are not converted, and options of loops."""
from weft._core.autograph.api import Feature, do_not_convert, set_loop_options
from weft._core.public import publish as _publish

__all__ = ["Feature", "do_not_convert", "set_loop_options"]
__getattr__ = _publish(__name__)
