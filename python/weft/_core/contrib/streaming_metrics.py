"""tf.contrib.metrics: the metrics of tf.metrics under their older names, and those that tf.metrics lacks."""
import weft as tf
from weft._core.nn.threshold_metrics import confusion


def _variable(shape, dtype, name, **more):
    """Returns a variable of a metric: local, and set to zeros."""
    return tf.Variable(lambda: tf.zeros(shape, dtype), trainable=False, collections=[
        tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES], name=name, **more)


def _made(value, update, metrics_collections, updates_collections):
    if metrics_collections:
        tf.add_to_collections(metrics_collections, value)
    if updates_collections:
        tf.add_to_collections(updates_collections, update)
    return value, update


def _turned(kind, name):
    """Returns a metric of tf.metrics with the predictions first."""
    def metric(predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None):
        return kind(labels, predictions, weights, metrics_collections=metrics_collections, updates_collections=updates_collections,
                    name=name)
    return _called(metric, name)


def _called(metric, name):
    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = "tf.metrics.%s with the predictions first: the value and the op that updates it." % (
        name.removeprefix("streaming_").removeprefix("sparse_"))
    return metric


def _counts_at(labels, predictions, thresholds, weights, *kinds):
    """(value, update) of each kind of count, whose variables are in the scope of the caller."""
    counts = confusion(labels, predictions, thresholds, weights, kinds)
    return [(tf.identity(counts[kind][0]), counts[kind][1]) for kind in kinds]


def _at_thresholds(kind, name):
    def metric(predictions, labels, thresholds, weights=None):
        return _counts_at(labels, predictions, thresholds, weights, kind)[0]
    return _called(metric, name)


def _of_thresholds(kind, name):
    def metric(predictions, labels, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None):
        return kind(labels=labels, predictions=predictions, thresholds=thresholds, weights=weights,
                    metrics_collections=metrics_collections, updates_collections=updates_collections, name=name)
    return _called(metric, name)


_m = tf.metrics
streaming_true_positives = _turned(_m.true_positives, "streaming_true_positives")
streaming_true_negatives = _turned(_m.true_negatives, "streaming_true_negatives")
streaming_false_positives = _turned(_m.false_positives, "streaming_false_positives")
streaming_false_negatives = _turned(_m.false_negatives, "streaming_false_negatives")
streaming_true_positives_at_thresholds = _at_thresholds("tp", "streaming_true_positives_at_thresholds")
streaming_true_negatives_at_thresholds = _at_thresholds("tn", "streaming_true_negatives_at_thresholds")
streaming_false_positives_at_thresholds = _at_thresholds("fp", "streaming_false_positives_at_thresholds")
streaming_false_negatives_at_thresholds = _at_thresholds("fn", "streaming_false_negatives_at_thresholds")
streaming_precision_at_thresholds = _of_thresholds(_m.precision_at_thresholds, "streaming_precision_at_thresholds")
streaming_recall_at_thresholds = _of_thresholds(_m.recall_at_thresholds, "streaming_recall_at_thresholds")


