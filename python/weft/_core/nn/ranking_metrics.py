"""tf.metrics of the k highest predictions: precision, recall and average precision at k."""
from weft._core.framework import dtypes
from weft._core.framework.build import constant, convert_to_tensor
from weft._core.framework.conversions import convert_to_tensor_or_sparse_tensor
from weft._core.framework.graph import get_default_graph, name_scope
from weft._core.nn import nn
from weft._core.nn.metric_parts import listed, local
from weft._core.ops import array_ops, math_ops
from weft._core.ops.sparse import SparseTensor, SparseTensorValue, sparse_tensor_to_dense
from weft._core.ops.special_math import divide_no_nan
from weft._core.ops.variable_scope import variable_scope

_COMMON = """
      weights: a weight for each example, or None.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: a name for the variable scope.
    """


def _named(name, k, class_id=None):
    made = "%s_at_%s" % (name, "k" if k is None else "%d" % k)
    return made if class_id is None else "%s_class%d" % (made, class_id)


# What follows the end of a sparse row.  A program's own -1 is a label, which no prediction has.
_NO_LABEL = -2**63


def _label_sets(labels, examples):
    """Returns the labels of each example as a row, [..., num_labels] of int64, with _NO_LABEL after the end of a sparse row.
    """
    labels = convert_to_tensor_or_sparse_tensor(labels)
    if isinstance(labels, SparseTensor):
        return sparse_tensor_to_dense(SparseTensor(labels.indices, math_ops.cast(labels.values, dtypes.int64), labels.dense_shape),
                                      constant(_NO_LABEL, dtypes.int64))
    labels = math_ops.cast(labels, dtypes.int64)
    if labels.shape.ndims is not None and labels.shape.ndims == examples:
        labels = array_ops.expand_dims(labels, -1)
    return labels


def _among(values, others):
    """Returns for each value of [..., n] whether it is in the row of `others` [..., m]; a negative one never is."""
    same = math_ops.equal(array_ops.expand_dims(values, -1), array_ops.expand_dims(others, -2))
    return math_ops.logical_and(math_ops.reduce_any(same, -1), math_ops.greater_equal(values, 0))


def _counted(labels, given, classes):
    """Returns which labels are relevant: those of a class if `given` is dense, and if it is sparse each class once, and once what is no
    class.
    """
    is_class = math_ops.logical_and(math_ops.greater_equal(labels, 0), math_ops.less(labels, classes))
    if not isinstance(given, (SparseTensor, SparseTensorValue)):
        return is_class
    real = _of_class(labels, None)
    cleaned = array_ops.where(math_ops.logical_or(is_class, math_ops.logical_not(real)), labels, -array_ops.ones_like(labels))
    return math_ops.logical_and(real, math_ops.logical_not(_repeated(cleaned)))


def _of_class(values, class_id):
    """Returns a mask of the values that count: all except _NO_LABEL, or those of one class."""
    real = math_ops.not_equal(values, constant(_NO_LABEL, dtypes.int64))
    return real if class_id is None else math_ops.logical_and(real, math_ops.equal(values, class_id))


def _weighted(counts, weights):
    counts = math_ops.cast(counts, dtypes.float64)
    if weights is None:
        return math_ops.reduce_sum(counts)
    weights = math_ops.cast(convert_to_tensor(weights), dtypes.float64)
    if weights.shape.ndims is not None and counts.shape.ndims is not None and weights.shape.ndims == counts.shape.ndims + 1:
        weights = array_ops.squeeze(weights, [-1])
    return math_ops.reduce_sum(counts * weights)


def _counter(name, k, class_id, amount):
    variable = local(_named(name, k, class_id), [], dtypes.float64)
    return variable, variable.assign_add(amount)


def _unique_hits(labels, top, class_id):
    """Returns how many distinct labels of each example are among its top predictions, and how many are not."""
    first = math_ops.logical_not(_repeated(labels))
    counted = math_ops.logical_and(_of_class(labels, class_id), first)
    hit = _among(labels, top)
    hits = math_ops.reduce_sum(math_ops.cast(math_ops.logical_and(counted, hit), dtypes.float64), -1)
    misses = math_ops.reduce_sum(math_ops.cast(math_ops.logical_and(counted, math_ops.logical_not(hit)), dtypes.float64), -1)
    return hits, misses


def _repeated(labels):
    """Returns which labels of a row occur earlier in the same row."""
    same = math_ops.equal(array_ops.expand_dims(labels, -1), array_ops.expand_dims(labels, -2))
    n = array_ops.shape(labels)[-1]
    ones = array_ops.ones([n, n])
    before = math_ops.cast(math_ops.matrix_band_part(ones, -1, 0) - math_ops.matrix_band_part(ones, 0, 0), dtypes.bool)
    return math_ops.reduce_any(math_ops.logical_and(same, before), -1)


