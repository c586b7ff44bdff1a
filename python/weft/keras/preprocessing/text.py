"""tf.keras.preprocessing.text: words as numbers."""
from weft._core.keras.text import Tokenizer, hashing_trick, one_hot, text_to_word_sequence, tokenizer_from_json
from weft._core.public import publish as _publish

__all__ = ["Tokenizer", "hashing_trick", "one_hot", "text_to_word_sequence", "tokenizer_from_json"]
__getattr__ = _publish(__name__)
