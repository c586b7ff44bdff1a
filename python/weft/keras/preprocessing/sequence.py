"""tf.keras.preprocessing.sequence: sequences of equal length."""
from weft._core.keras.sequence_text import TimeseriesGenerator, make_sampling_table, pad_sequences, skipgrams
from weft._core.public import publish as _publish

__all__ = ["TimeseriesGenerator", "make_sampling_table", "pad_sequences", "skipgrams"]
__getattr__ = _publish(__name__)
