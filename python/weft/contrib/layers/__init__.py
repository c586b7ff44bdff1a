"""tf.contrib.layers: regularizers, initializers and layers."""
from weft._core.contrib.layers import (
    apply_regularization,
    avg_pool2d,
    batch_norm,
    conv2d,
    conv2d_transpose,
    convolution,
    convolution2d,
    crossed_column,
    dropout,
    embedding_column,
    flatten,
    fully_connected,
    l1_l2_regularizer,
    l1_regularizer,
    l2_regularizer,
    linear,
    max_pool2d,
    one_hot_column,
    one_hot_encoding,
    optimize_loss,
    real_valued_column,
    relu,
    relu6,
    separable_conv2d,
    separable_convolution2d,
    softmax,
    sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature,
    sparse_column_with_keys,
    sum_regularizer,
    variance_scaling_initializer,
    xavier_initializer,
    xavier_initializer_conv2d,
)
from weft._core.nn.feature_column import bucketized_column
from weft._core.public import publish as _publish
from weft.contrib.layers import initializers, regularizers, utils

__all__ = [
    "apply_regularization", "avg_pool2d", "batch_norm", "bucketized_column", "conv2d", "conv2d_transpose",
    "convolution", "convolution2d", "crossed_column", "dropout", "embedding_column", "flatten", "fully_connected",
    "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "linear", "initializers", "max_pool2d", "one_hot_column",
    "one_hot_encoding", "optimize_loss", "real_valued_column", "relu", "relu6", "separable_conv2d",
    "separable_convolution2d", "softmax", "sparse_column_with_hash_bucket", "sparse_column_with_integerized_feature",
    "sparse_column_with_keys", "regularizers", "sum_regularizer", "utils", "variance_scaling_initializer", "xavier_initializer",
    "xavier_initializer_conv2d",
]
__getattr__ = _publish(__name__)
