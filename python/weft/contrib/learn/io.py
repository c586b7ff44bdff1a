"""tf.contrib.learn.io: batches of arrays and of records."""
from weft._core.contrib.learn_data import (
    numpy_input_fn,
    pandas_input_fn,
    read_batch_examples,
    read_batch_features,
    read_batch_record_features,
)
from weft._core.public import publish as _publish

__all__ = [
    "numpy_input_fn", "pandas_input_fn", "read_batch_examples", "read_batch_features", "read_batch_record_features",
]
__getattr__ = _publish(__name__)
