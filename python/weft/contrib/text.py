"""tf.contrib.text: words and their neighbors."""
from weft._core.contrib.small_models import skip_gram_sample
from weft._core.public import publish as _publish

__all__ = ["skip_gram_sample"]
__getattr__ = _publish(__name__)