def streaming_mean_tensor(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns the mean of each element of the values seen so far."""
    return tf.metrics.mean_tensor(values, weights, metrics_collections, updates_collections, name)


def streaming_percentage_less(values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Computes the fraction of values below a threshold."""
    return tf.metrics.percentage_below(values, threshold, weights, metrics_collections, updates_collections, name)


def streaming_mean_relative_error(predictions, labels, normalizer, weights=None, metrics_collections=None, updates_collections=None,
                                  name=None):
    """Returns the mean distance of predictions from labels, divided by a normalizer."""
    return tf.metrics.mean_relative_error(labels, predictions, normalizer, weights, metrics_collections, updates_collections, name)


def streaming_mean_cosine_distance(predictions, labels, dim, weights=None, metrics_collections=None, updates_collections=None,
                                   name=None):
    """Returns the mean of one minus the cosine between labels and predictions."""
    return tf.metrics.mean_cosine_distance(labels, predictions, dim, weights, metrics_collections, updates_collections, name)


def streaming_mean_iou(predictions, labels, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns the mean over the classes of intersection over union."""
    return tf.metrics.mean_iou(labels, predictions, num_classes, weights, metrics_collections, updates_collections, name)


def streaming_specificity_at_sensitivity(predictions, labels, sensitivity, weights=None, num_thresholds=200, metrics_collections=None,
                                         updates_collections=None, name=None):
    """Returns the specificity where the sensitivity is as given."""
    return tf.metrics.specificity_at_sensitivity(labels, predictions, sensitivity, weights, num_thresholds, metrics_collections,
                                                 updates_collections, name)


def streaming_sensitivity_at_specificity(predictions, labels, specificity, weights=None, num_thresholds=200, metrics_collections=None,
                                         updates_collections=None, name=None):
    """Returns the sensitivity where the specificity is as given."""
    return tf.metrics.sensitivity_at_specificity(labels, predictions, specificity, weights, num_thresholds, metrics_collections,
                                                 updates_collections, name)


def streaming_sparse_recall_at_k(predictions, labels, k, class_id=None, weights=None, metrics_collections=None,
                                 updates_collections=None, name=None):
    """Computes the fraction of labels that are among the k largest predictions."""
    return tf.metrics.recall_at_k(labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name)


def streaming_sparse_precision_at_k(predictions, labels, k, class_id=None, weights=None, metrics_collections=None,
                                    updates_collections=None, name=None):
    """Computes the fraction of the k largest predictions that are labels."""
    return tf.metrics.precision_at_k(labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name)


def streaming_sparse_precision_at_top_k(top_k_predictions, labels, class_id=None, weights=None, metrics_collections=None,
                                        updates_collections=None, name=None):
    """Computes the fraction of the predicted classes that are labels."""
    k = top_k_predictions.shape[-1].value
    return tf.metrics.precision_at_top_k(labels, top_k_predictions, k, class_id, weights, metrics_collections, updates_collections, name)


def sparse_recall_at_top_k(labels, top_k_predictions, class_id=None, weights=None, metrics_collections=None, updates_collections=None,
                           name=None):
    """Computes the fraction of labels that are among the predicted classes."""
    k = top_k_predictions.shape[-1].value
    return tf.metrics.recall_at_top_k(labels, top_k_predictions, k, class_id, weights, metrics_collections, updates_collections, name)


def streaming_sparse_average_precision_at_k(predictions, labels, k, weights=None, metrics_collections=None, updates_collections=None,
                                            name=None):
    """Returns the mean precision at each of the k largest predictions."""
    return tf.metrics.average_precision_at_k(labels, predictions, k, weights, metrics_collections, updates_collections, name)


def streaming_recall_at_k(predictions, labels, k, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Computes how often the label is among the k largest predictions."""
    found = tf.cast(tf.nn.in_top_k(predictions, labels, k), tf.float32)
    return tf.metrics.mean(found, weights, metrics_collections, updates_collections, name or "recall_at_%d" % k)


def _rate(parts, default, metrics_collections, updates_collections, name, values):
    with tf.variable_scope(name, default, values):
        (wrong, wrong_update), (right, right_update) = parts()

        def rate(a, b, name):
            return tf.where(tf.greater(a + b, 0), tf.div(a, a + b), tf.zeros_like(a), name)
        return _made(rate(wrong, right, "value"), rate(wrong_update, right_update, "update_op"), metrics_collections, updates_collections)


def streaming_false_positive_rate(predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns the fraction of negatives that are false positives."""
    return _rate(lambda: [f(labels, predictions, weights) for f in (tf.metrics.false_positives, tf.metrics.true_negatives)],
                 "false_positive_rate", metrics_collections, updates_collections, name, (predictions, labels, weights))


def streaming_false_negative_rate(predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns the fraction of positives that are false negatives."""
    return _rate(lambda: [f(labels, predictions, weights) for f in (tf.metrics.false_negatives, tf.metrics.true_positives)],
                 "false_negative_rate", metrics_collections, updates_collections, name, (predictions, labels, weights))


def _rate_at(parts, epsilon, default, metrics_collections, updates_collections, name, values):
    with tf.variable_scope(name, default, values):
        (wrong, wrong_update), (right, right_update) = parts()
        return _made(tf.div(wrong, epsilon + wrong + right, name="value"),
                     tf.div(wrong_update, epsilon + wrong_update + right_update, name="update_op"),
                     metrics_collections, updates_collections)


def streaming_false_positive_rate_at_thresholds(predictions, labels, thresholds, weights=None, metrics_collections=None,
                                                updates_collections=None, name=None):
    """Returns the fraction of negatives that are false positives, for each threshold."""
    return _rate_at(lambda: _counts_at(labels, predictions, thresholds, weights, "fp", "tn"), 1e-7,
                    "false_positive_rate_at_thresholds", metrics_collections, updates_collections, name, (predictions, labels, weights))


def streaming_false_negative_rate_at_thresholds(predictions, labels, thresholds, weights=None, metrics_collections=None,
                                                updates_collections=None, name=None):
    """Returns the fraction of positives that are false negatives, for each threshold."""
    return _rate_at(lambda: _counts_at(labels, predictions, thresholds, weights, "fn", "tp"), 1e-7,
                    "false_negative_rate_at_thresholds", metrics_collections, updates_collections, name, (predictions, labels, weights))


def count(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Counts values, or sums their weights."""
    with tf.variable_scope(name, "count", (values, weights)):
        total = _variable([], tf.float32, "count")
        if weights is None:
            seen = tf.cast(tf.size(values), tf.float32)
        else:
            seen = tf.reduce_sum(tf.cast(weights, tf.float32) * tf.ones_like(tf.cast(values, tf.float32)))
        with tf.control_dependencies([seen]):
            update = tf.assign_add(total, seen)
        return _made(tf.identity(total), update, metrics_collections, updates_collections)


def _divided(a, b):
    return tf.div_no_nan(a, b)


def streaming_covariance(predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns the covariance of predictions and labels, without bias."""
    with tf.variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels = tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32)
        seen, mean_p, mean_l, moment = (_variable([], tf.float32, n) for n in ("count", "mean_prediction", "mean_label", "comoment"))
        if weights is None:
            n, weigh = tf.cast(tf.size(labels), tf.float32), lambda x: x
        else:
            weights = tf.cast(weights, tf.float32) * tf.ones_like(labels)
            n, weigh = tf.reduce_sum(weights), lambda x: weights * x
        total = tf.assign_add(seen, n)
        before = total - n
        batch_p = _divided(tf.reduce_sum(weigh(predictions)), n)
        step_p = _divided((batch_p - mean_p) * n, total)
        now_p = tf.assign_add(mean_p, step_p)
        was_p = now_p - step_p
        batch_l = _divided(tf.reduce_sum(weigh(labels)), n)
        step_l = _divided((batch_l - mean_l) * n, total)
        now_l = tf.assign_add(mean_l, step_l)
        was_l = now_l - step_l
        inside = tf.reduce_sum(weigh((predictions - batch_p) * (labels - batch_l)))
        step = inside + (was_p - batch_p) * (was_l - batch_l) * _divided(before * n, total)
        update_moment = tf.assign_add(moment, step)

        def covariance(m, k, name):
            return tf.where(tf.less_equal(k, 1.), tf.fill([], float("nan")), tf.truediv(m, k - 1), name=name)
        with tf.control_dependencies([update_moment]):
            update = covariance(moment.read_value() if hasattr(moment, "read_value") else moment, total, "update_op")
        return _made(covariance(moment, seen, "covariance"), update, metrics_collections, updates_collections)


def streaming_pearson_correlation(predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Computes Pearson's correlation of predictions and labels."""
    with tf.variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels = tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32)
        both, of_p, of_l = (streaming_covariance(a, b, weights, name=n) for a, b, n in (
            (predictions, labels, "covariance"), (predictions, predictions, "variance_predictions"), (labels, labels, "variance_labels")))
        value, update = (tf.truediv(both[i], tf.multiply(tf.sqrt(of_p[i]), tf.sqrt(of_l[i])), name=n)
                         for i, n in enumerate(("pearson_r", "update_op")))
        return _made(value, update, metrics_collections, updates_collections)


def f1_score(labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None, name=None):
    """Returns the best F1 score over thresholds."""
    with tf.variable_scope(name, "f1", (labels, predictions, weights)):
        epsilon = 1e-7
        thresholds = [0.0 - epsilon] + [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)] + [1.0 + epsilon]
        tp, fn, fp = _counts_at(labels, predictions, thresholds, weights, "tp", "fn", "fp")
        found = (tp, fp, fn)

        def best(tp, fp, fn):
            precision, recall = tf.div(tp, epsilon + tp + fp), tf.div(tp, epsilon + tp + fn)
            return tf.reduce_max(2 * precision * recall / (precision + recall + epsilon))
        value, update = best(*(v for v, _ in found)), best(*(u for _, u in found))
        return _made(value, update, metrics_collections, updates_collections)


def cohen_kappa(labels, predictions_idx, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns how much labels and predictions agree beyond chance."""
    if num_classes < 2:
        raise ValueError("num_classes must be at least 2, got %s" % num_classes)
    with tf.variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        given = [tf.convert_to_tensor(t) for t in (labels, predictions_idx)]
        labels, predictions_idx = (tf.squeeze(t, [-1]) if t.shape.ndims == 2 else t for t in given)
        kind = tf.int64 if weights is None else tf.float32
        on, rows, columns = (_variable([num_classes], kind, n) for n in ("po", "pe_row", "pe_col"))
        table = tf.confusion_matrix(labels, predictions_idx, num_classes=num_classes, weights=weights,
                                    dtype=kind)
        updates = (tf.assign_add(on, tf.diag_part(table)), tf.assign_add(rows, tf.reduce_sum(table, axis=0)),
                   tf.assign_add(columns, tf.reduce_sum(table, axis=1)))

        def kappa(po, pe_row, pe_col, name):
            po_sum, total = tf.reduce_sum(po), tf.reduce_sum(pe_row)
            pe = _divided(tf.cast(pe_row * pe_col, tf.float64), tf.cast(total, tf.float64))
            po_sum, pe_sum, total = tf.cast(po_sum, tf.float64), tf.reduce_sum(pe), tf.cast(total, tf.float64)
            return tf.identity(_divided(po_sum - pe_sum, total - pe_sum), name=name)
        return _made(kappa(on, rows, columns, "value"), kappa(*updates, "update_op"), metrics_collections, updates_collections)


def streaming_concat(values, axis=0, max_size=None, metrics_collections=None, updates_collections=None, name=None):
    """Returns all values seen so far, one after the other."""
    with tf.variable_scope(name, "streaming_concat", (values,)):
        values = tf.convert_to_tensor(values)
        shape = values.shape.as_list()
        axis = axis + len(shape) if axis < 0 else axis
        if not 0 <= axis < len(shape):
            raise ValueError("axis = %r not in [0, %r)" % (axis, len(shape)))
        if any(n is None for i, n in enumerate(shape) if i != axis):
            raise ValueError("all dimensions of `values` other than the concat axis must be known, got %s" % values.shape)
        shape[axis] = 0
        kept = _variable(shape, values.dtype, "array", validate_shape=False, use_resource=False)
        open_shape = [None if i == axis else n for i, n in enumerate(shape)]

        def shown(t):
            t = t if max_size is None else tf.slice(t, [0] * len(shape), tf.minimum(tf.shape(t), [
                max_size if i == axis else n for i, n in enumerate(shape)]))
            t = tf.identity(t)
            t.set_shape(open_shape)
            return t
        update = tf.assign(kept, shown(tf.concat([kept, values], axis)), validate_shape=False)
        return _made(shown(kept), shown(update), metrics_collections, updates_collections)