def _ratio(kind, labels, top, k, class_id, weights, metrics_collections, updates_collections):
    """Returns the value and update of precision (kind false_positive) or recall (kind false_negative)."""
    top = math_ops.cast(top, dtypes.int64)
    labels = _label_sets(labels, top.shape.ndims - 1)
    hits, misses = _unique_hits(labels, top, class_id)
    if kind == "false_positive":
        wrong = math_ops.logical_and(_of_class(top, class_id), math_ops.logical_not(_among(top, labels)))
        misses = math_ops.reduce_sum(math_ops.cast(wrong, dtypes.float64), -1)
    tp, tp_update = _counter("true_positive", k, class_id, _weighted(hits, weights))
    other, other_update = _counter(kind, k, class_id, _weighted(misses, weights))
    value = math_ops.div(tp.value(), math_ops.add(tp.value(), other.value()), name=get_default_graph().get_name_scope() + "/")
    update = math_ops.div(tp_update, math_ops.add(tp_update, other_update), name="update")
    return listed(value, update, metrics_collections, updates_collections)


def recall_at_top_k(labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None, updates_collections=None,
                    name=None):
    """Returns the share of labels that are among the given top predictions, over all batches so far.

    Args:
      labels: the classes of each example: a tensor [..., num_labels], or a SparseTensor.
      predictions_idx: the classes with the highest predictions, [..., k].
      k: the number of predictions, for names.
      class_id: the one class to look at, or None for all.
    """
    with variable_scope(name, _named("recall", k, class_id), (predictions_idx, labels, weights)):
        return _ratio("false_negative", labels, predictions_idx, k, class_id, weights, metrics_collections, updates_collections)


def recall_at_k(labels, predictions, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns the share of labels that are among the k highest predictions, over all batches so far.

    Args:
      labels: the classes of each example: a tensor [..., num_labels], or a SparseTensor.
      predictions: a score for each class, [..., num_classes].
      k: how many predictions to look at.
      class_id: the one class to look at, or None for all.
    """
    with variable_scope(name, _named("recall", k, class_id), (predictions, labels, weights)):
        top = nn.top_k(predictions, k)[1]
        return _ratio("false_negative", labels, top, k, class_id, weights, metrics_collections, updates_collections)


def precision_at_top_k(labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None, updates_collections=None,
                       name=None):
    """Returns the share of the given top predictions that are labels, over all batches so far.

    Args:
      labels: the classes of each example: a tensor [..., num_labels], or a SparseTensor.
      predictions_idx: the classes with the highest predictions, [..., k].
      k: the number of predictions, for names.
      class_id: the one class to look at, or None for all.
    """
    with variable_scope(name, _named("precision", k, class_id), (predictions_idx, labels, weights)):
        return _ratio("false_positive", labels, predictions_idx, k, class_id, weights, metrics_collections, updates_collections)


def precision_at_k(labels, predictions, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns the share of the k highest predictions that are labels, over all batches so far.

    Args:
      labels: the classes of each example: a tensor [..., num_labels], or a SparseTensor.
      predictions: a score for each class, [..., num_classes].
      k: how many predictions to look at.
      class_id: the one class to look at, or None for all.
    """
    with variable_scope(name, _named("precision", k, class_id), (predictions, labels, weights)):
        top = nn.top_k(predictions, k)[1]
        return _ratio("false_positive", labels, top, k, class_id, weights, metrics_collections, updates_collections)


sparse_precision_at_k = precision_at_k


def average_precision_at_k(labels, predictions, k, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns the mean over examples of the average precision at k, over all batches so far.

    Args:
      labels: the classes of each example: a tensor [..., num_labels], or a SparseTensor.
      predictions: a score for each class, [..., num_classes].
      k: how many predictions to look at.
    """
    if k < 1:
        raise ValueError("Invalid k=%s." % k)
    with name_scope(name, _named("average_precision", k), (predictions, labels, weights)) as scope:
        top = math_ops.cast(nn.top_k(predictions, k)[1], dtypes.int64)
        labels, given = _label_sets(labels, top.shape.ndims - 1), labels
        relevant = math_ops.cast(_among(top, labels), dtypes.float64)
        ranks = math_ops.cast(math_ops.range(1, k + 1), dtypes.float64)
        precision = math_ops.cumsum(relevant, -1) / ranks
        real = math_ops.cast(_counted(labels, given, array_ops.shape(predictions, out_type=dtypes.int64)[-1]), dtypes.float64)
        most = math_ops.minimum(math_ops.reduce_sum(real, -1), float(k))
        average = divide_no_nan(math_ops.reduce_sum(precision * relevant, -1), most)
        if weights is not None:
            weights = math_ops.cast(convert_to_tensor(weights), dtypes.float64)
            average = average * weights
            number = math_ops.reduce_sum(weights * array_ops.ones_like(average))
        else:
            number = math_ops.cast(array_ops.size(average), dtypes.float64)
        count, new_count = _accumulated("max_1", number)
        total, new_total = _accumulated("total", math_ops.reduce_sum(average))
        value = divide_no_nan(total.value(), count.value(), name="mean")
        update = divide_no_nan(new_total, new_count, name=scope)
        return listed(value, update, metrics_collections, updates_collections)


sparse_average_precision_at_k = average_precision_at_k


def _accumulated(name, amount):
    variable = local(name, [], dtypes.float64)
    return variable, variable.assign_add(amount)


for _public in (recall_at_top_k, recall_at_k, precision_at_top_k, precision_at_k, average_precision_at_k):
    _public.__doc__ += _COMMON
