"""tf.keras.datasets.reuters: news and their topics, read from ~/.keras/datasets."""
from weft._core.keras.datasets import reuters as load_data, reuters_label_names as get_label_names, reuters_word_index as get_word_index
from weft._core.public import publish as _publish

__all__ = ["get_label_names", "get_word_index", "load_data"]
__getattr__ = _publish(__name__)
