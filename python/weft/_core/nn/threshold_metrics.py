"""tf.metrics of probabilities at thresholds: counts, precision and recall at each, and the best value under a bound."""
from weft._core.framework import dtypes
from weft._core.framework.build import constant
from weft._core.nn.metric_parts import alike, broadcast_weights, listed, local, probabilities
from weft._core.ops import array_ops, math_ops
from weft._core.ops.variable_scope import variable_scope

_SMALL = 1e-7


def confusion(labels, predictions, thresholds, weights, kinds):
    """Returns {kind: (variable, update)} of weighted counts at each threshold. kinds are some of tp, fn, tn, fp."""
    predictions, labels = probabilities(predictions, labels)
    labels, predictions = alike(labels, predictions)
    n = len(thresholds)
    column, row = array_ops.reshape(predictions, [-1, 1]), array_ops.reshape(labels, [1, -1])
    bounds = array_ops.expand_dims(constant(list(thresholds), dtypes.float32), [1])
    size = column.shape.as_list()[0]
    bounds = array_ops.tile(bounds, array_ops.stack([1, array_ops.shape(column)[0] if size is None else size]))
    positive = math_ops.greater(array_ops.tile(array_ops.transpose(column), [n, 1]), bounds)
    negative = math_ops.logical_not(positive) if {"fn", "tn"} & set(kinds) else None
    true = array_ops.tile(row, [n, 1])
    false = math_ops.logical_not(true) if {"fp", "tn"} & set(kinds) else None
    if weights is not None:
        weights = array_ops.tile(array_ops.reshape(broadcast_weights(weights, predictions), [1, -1]), [n, 1])
    names = {"tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives", "fp": "false_positives"}
    pairs = {"tp": (true, positive), "fn": (true, negative), "tn": (false, negative), "fp": (false, positive)}
    made = {}
    for kind in [k for k in names if k in kinds]:
        count = local(names[kind], [n])
        hits = math_ops.cast(math_ops.logical_and(*pairs[kind]), dtypes.float32)
        made[kind] = count, count.assign_add(math_ops.reduce_sum(hits if weights is None else hits * weights, 1))
    return made


