"""tf.keras.metrics computed from counts of true and false positives and negatives at thresholds."""
import numpy as np

import weft as tf
from weft._core.keras import backend as K, losses
from weft._core.keras.metrics import Metric

_NEGATIVE_INFINITY = -1e10


def _thresholds(thresholds, default=0.5):
    found = [default] if thresholds is None else list(thresholds) if isinstance(thresholds, (list, tuple)) else [thresholds]
    wrong = [t for t in found if t is None or t < 0 or t > 1]
    if wrong:
        raise ValueError("Threshold values must be in [0, 1]. Received: %s" % wrong)
    return found


def _top_k_only(y_pred, k):
    """Sets all but the k largest predictions of a row to minus infinity."""
    top = tf.nn.top_k(y_pred, k, sorted=False)[1]
    mask = tf.reduce_sum(tf.one_hot(top, tf.shape(y_pred)[-1], axis=-1), axis=-2)
    return y_pred * mask + _NEGATIVE_INFINITY * (1 - mask)


def _prepared(metric, y_true, y_pred, sample_weight, top_k, class_id):
    kind = metric.variables[0].dtype.base_dtype
    y_true, y_pred = losses.squeezed(tf.cast(y_true, kind), tf.cast(y_pred, kind))
    y_true.shape.assert_is_compatible_with(y_pred.shape)
    if sample_weight is not None:
        sample_weight = losses.fitting_weight(tf.cast(sample_weight, kind), y_pred)
    if top_k is not None:
        y_pred = _top_k_only(y_pred, top_k)
    if class_id is not None:
        y_true, y_pred = y_true[..., class_id, None], y_pred[..., class_id, None]
    return y_true, y_pred, sample_weight, kind


def update_counts(metric, wanted, y_true, y_pred, thresholds, top_k=None, class_id=None, sample_weight=None, multi_label=False,
                  label_weights=None):
    """Adds counts to variables. wanted: {"tp", "fp", "tn" or "fn": variable with an element for each threshold}."""
    y_true, y_pred, sample_weight, kind = _prepared(metric, y_true, y_pred, sample_weight, top_k, class_id)
    count = len(thresholds)
    if multi_label:
        labels, predictions = tf.expand_dims(tf.cast(y_true, tf.bool), 0), tf.expand_dims(y_pred, 0)
        shape, tiles = [count, 1, 1], tf.stack([count, 1, 1])
    else:
        labels = tf.reshape(tf.cast(y_true, tf.bool), [1, -1])
        predictions, shape, tiles = tf.reshape(y_pred, [1, -1]), [count, 1], tf.stack([count, 1])
    limit = tf.reshape(tf.constant(np.array(thresholds), dtype=kind), shape)
    positive = predictions > limit
    labels = tf.tile(labels, tiles)
    weight = _weight(sample_weight, label_weights, y_pred, multi_label, kind)
    pairs = {"tp": (labels, positive), "fn": (labels, ~positive), "fp": (~labels, positive), "tn": (~labels, ~positive)}
    updates = []
    for key, variable in wanted.items():
        found = tf.cast(tf.logical_and(*pairs[key]), kind)
        found = found if weight is None else found * weight
        updates.append(variable.assign_add(tf.reduce_sum(found, axis=1)))
    return tf.group(*updates)


def _weight(sample_weight, label_weights, y_pred, multi_label, kind):
    """Returns the weight of each prediction, which is multiplied with the matches at all thresholds."""
    made = None
    if sample_weight is not None:
        whole = sample_weight * tf.ones_like(y_pred)
        made = tf.expand_dims(whole, 0) if multi_label else tf.reshape(whole, [1, -1])
    if label_weights is not None:
        each = tf.expand_dims(tf.cast(label_weights, kind), 0) * tf.ones_like(y_pred)
        each = tf.expand_dims(each, 0) if multi_label else tf.reshape(each, [1, -1])
        made = each if made is None else made * each
    return made


class _Resettable(Metric):
    def reset_state(self):
        K.batch_set_value([(v, np.zeros(v.shape.as_list())) for v in self.variables])


