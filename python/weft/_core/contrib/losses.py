"""tf.contrib.losses, which slim calls slim.losses: the losses that preceded tf.losses.

The predictions come first, a weight applies to all elements along the dimensions that it lacks, and hinge_loss is not
reduced.
"""
from weft._core.contrib.framework import add_arg_scope
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import GraphKeys, get_default_graph, name_scope
from weft._core.nn import nn
from weft._core.ops import array_ops, math_ops


def _float(x):
    return math_ops.cast(convert_to_tensor(x), dtypes.float32)


def _axes(first, tensor):
    return list(range(first, tensor.get_shape().ndims))


def _scaled(losses, weights):
    """Returns the sum of the losses, each multiplied by the weight of its leading dimensions."""
    ndims = weights.get_shape().ndims
    reduced = math_ops.reduce_sum(losses, axis=_axes(max(0, ndims), losses))
    return math_ops.reduce_sum(math_ops.multiply(reduced, weights))


def _safe_div(numerator, denominator, name="value"):
    """Returns the quotient, or zero where the divisor is zero."""
    whole = array_ops.where(math_ops.equal(denominator, 0), array_ops.ones_like(denominator), denominator)
    return array_ops.where(math_ops.greater(denominator, 0), math_ops.div(numerator, whole), array_ops.zeros_like(numerator), name=name)


def _num_present(losses, weights, per_batch=False):
    """Returns the number of losses with a nonzero weight, in total or for each element of the batch."""
    if weights.get_shape().ndims == 0:
        batch = array_ops.reshape(array_ops.slice(array_ops.shape(losses), [0], [1]), [])
        each = math_ops.div(math_ops.cast(array_ops.size(losses), dtypes.float32), math_ops.cast(batch, dtypes.float32))
        each = array_ops.where(math_ops.equal(weights, 0), 0.0, each)
        each = math_ops.multiply(array_ops.ones(array_ops.reshape(batch, [1])), each)
        return each if per_batch else math_ops.reduce_sum(each)
    present = math_ops.cast(math_ops.not_equal(weights, 0), dtypes.float32)
    if weights.get_shape().ndims > 1:
        present = math_ops.reduce_sum(present, axis=_axes(1, weights))
    behind = array_ops.slice(array_ops.shape(losses), [weights.get_shape().ndims], [-1])
    each = math_ops.multiply(present, math_ops.cast(math_ops.reduce_prod(behind), dtypes.float32))
    return each if per_batch else math_ops.reduce_sum(each)


def compute_weighted_loss(losses, weights=1.0, scope=None):
    """Returns the mean of losses over those with a weight other than zero, added to the collection of losses."""
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        input_dtype = losses.dtype
        losses, weights = math_ops.cast(losses, dtypes.float32), _float(weights)
        if losses.get_shape().ndims is None:
            raise ValueError("losses.get_shape().ndims cannot be None")
        ndims = weights.get_shape().ndims
        if ndims is None:
            raise ValueError("weights.get_shape().ndims cannot be None")
        if ndims > 1 and weights.get_shape().as_list()[-1] in (None, 1):
            weights = array_ops.squeeze(weights, [-1])
        mean = math_ops.cast(_safe_div(_scaled(losses, weights), _num_present(losses, weights)), input_dtype)
        add_loss(mean)
        return mean


@add_arg_scope
def add_loss(loss, loss_collection=GraphKeys.LOSSES):
    """Adds a loss to the collection of losses, unless loss_collection is None."""
    if loss_collection:
        get_default_graph().add_to_collection(loss_collection, loss)


def get_losses(scope=None, loss_collection=GraphKeys.LOSSES):
    """Returns the losses that were added, of a scope or all."""
    return get_default_graph().get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    """Returns the losses of regularizers, of a scope or all."""
    return get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_total_loss(add_regularization_losses=True, name="total_loss"):
    """Returns the sum of all losses."""
    return math_ops.add_n(get_losses() + (get_regularization_losses() if add_regularization_losses else []), name=name)


def _pair(predictions, labels):
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return math_ops.cast(predictions, dtypes.float32), math_ops.cast(labels, dtypes.float32)


def _need(predictions, labels):
    if labels is None or predictions is None:
        raise ValueError("predictions and labels must be given")