def _count(public, kind, scope):
    def metric(labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with variable_scope(name, scope, [predictions, labels, weights]):
            count, update = confusion(labels, predictions, thresholds, weights, [kind])[kind]
            return listed(array_ops.identity(count), update, metrics_collections, updates_collections)
    metric.__name__ = metric.__qualname__ = public
    metric.__module__ = __name__
    metric.__doc__ = """How many %s there are at each threshold, over all batches so far.

    Args:
      labels: the true answers, as booleans or numbers.
      predictions: probabilities, of the shape of `labels`.
      thresholds: a list of thresholds; a prediction above one is positive.
      weights: a weight for each prediction, or None.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: a name for the variable scope.
    """ % scope.replace("_", " ")
    return metric


true_positives_at_thresholds = _count("true_positives_at_thresholds", "tp", "true_positives")
false_positives_at_thresholds = _count("false_positives_at_thresholds", "fp", "false_positives")
true_negatives_at_thresholds = _count("true_negatives_at_thresholds", "tn", "true_negatives")
false_negatives_at_thresholds = _count("false_negatives_at_thresholds", "fn", "false_negatives")


def _rate(public, other, short):
    def metric(labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with variable_scope(name, public, [predictions, labels, weights]):
            counts = confusion(labels, predictions, thresholds, weights, ["tp", other])

            def rate(tp, wrong, name):
                return math_ops.truediv(tp, _SMALL + tp + wrong, name=short + "_" + name)
            value = rate(counts["tp"][0].value(), counts[other][0].value(), "value")
            update = rate(counts["tp"][1], counts[other][1], "update_op")
            return listed(value, update, metrics_collections, updates_collections)
    metric.__name__ = metric.__qualname__ = public
    metric.__module__ = __name__
    metric.__doc__ = """The %s at each threshold, over all batches so far.

    Args:
      labels: the true answers, as booleans or numbers.
      predictions: probabilities, of the shape of `labels`.
      thresholds: a list of thresholds; a prediction above one is positive.
      weights: a weight for each prediction, or None.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: a name for the variable scope.
    """ % short
    return metric


precision_at_thresholds = _rate("precision_at_thresholds", "fp", "precision")
recall_at_thresholds = _rate("recall_at_thresholds", "fn", "recall")


def _grid(num_thresholds):
    inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
    return [0.0 - _SMALL, *inner, 1.0 + _SMALL]


def sensitivity_at_specificity(labels, predictions, specificity, weights=None, num_thresholds=200, metrics_collections=None,
                               updates_collections=None, name=None):
    """Returns the share of positives that are found at the threshold whose specificity is closest to a given one.

    Args:
      labels: the true answers, as booleans or numbers.
      predictions: probabilities, of the shape of `labels`.
      specificity: the wanted share of negatives that are called negative, between 0 and 1.
      weights: a weight for each prediction, or None.
      num_thresholds: how many thresholds to try.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: a name for the variable scope.
    """
    if not 0 <= specificity <= 1:
        raise ValueError("`specificity` must be in the range [0, 1]. Currently, `specificity` got %s." % specificity)
    with variable_scope(name, "sensitivity_at_specificity", [predictions, labels, weights]):
        counts = confusion(labels, predictions, _grid(num_thresholds), weights, ["tp", "fn", "tn", "fp"])

        def found(tp, tn, fp, fn, name):
            specificities = math_ops.truediv(tn, tn + fp + _SMALL)
            at = math_ops.cast(math_ops.argmin(math_ops.abs(specificities - specificity), 0), dtypes.int32)
            return math_ops.truediv(tp[at], tp[at] + fn[at] + _SMALL, name)
        value = found(*[counts[k][0].value() for k in ("tp", "tn", "fp", "fn")], "value")
        update = found(*[counts[k][1] for k in ("tp", "tn", "fp", "fn")], "update_op")
        return listed(value, update, metrics_collections, updates_collections)


def specificity_at_sensitivity(labels, predictions, sensitivity, weights=None, num_thresholds=200, metrics_collections=None,
                               updates_collections=None, name=None):
    """Returns the share of negatives that are recognized at the threshold whose sensitivity is closest to a given one.

    Args:
      labels: the true answers, as booleans or numbers.
      predictions: probabilities, of the shape of `labels`.
      sensitivity: the wanted share of positives that are found, between 0 and 1.
      weights: a weight for each prediction, or None.
      num_thresholds: how many thresholds to try.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: a name for the variable scope.
    """
    if not 0 <= sensitivity <= 1:
        raise ValueError("`sensitivity` must be in the range [0, 1]. Currently, `sensitivity` is %s." % sensitivity)
    with variable_scope(name, "specificity_at_sensitivity", [predictions, labels, weights]):
        counts = confusion(labels, predictions, _grid(num_thresholds), weights, ["tp", "fn", "tn", "fp"])

        def found(tp, tn, fp, fn, name):
            sensitivities = math_ops.truediv(tp, tp + fn + _SMALL)
            nearest = math_ops.reduce_min(math_ops.abs(sensitivities - sensitivity))
            hits = math_ops.equal(math_ops.abs(sensitivities - sensitivity), nearest)
            # Of several such thresholds, the last one is used.
            at = math_ops.cast(math_ops.reduce_max(array_ops.where(hits)), dtypes.int32)
            return math_ops.truediv(tn[at], tn[at] + fp[at] + _SMALL, name)
        value = found(*[counts[k][0].value() for k in ("tp", "tn", "fp", "fn")], "value")
        update = found(*[counts[k][1] for k in ("tp", "tn", "fp", "fn")], "update_op")
        return listed(value, update, metrics_collections, updates_collections)
