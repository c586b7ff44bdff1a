"""tf.autograph.experimental: functions that are not converted, which in Weft are all."""
from weft._core.framework.autograph import Feature, do_not_convert, set_loop_options
from weft._core.public import publish as _publish

__all__ = ["Feature", "do_not_convert", "set_loop_options"]
__getattr__ = _publish(__name__)
