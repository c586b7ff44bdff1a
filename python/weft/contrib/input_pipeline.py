"""tf.contrib.input_pipeline: the strings of a list in turn."""
from weft._core.contrib.input_pipeline import obtain_next, seek_next
from weft._core.public import publish as _publish

__all__ = ["obtain_next", "seek_next"]
__getattr__ = _publish(__name__)
