"""tf.contrib.learn.preprocessing: texts as numbers."""
from weft._core.contrib.learn_data import CategoricalVocabulary, VocabularyProcessor, tokenizer
from weft._core.public import publish as _publish

__all__ = ["CategoricalVocabulary", "VocabularyProcessor", "tokenizer"]
__getattr__ = _publish(__name__)
