"""tf.keras.datasets.imdb: reviews of films, read from ~/.keras/datasets."""
from weft._core.keras.datasets import imdb as load_data, imdb_word_index as get_word_index
from weft._core.public import publish as _publish

__all__ = ["get_word_index", "load_data"]
__getattr__ = _publish(__name__)