class _ConfusionMatrixConditionCount(_Resettable):
    _KEY = None

    def __init__(self, thresholds=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds, self.thresholds = thresholds, _thresholds(thresholds)
        self.accumulator = self.add_weight("accumulator", shape=(len(self.thresholds),), initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        return update_counts(self, {self._KEY: self.accumulator}, y_true, y_pred, self.thresholds, sample_weight=sample_weight)

    def result(self):
        return tf.convert_to_tensor(self.accumulator[0] if len(self.thresholds) == 1 else self.accumulator)

    def get_config(self):
        return {**super().get_config(), "thresholds": self.init_thresholds}


class FalsePositives(_ConfusionMatrixConditionCount):
    _KEY = "fp"


class FalseNegatives(_ConfusionMatrixConditionCount):
    _KEY = "fn"


class TrueNegatives(_ConfusionMatrixConditionCount):
    _KEY = "tn"


class TruePositives(_ConfusionMatrixConditionCount):
    _KEY = "tp"


class _Rate(_Resettable):
    """The ratio of true positives to the sum of true positives and another count."""

    _OTHER, _NAME = None, None

    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds, self.top_k, self.class_id = thresholds, top_k, class_id
        self.thresholds = _thresholds(thresholds, 0.5 if top_k is None else _NEGATIVE_INFINITY) if top_k is None or thresholds is not None \
            else [_NEGATIVE_INFINITY]
        shape = (len(self.thresholds),)
        self.true_positives = self.add_weight("true_positives", shape=shape, initializer="zeros")
        self._other = self.add_weight(self._NAME, shape=shape, initializer="zeros")
        setattr(self, self._NAME, self._other)

    def update_state(self, y_true, y_pred, sample_weight=None):
        return update_counts(self, {"tp": self.true_positives, self._OTHER: self._other}, y_true, y_pred, self.thresholds,
                             top_k=self.top_k, class_id=self.class_id, sample_weight=sample_weight)

    def result(self):
        made = tf.div_no_nan(self.true_positives, tf.add(self.true_positives, self._other))
        return made[0] if len(self.thresholds) == 1 else made

    def get_config(self):
        return {**super().get_config(), "thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id}


class Precision(_Rate):
    _OTHER, _NAME = "fp", "false_positives"


class Recall(_Rate):
    _OTHER, _NAME = "fn", "false_negatives"


def _four(metric, shape):
    metric.true_positives = metric.add_weight("true_positives", shape=shape, initializer="zeros")
    metric.true_negatives = metric.add_weight("true_negatives", shape=shape, initializer="zeros")
    metric.false_positives = metric.add_weight("false_positives", shape=shape, initializer="zeros")
    metric.false_negatives = metric.add_weight("false_negatives", shape=shape, initializer="zeros")


def _keyed(metric):
    return {"tp": metric.true_positives, "fp": metric.false_positives, "tn": metric.true_negatives, "fn": metric.false_negatives}


class SensitivitySpecificityBase(_Resettable):
    """The base of metrics that give a rate at the threshold where another rate reaches a value."""

    def __init__(self, value, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        if num_thresholds <= 0:
            raise ValueError("Argument `num_thresholds` must be an integer > 0. Received: num_thresholds=%s" % num_thresholds)
        self.value, self.class_id, self.num_thresholds = value, class_id, num_thresholds
        steps = num_thresholds - 2
        self.thresholds = [0.5] if num_thresholds == 1 else [0.0] + [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(steps)] + [1.0]
        _four(self, (num_thresholds,))

    def update_state(self, y_true, y_pred, sample_weight=None):
        return update_counts(self, _keyed(self), y_true, y_pred, self.thresholds, class_id=self.class_id, sample_weight=sample_weight)

    def get_config(self):
        return {**super().get_config(), "class_id": self.class_id}

    def _best(self, constrained, dependent, reached):
        """Returns the largest dependent value where the constrained one reaches the limit, or 0."""
        places = tf.where(reached(constrained, self.value))
        rows = tf.gather(dependent, tf.reshape(places, [-1]))
        return tf.cond(tf.greater(tf.size(places), 0), lambda: tf.reduce_max(rows), lambda: tf.constant(0.0, dependent.dtype))

    def _sensitivity(self):
        return tf.div_no_nan(self.true_positives, self.true_positives + self.false_negatives)

    def _specificity(self):
        return tf.div_no_nan(self.true_negatives, self.true_negatives + self.false_positives)

    def _precision(self):
        return tf.div_no_nan(self.true_positives, self.true_positives + self.false_positives)


def _in_range(name, value):
    if value < 0 or value > 1:
        raise ValueError("Argument `%s` must be in the range [0, 1]. Received: %s=%s" % (name, name, value))


class SensitivityAtSpecificity(SensitivitySpecificityBase):
    def __init__(self, specificity, num_thresholds=200, class_id=None, name=None, dtype=None):
        _in_range("specificity", specificity)
        self.specificity = specificity
        super().__init__(specificity, num_thresholds=num_thresholds, class_id=class_id, name=name, dtype=dtype)

    def result(self):
        return self._best(self._specificity(), self._sensitivity(), tf.greater_equal)

    def get_config(self):
        return {**super().get_config(), "num_thresholds": self.num_thresholds, "specificity": self.specificity}


class SpecificityAtSensitivity(SensitivitySpecificityBase):
    def __init__(self, sensitivity, num_thresholds=200, class_id=None, name=None, dtype=None):
        _in_range("sensitivity", sensitivity)
        self.sensitivity = sensitivity
        super().__init__(sensitivity, num_thresholds=num_thresholds, class_id=class_id, name=name, dtype=dtype)

    def result(self):
        return self._best(self._sensitivity(), self._specificity(), tf.greater_equal)

    def get_config(self):
        return {**super().get_config(), "num_thresholds": self.num_thresholds, "sensitivity": self.sensitivity}


class PrecisionAtRecall(SensitivitySpecificityBase):
    def __init__(self, recall, num_thresholds=200, class_id=None, name=None, dtype=None):
        _in_range("recall", recall)
        self.recall = recall
        super().__init__(recall, num_thresholds=num_thresholds, class_id=class_id, name=name, dtype=dtype)

    def result(self):
        return self._best(self._sensitivity(), self._precision(), tf.greater_equal)

    def get_config(self):
        return {**super().get_config(), "num_thresholds": self.num_thresholds, "recall": self.recall}


class RecallAtPrecision(SensitivitySpecificityBase):
    def __init__(self, precision, num_thresholds=200, class_id=None, name=None, dtype=None):
        _in_range("precision", precision)
        self.precision = precision
        super().__init__(precision, num_thresholds=num_thresholds, class_id=class_id, name=name, dtype=dtype)

    def result(self):
        return self._best(self._precision(), self._sensitivity(), tf.greater_equal)

    def get_config(self):
        return {**super().get_config(), "num_thresholds": self.num_thresholds, "precision": self.precision}


class AUC(_Resettable):
    """The area under the curve of ROC or of precision and recall."""

    def __init__(self, num_thresholds=200, curve="ROC", summation_method="interpolation", name=None, dtype=None, thresholds=None,
                 multi_label=False, num_labels=None, label_weights=None, from_logits=False):
        _one_of("curve", curve, ("ROC", "PR"))
        _one_of("summation_method", summation_method, ("interpolation", "majoring", "minoring"))
        super().__init__(name=name, dtype=dtype)
        self._given = thresholds is not None
        inner = self._inner(num_thresholds, thresholds)
        small = K.epsilon()
        self._thresholds = np.array([0.0 - small] + inner + [1.0 + small])
        self.curve, self.summation_method, self.multi_label = curve, summation_method, multi_label
        self.num_labels, self._from_logits, self.label_weights = num_labels, from_logits, None
        if label_weights is not None:
            self.label_weights = np.asarray(label_weights, np.float32)
        if num_labels is not None and not multi_label:
            raise ValueError("`num_labels` is needed only when `multi_label` is True.")
        if not multi_label or num_labels is not None:
            self._make(num_labels)

    def _inner(self, num_thresholds, thresholds):
        if thresholds is not None:
            found = sorted(thresholds)
            self.num_thresholds = len(found) + 2
            return found
        if num_thresholds <= 1:
            raise ValueError("Argument `num_thresholds` must be an integer > 1. Received: num_thresholds=%s" % num_thresholds)
        self.num_thresholds = num_thresholds
        return [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]

    thresholds = property(lambda self: list(self._thresholds))

    def _make(self, labels):
        _four(self, (self.num_thresholds, labels) if self.multi_label else (self.num_thresholds,))
        self._num_labels = labels

    def update_state(self, y_true, y_pred, sample_weight=None):
        if not self.variables:
            self._make(tf.convert_to_tensor(y_pred).shape.as_list()[1])
        if self._from_logits:
            y_pred = tf.sigmoid(tf.cast(y_pred, self._dtype))
        return update_counts(self, _keyed(self), y_true, y_pred, self._thresholds, sample_weight=sample_weight,
                             multi_label=self.multi_label, label_weights=None if self.multi_label else self.label_weights)

    def result(self):
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self._interpolated_pr()
        recall = tf.div_no_nan(self.true_positives, tf.add(self.true_positives, self.false_negatives))
        if self.curve == "ROC":
            x = tf.div_no_nan(self.false_positives, tf.add(self.false_positives, self.true_negatives))
            y = recall
        else:
            x, y = recall, tf.div_no_nan(self.true_positives, tf.add(self.true_positives, self.false_positives))
        n = self.num_thresholds
        if self.summation_method == "interpolation":
            heights = (y[:n - 1] + y[1:]) / 2.0
        else:
            heights = (tf.minimum if self.summation_method == "minoring" else tf.maximum)(y[:n - 1], y[1:])
        return self._summed(tf.multiply(x[:n - 1] - x[1:], heights))

    def _summed(self, areas):
        if not self.multi_label:
            return tf.reduce_sum(areas, name=self.name)
        each = tf.reduce_sum(areas, axis=0)
        if self.label_weights is None:
            return tf.reduce_mean(each, name=self.name)
        weights = tf.cast(self.label_weights, each.dtype)
        return tf.div_no_nan(tf.reduce_sum(tf.multiply(each, weights)), tf.reduce_sum(weights), name=self.name)

    def _interpolated_pr(self):
        """Returns the area with the precision interpolated by the method of Davis and Goadrich."""
        n, tp = self.num_thresholds, self.true_positives
        hits = tp[:n - 1] - tp[1:]
        positives = tf.add(tp, self.false_positives)
        found = positives[:n - 1] - positives[1:]
        slope = tf.div_no_nan(hits, tf.maximum(found, 0.0))
        intercept = tp[1:] - tf.multiply(slope, positives[1:])
        ratio = tf.where(tf.logical_and(positives[:n - 1] > 0, positives[1:] > 0),
                         tf.div_no_nan(positives[:n - 1], tf.maximum(positives[1:], 0.0)), tf.ones_like(positives[1:]))
        actual = tp[1:] + self.false_negatives[1:]
        return self._summed(tf.div_no_nan(slope * (hits + intercept * tf.log(ratio)), tf.maximum(actual, 0.0)))

    def get_config(self):
        given = {"num_thresholds": self.num_thresholds, "curve": self.curve, "summation_method": self.summation_method,
                 "multi_label": self.multi_label, "num_labels": self.num_labels, "label_weights": self.label_weights,
                 "from_logits": self._from_logits}
        if self._given:
            given["thresholds"] = self.thresholds[1:-1]
        return {**super().get_config(), **given}


def _one_of(name, value, accepted):
    if value not in accepted:
        raise ValueError('Invalid `%s` argument value "%s". Expected one of: %s' % (name, value, list(accepted)))


class FBetaScore(Metric):
    """The weighted harmonic mean of precision and recall."""

    def __init__(self, average=None, beta=1.0, threshold=None, name="fbeta_score", dtype=None):
        super().__init__(name=name, dtype=dtype)
        _one_of("average", average, (None, "micro", "macro", "weighted"))
        if not isinstance(beta, float):
            raise ValueError("Invalid `beta` argument value. It should be a Python float. Received: beta=%s of type '%s'" % (
                beta, type(beta)))
        self.average, self.beta, self.threshold, self.axis = average, beta, threshold, None if average == "micro" else 0
        self._made = False

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype)
        if not self._made:
            shape = [] if self.average == "micro" else [y_true.shape.as_list()[1]]
            for name in ("true_positives", "false_positives", "false_negatives", "intermediate_weights"):
                setattr(self, name, self.add_weight(name, shape=shape, initializer="zeros"))
            self._made = True
        if self.threshold is None:
            limit = tf.reduce_max(y_pred, axis=-1, keepdims=True)
            y_pred = tf.logical_and(y_pred >= limit, tf.abs(y_pred) > 1e-9)
        else:
            y_pred = y_pred > self.threshold
        y_pred = tf.cast(y_pred, self._dtype)
        parts = ((self.true_positives, y_pred * y_true), (self.false_positives, y_pred * (1 - y_true)),
                 (self.false_negatives, (1 - y_pred) * y_true), (self.intermediate_weights, y_true))
        return tf.group(*[v.assign_add(self._weighted(x, sample_weight)) for v, x in parts])

    def _weighted(self, values, sample_weight):
        if sample_weight is not None:
            values = values * tf.expand_dims(tf.cast(sample_weight, self._dtype), -1)
        return tf.reduce_sum(values, axis=self.axis)

    def result(self):
        precision = tf.div_no_nan(self.true_positives, self.true_positives + self.false_positives)
        recall = tf.div_no_nan(self.true_positives, self.true_positives + self.false_negatives)
        found = tf.div_no_nan(precision * recall, (self.beta ** 2) * precision + recall) * (1 + self.beta ** 2)
        if self.average == "weighted":
            weights = tf.div_no_nan(self.intermediate_weights, tf.reduce_sum(self.intermediate_weights))
            return tf.reduce_sum(found * weights)
        return found if self.average is None else tf.reduce_mean(found)

    def get_config(self):
        return {**super().get_config(), "average": self.average, "beta": self.beta, "threshold": self.threshold}


class F1Score(FBetaScore):
    """FBetaScore with beta 1."""

    def __init__(self, average=None, threshold=None, name="f1_score", dtype=None):
        super().__init__(average=average, beta=1.0, threshold=threshold, name=name, dtype=dtype)

    def get_config(self):
        given = super().get_config()
        given.pop("beta")
        return given


class R2Score(Metric):
    """The coefficient of determination."""

    def __init__(self, class_aggregation="uniform_average", num_regressors=0, name="r2_score", dtype=None):
        super().__init__(name=name, dtype=dtype)
        _one_of("class_aggregation", class_aggregation, (None, "uniform_average", "variance_weighted_average"))
        if num_regressors < 0:
            raise ValueError("Invalid `num_regressors` argument value. It should be >= 0. Received: num_regressors=%s" % num_regressors)
        self.class_aggregation, self.num_regressors, self._made = class_aggregation, num_regressors, False
        self.num_samples = self.add_weight("num_samples", dtype="int32")

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype)
        if not self._made:
            for name in ("squared_sum", "sum", "total_mse", "count"):
                setattr(self, name, self.add_weight(name, shape=[y_true.shape.as_list()[1]], initializer="zeros"))
            self._made = True
        weight = tf.cast(1 if sample_weight is None else sample_weight, self._dtype)
        weight = tf.expand_dims(weight, axis=1) if weight.shape.ndims == 1 else weight
        weight = weight * tf.ones_like(y_true)
        weighted = y_true * weight
        return tf.group(self.sum.assign_add(tf.reduce_sum(weighted, axis=0)),
                        self.squared_sum.assign_add(tf.reduce_sum(y_true * weighted, axis=0)),
                        self.total_mse.assign_add(tf.reduce_sum((y_true - y_pred) ** 2 * weight, axis=0)),
                        self.count.assign_add(tf.reduce_sum(weight, axis=0)), self.num_samples.assign_add(tf.size(y_true)))

    def result(self):
        mean = self.sum / self.count
        total = self.squared_sum - self.sum * mean
        found = 1 - self.total_mse / total
        found = tf.where(tf.is_inf(found), tf.zeros_like(found), found)
        if self.class_aggregation == "uniform_average":
            found = tf.reduce_mean(found)
        elif self.class_aggregation == "variance_weighted_average":
            found = tf.reduce_sum(total * found) / tf.reduce_sum(total)
        if self.num_regressors:
            n, p = tf.cast(self.num_samples, self._dtype), float(self.num_regressors)
            found = 1 - (1 - found) * (n - 1.0) / (n - p - 1.0)
        return found

    def get_config(self):
        return {**super().get_config(), "class_aggregation": self.class_aggregation, "num_regressors": self.num_regressors}
