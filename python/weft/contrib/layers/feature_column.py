"""tf.contrib.layers.feature_column: the columns of tf.contrib.layers."""
from weft._core.contrib.embeddings import (
    create_feature_spec_for_parsing,
    scattered_embedding_column,
    sparse_column_with_vocabulary_file,
    weighted_sparse_column,
)
from weft._core.contrib.layers import (
    crossed_column,
    embedding_column,
    one_hot_column,
    real_valued_column,
    sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature,
    sparse_column_with_keys,
)
from weft._core.nn.feature_column import bucketized_column
from weft._core.public import publish as _publish

__all__ = [
    "bucketized_column", "create_feature_spec_for_parsing", "crossed_column", "embedding_column", "one_hot_column",
    "real_valued_column", "scattered_embedding_column", "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature", "sparse_column_with_keys", "sparse_column_with_vocabulary_file",
    "weighted_sparse_column",
]
__getattr__ = _publish(__name__)