def absolute_difference(predictions, labels=None, weights=1.0, scope=None):
    """Returns the weighted mean of |predictions - labels|."""
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        _need(predictions, labels)
        predictions, labels = _pair(predictions, labels)
        return compute_weighted_loss(math_ops.abs(math_ops.subtract(predictions, labels)), weights, scope=scope)


def sigmoid_cross_entropy(logits, multi_class_labels, weights=1.0, label_smoothing=0, scope=None):
    """Returns the weighted mean of the cross entropy of independent classes."""
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as scope:
        logits = convert_to_tensor(logits)
        labels = convert_to_tensor(multi_class_labels)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        labels = math_ops.cast(labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


def softmax_cross_entropy(logits, onehot_labels, weights=1.0, label_smoothing=0, scope=None):
    """Returns the weighted mean of the cross entropy of classes of which one is right."""
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as scope:
        logits, labels = convert_to_tensor(logits), convert_to_tensor(onehot_labels)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        labels = math_ops.cast(labels, logits.dtype)
        if label_smoothing > 0:
            classes = math_ops.cast(array_ops.shape(labels)[1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        losses = nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


def sparse_softmax_cross_entropy(logits, labels, weights=1.0, scope=None):
    """Returns the weighted mean of the cross entropy, with the number of the right class as label."""
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        labels = convert_to_tensor(labels)
        labels = array_ops.reshape(labels, shape=[array_ops.shape(labels)[0]])
        losses = nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


def log_loss(predictions, labels=None, weights=1.0, epsilon=1e-7, scope=None):
    """Returns the weighted mean of the cross entropy of probabilities."""
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        _need(predictions, labels)
        predictions, labels = _pair(predictions, labels)
        losses = -math_ops.multiply(labels, math_ops.log(predictions + epsilon)) - math_ops.multiply(
            (1 - labels), math_ops.log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope=scope)


def hinge_loss(logits, labels=None, scope=None):
    """Returns the hinge loss of each element; it is not reduced, and not added to the collection."""
    with name_scope(scope, "hinge_loss", [logits, labels]):
        logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        labels = math_ops.cast(labels, dtypes.float32)
        ones = array_ops.ones_like(labels)
        labels = math_ops.subtract(2 * labels, ones)
        return nn.relu(math_ops.subtract(ones, math_ops.multiply(labels, logits)))


def mean_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """Returns the weighted mean of the squares of the differences."""
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        _need(predictions, labels)
        predictions, labels = _pair(predictions, labels)
        return compute_weighted_loss(math_ops.square(math_ops.subtract(predictions, labels)), weights, scope=scope)


def mean_pairwise_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """Returns the squares of the differences between the pairs of elements of predictions and those of labels."""
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        _need(predictions, labels)
        predictions, labels = _pair(predictions, labels)
        weights = _float(weights)
        differences = math_ops.subtract(predictions, labels)
        if differences.get_shape().ndims is None:
            raise ValueError("diffs.get_shape().ndims cannot be None")
        if weights.get_shape().ndims is None:
            raise ValueError("weights.get_shape().ndims cannot be None")
        axes = _axes(1, differences)
        squares = math_ops.reduce_sum(math_ops.square(differences), axis=axes)
        present = _num_present(differences, weights, per_batch=True)
        first = 2.0 * _safe_div(squares, present)
        total = math_ops.reduce_sum(differences, axis=axes)
        second = 2.0 * _safe_div(math_ops.square(total), math_ops.square(present))
        loss = _scaled(first - second, weights)
        mean = array_ops.where(math_ops.reduce_sum(present) > 0, loss, array_ops.zeros_like(loss), name="value")
        add_loss(mean)
        return mean


def cosine_distance(predictions, labels=None, axis=None, weights=1.0, scope=None, dim=None):
    """Returns the weighted mean of 1 - the products of unit vectors along an axis."""
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'axis' and 'dim'.")
        axis = dim
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        _need(predictions, labels)
        predictions, labels = _pair(predictions, labels)
        losses = 1 - math_ops.reduce_sum(math_ops.multiply(predictions, labels), axis=[axis])
        return compute_weighted_loss(losses, weights, scope=scope)
