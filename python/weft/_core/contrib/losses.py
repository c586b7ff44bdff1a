"""tf.contrib.losses, which slim calls slim.losses: tf.losses with the predictions first."""
from weft._core.nn import losses as _losses


def absolute_difference(predictions, labels=None, weights=1.0, scope=None):
    return _losses.absolute_difference(labels, predictions, weights, scope)


def cosine_distance(predictions, labels=None, axis=None, weights=1.0, scope=None, dim=None):
    return _losses.cosine_distance(labels, predictions, axis, weights, scope, dim=dim)


def hinge_loss(logits, labels=None, scope=None):
    return _losses.hinge_loss(labels, logits, 1.0, scope)


def log_loss(predictions, labels=None, weights=1.0, epsilon=1e-7, scope=None):
    return _losses.log_loss(labels, predictions, weights, epsilon, scope)


def mean_pairwise_squared_error(predictions, labels=None, weights=1.0, scope=None):
    return _losses.mean_pairwise_squared_error(labels, predictions, weights, scope)


def mean_squared_error(predictions, labels=None, weights=1.0, scope=None):
    return _losses.mean_squared_error(labels, predictions, weights, scope)


def sigmoid_cross_entropy(logits, multi_class_labels, weights=1.0, label_smoothing=0, scope=None):
    return _losses.sigmoid_cross_entropy(multi_class_labels, logits, weights, label_smoothing, scope)


def softmax_cross_entropy(logits, onehot_labels, weights=1.0, label_smoothing=0, scope=None):
    return _losses.softmax_cross_entropy(onehot_labels, logits, weights, label_smoothing, scope)


def sparse_softmax_cross_entropy(logits, labels, weights=1.0, scope=None):
    return _losses.sparse_softmax_cross_entropy(labels, logits, weights, scope)
