"""tf.contrib.resampler: samples at places of an image."""
from weft._core.contrib.image.warps import resampler
from weft._core.public import publish as _publish

__all__ = ["resampler"]
__getattr__ = _publish(__name__)
