"""tf.metrics that are means: of tensors, relative errors, cosine distances, and of classes in a confusion matrix."""
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import control_dependencies
from weft._core.nn.metric_parts import alike, broadcast_weights, listed, local, running_mean, without_last
from weft._core.ops import array_ops, math_ops, variables
from weft._core.ops.special_math import divide_no_nan
from weft._core.ops.variable_scope import variable_scope


def mean_tensor(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns the mean of each element over all batches so far.

    Args:
      values: a tensor of floating-point numbers.
      weights: a weight for each element, or None.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: a name for the variable scope.
    """
    with variable_scope(name, "mean", [values, weights]):
        values = math_ops.cast(convert_to_tensor(values), dtypes.float32)
        total, count = local("total_tensor", values.shape), local("count_tensor", values.shape)
        number = array_ops.ones_like(values)
        if weights is not None:
            weights = broadcast_weights(weights, values)
            values, number = values * weights, number * weights
        new_total = total.assign_add(values)
        with control_dependencies([values]):
            new_count = count.assign_add(number)
        # An element without weight has the value 0.
        value = divide_no_nan(total.value(), count.value(), name="value")
        return listed(value, divide_no_nan(new_total, new_count, name="update_op"), metrics_collections, updates_collections)


def percentage_below(values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns the share of values below a threshold, over all batches so far.

    Args:
      values: a tensor of numbers.
      threshold: the threshold.
      weights: a weight for each value, or None.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: a name for the variable scope.
    """
    below = math_ops.cast(math_ops.less(values, threshold), dtypes.float32)
    return listed(*running_mean(below, weights, "percentage_below_threshold", name), metrics_collections, updates_collections)


def mean_relative_error(labels, predictions, normalizer, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns the mean of |labels - predictions| / normalizer, over all batches so far.

    Args:
      labels: the true values.
      predictions: the predicted values.
      normalizer: what each error is divided by; where it is 0 the error counts as 0.
      weights: a weight for each value, or None.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: a name for the variable scope.
    """
    labels, predictions = alike(labels, predictions)
    normalizer = without_last(convert_to_tensor(normalizer), predictions)
    error = math_ops.abs(labels - predictions)
    relative = array_ops.where(math_ops.equal(normalizer, 0.0), array_ops.zeros_like(labels), math_ops.truediv(error, normalizer))
    return listed(*running_mean(relative, weights, "mean_relative_error", name), metrics_collections, updates_collections)


def mean_cosine_distance(labels, predictions, dim, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns one minus the mean of the products of labels and predictions along a dimension, over all batches so far.

    Args:
      labels: the true values, of unit length along `dim`.
      predictions: the predicted values, likewise.
      dim: the dimension to sum along.
      weights: a weight for each distance, or None.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: a name for the variable scope.
    """
    product = math_ops.multiply(predictions, labels)
    product = math_ops.reduce_sum(product, [dim], keepdims=True)
    value, update = running_mean(product, weights, "mean_cosine_distance", name)
    return listed(math_ops.subtract(1.0, value), math_ops.subtract(1.0, update), metrics_collections, updates_collections)


def _matrix(labels, predictions, num_classes, weights):
    """Returns the confusion matrix over all batches, in a float64 variable, and its update."""
    predictions, labels = (math_ops.cast(convert_to_tensor(x), dtypes.int64) for x in (predictions, labels))
    predictions.shape.assert_is_compatible_with(labels.shape)
    matrix = local("total_confusion_matrix", [num_classes, num_classes], dtypes.float64)
    flat = [array_ops.reshape(x, [-1]) if x.shape.ndims != 1 else x for x in (labels, predictions)]
    if weights is not None and convert_to_tensor(weights).shape.ndims != 1:
        weights = array_ops.reshape(weights, [-1])
    now = math_ops.confusion_matrix(*flat, num_classes, weights=weights, dtype=dtypes.float64)
    return matrix, variables.assign_add(matrix, now)


def mean_iou(labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns the mean over classes of intersection over union, over all batches so far.

    The update returns the confusion matrix.

    Args:
      labels: the true classes.
      predictions: the predicted classes.
      num_classes: the number of classes.
      weights: a weight for each prediction, or None.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: a name for the variable scope.
    """
    with variable_scope(name, "mean_iou", [predictions, labels, weights]):
        matrix, update = _matrix(labels, predictions, num_classes, weights)
        total = matrix.value()
        rows, columns = (math_ops.cast(math_ops.reduce_sum(total, axis), dtypes.float32) for axis in (0, 1))
        hits = math_ops.cast(math_ops.diag_part(total), dtypes.float32)
        union = rows + columns - hits
        valid = math_ops.reduce_sum(math_ops.cast(math_ops.not_equal(union, 0), dtypes.float32))
        union = array_ops.where(math_ops.greater(union, 0), union, array_ops.ones_like(union))
        total_iou = math_ops.reduce_sum(math_ops.div(hits, union), name="mean_iou")
        value = array_ops.where(math_ops.greater(valid, 0), math_ops.div(total_iou, valid), 0.0 * total_iou)
        return listed(value, update, metrics_collections, updates_collections)


def mean_per_class_accuracy(labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns the accuracy of each class, averaged over the classes, over all batches so far.

    The update returns each class's.

    Args:
      labels: the true classes.
      predictions: the predicted classes.
      num_classes: the number of classes.
      weights: a weight for each prediction, or None.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: a name for the variable scope.
    """
    with variable_scope(name, "mean_accuracy", [predictions, labels, weights]):
        labels = math_ops.cast(convert_to_tensor(labels), dtypes.int64)
        predictions = math_ops.cast(convert_to_tensor(predictions), dtypes.int64)
        labels, predictions = (x if x.shape.ndims == 1 else array_ops.reshape(x, [-1]) for x in (labels, predictions))
        total, count = local("total", [num_classes]), local("count", [num_classes])
        number = array_ops.ones([array_ops.size(labels)], dtypes.float32)
        correct = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = array_ops.reshape(math_ops.cast(convert_to_tensor(weights), dtypes.float32), [-1])
            correct, number = correct * weights, number * weights
        new_count = variables.scatter_add(count, labels, number)
        new_total = variables.scatter_add(total, labels, correct)
        value = divide_no_nan(total.value(), count.value())
        value = math_ops.reduce_mean(value, name="mean_accuracy")
        return listed(value, divide_no_nan(new_total, new_count, name="update_op"), metrics_collections, updates_collections)
