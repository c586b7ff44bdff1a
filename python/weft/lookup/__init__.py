"""tf.lookup: tables of keys and values."""
from weft._core.ops.lookup import KeyValueTensorInitializer, StaticHashTable, StaticVocabularyTable, TextFileIndex, TextFileInitializer
from weft._core.public import publish as _publish
from weft.lookup import experimental

__all__ = [
    "KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex", "TextFileInitializer",
    "experimental",
]
__getattr__ = _publish(__name__)
