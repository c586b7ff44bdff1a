"""tf.contrib.feature_column: columns of sequences."""
from weft._core.contrib.sequence_columns import sequence_input_layer
from weft._core.nn.sequence_column import (
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column,
)
from weft._core.public import publish as _publish

__all__ = [
    "sequence_categorical_column_with_hash_bucket", "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file", "sequence_categorical_column_with_vocabulary_list",
    "sequence_input_layer", "sequence_numeric_column",
]
__getattr__ = _publish(__name__)
