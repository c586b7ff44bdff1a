"""tf.keras.metrics: means of functions, relative and squared errors, and intersections over unions."""
import weft as tf
from weft._core.framework.absent import Named
from weft._core.keras import backend as K, losses, metrics
from weft._core.keras.metrics import Mean, MeanMetricWrapper, Metric, Reduce


class Accuracy(MeanMetricWrapper):
    def __init__(self, name="accuracy", dtype=None):
        super().__init__(metrics.accuracy, name, dtype=dtype)


class BinaryAccuracy(MeanMetricWrapper):
    def __init__(self, name="binary_accuracy", dtype=None, threshold=0.5):
        super().__init__(metrics.binary_matches, name, dtype=dtype, threshold=threshold)


class CategoricalAccuracy(MeanMetricWrapper):
    def __init__(self, name="categorical_accuracy", dtype=None):
        super().__init__(metrics.categorical_accuracy, name, dtype=dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    def __init__(self, name="sparse_categorical_accuracy", dtype=None):
        super().__init__(metrics.sparse_categorical_accuracy, name, dtype=dtype)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    def __init__(self, k=5, name="top_k_categorical_accuracy", dtype=None):
        super().__init__(metrics.top_k_categorical_accuracy, name, dtype=dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    def __init__(self, k=5, name="sparse_top_k_categorical_accuracy", dtype=None):
        super().__init__(metrics.sparse_top_k_categorical_accuracy, name, dtype=dtype, k=k)


class BinaryCrossentropy(MeanMetricWrapper):
    def __init__(self, name="binary_crossentropy", dtype=None, from_logits=False, label_smoothing=0):
        super().__init__(losses.binary_crossentropy, name, dtype=dtype, from_logits=from_logits, label_smoothing=label_smoothing)


class CategoricalCrossentropy(MeanMetricWrapper):
    def __init__(self, name="categorical_crossentropy", dtype=None, from_logits=False, label_smoothing=0, axis=-1):
        super().__init__(losses.categorical_crossentropy, name, dtype=dtype, from_logits=from_logits,
                         label_smoothing=label_smoothing, axis=axis)


class SparseCategoricalCrossentropy(MeanMetricWrapper):
    def __init__(self, name="sparse_categorical_crossentropy", dtype=None, from_logits=False, ignore_class=None, axis=-1):
        super().__init__(losses.sparse_categorical_crossentropy, name, dtype=dtype, from_logits=from_logits,
                         ignore_class=ignore_class, axis=axis)


class KLDivergence(MeanMetricWrapper):
    def __init__(self, name="kullback_leibler_divergence", dtype=None):
        super().__init__(losses.kl_divergence, name, dtype=dtype)


class Poisson(MeanMetricWrapper):
    def __init__(self, name="poisson", dtype=None):
        super().__init__(losses.poisson, name, dtype=dtype)


class LogCoshError(MeanMetricWrapper):
    def __init__(self, name="logcosh", dtype=None):
        super().__init__(losses.log_cosh, name, dtype=dtype)


class Hinge(MeanMetricWrapper):
    def __init__(self, name="hinge", dtype=None):
        super().__init__(losses.hinge, name, dtype=dtype)


class SquaredHinge(MeanMetricWrapper):
    def __init__(self, name="squared_hinge", dtype=None):
        super().__init__(losses.squared_hinge, name, dtype=dtype)


class CategoricalHinge(MeanMetricWrapper):
    def __init__(self, name="categorical_hinge", dtype=None):
        super().__init__(losses.categorical_hinge, name, dtype=dtype)


class MeanSquaredError(MeanMetricWrapper):
    def __init__(self, name="mean_squared_error", dtype=None):
        super().__init__(losses.mean_squared_error, name, dtype=dtype)


class MeanAbsoluteError(MeanMetricWrapper):
    def __init__(self, name="mean_absolute_error", dtype=None):
        super().__init__(losses.mean_absolute_error, name, dtype=dtype)


class MeanAbsolutePercentageError(MeanMetricWrapper):
    def __init__(self, name="mean_absolute_percentage_error", dtype=None):
        super().__init__(losses.mean_absolute_percentage_error, name, dtype=dtype)


class MeanSquaredLogarithmicError(MeanMetricWrapper):
    def __init__(self, name="mean_squared_logarithmic_error", dtype=None):
        super().__init__(losses.mean_squared_logarithmic_error, name, dtype=dtype)


class CosineSimilarity(MeanMetricWrapper):
    def __init__(self, name="cosine_similarity", dtype=None, axis=-1):
        super().__init__(metrics.cosine_similarity, name, dtype=dtype, axis=axis)


class RootMeanSquaredError(Mean):
    """The root of the mean squared error between predictions and labels."""

    def __init__(self, name="root_mean_squared_error", dtype=None):
        super().__init__(name, dtype=dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = losses.squeezed(tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype))
        return Reduce.update_state.__wrapped__(self, tf.squared_difference(y_pred, y_true), sample_weight)

    def result(self):
        return tf.sqrt(tf.div_no_nan(self.total, self.count))


class MeanRelativeError(Mean):
    """The mean distance of predictions from labels, divided by a normalizer."""

    def __init__(self, normalizer, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.normalizer = tf.cast(normalizer, self._dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = losses.squeezed(tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype))
        self.normalizer.shape.assert_is_compatible_with(y_true.shape)
        found = tf.div_no_nan(tf.abs(y_true - y_pred), self.normalizer)
        return Reduce.update_state.__wrapped__(self, found, sample_weight)

    def get_config(self):
        return {**super().get_config(), "normalizer": K.eval(self.normalizer)}


class _IoUBase(Metric):
    """The base of metrics with a confusion matrix over batches."""

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_true=True, sparse_y_pred=True, axis=-1):
        super().__init__(name=name, dtype=dtype)
        self.num_classes, self.ignore_class, self.axis = num_classes, ignore_class, axis
        self.sparse_y_true, self.sparse_y_pred = sparse_y_true, sparse_y_pred
        self.total_cm = self.add_weight("total_confusion_matrix", shape=(num_classes, num_classes), initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true = y_true if self.sparse_y_true else tf.argmax(y_true, axis=self.axis)
        y_pred = y_pred if self.sparse_y_pred else tf.argmax(y_pred, axis=self.axis)
        y_true, y_pred = (tf.reshape(tf.cast(y, self._dtype), [-1]) for y in (y_true, y_pred))
        if sample_weight is not None:
            sample_weight = tf.reshape(tf.cast(sample_weight, self._dtype), [-1])
        if self.ignore_class is not None:
            valid = tf.not_equal(y_true, tf.cast(self.ignore_class, y_true.dtype))
            y_true, y_pred = tf.boolean_mask(y_true, valid), tf.boolean_mask(y_pred, valid)
            sample_weight = None if sample_weight is None else tf.boolean_mask(sample_weight, valid)
        found = tf.confusion_matrix(y_true, y_pred, self.num_classes, weights=sample_weight, dtype=tf.as_dtype(self._dtype))
        return self.total_cm.assign_add(found)

    def reset_state(self):
        import numpy as np
        K.set_value(self.total_cm, np.zeros((self.num_classes, self.num_classes)))

    def _parts(self):
        """Returns (true positives, rows + columns - true positives) of each class."""
        hits = tf.diag_part(self.total_cm)
        rows, columns = tf.reduce_sum(self.total_cm, axis=0), tf.reduce_sum(self.total_cm, axis=1)
        return tf.cast(hits, self._dtype), tf.cast(rows, self._dtype) + tf.cast(columns, self._dtype) - tf.cast(hits, self._dtype)

    def get_config(self):
        return {**super().get_config(), "num_classes": self.num_classes, "ignore_class": self.ignore_class,
                "sparse_y_true": self.sparse_y_true, "sparse_y_pred": self.sparse_y_pred, "axis": self.axis}


class IoU(_IoUBase):
    """The mean intersection over union of some classes."""

    def __init__(self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None, sparse_y_true=True,
                 sparse_y_pred=True, axis=-1):
        super().__init__(num_classes, name=name, dtype=dtype, ignore_class=ignore_class, sparse_y_true=sparse_y_true,
                         sparse_y_pred=sparse_y_pred, axis=axis)
        if max(target_class_ids) >= num_classes:
            raise ValueError("Target class id %s is out of range, which is [0, %d)." % (max(target_class_ids), num_classes))
        self.target_class_ids = list(target_class_ids)

    def result(self):
        hits, union = self._parts()
        hits, union = tf.gather(hits, self.target_class_ids), tf.gather(union, self.target_class_ids)
        seen = tf.reduce_sum(tf.cast(tf.not_equal(union, 0), self._dtype))
        return tf.div_no_nan(tf.reduce_sum(tf.div_no_nan(hits, union)), seen)

    def get_config(self):
        return {**super().get_config(), "target_class_ids": self.target_class_ids}


class BinaryIoU(IoU):
    """The mean intersection over union of two classes, by a threshold."""

    def __init__(self, target_class_ids=(0, 1), threshold=0.5, name=None, dtype=None):
        super().__init__(2, target_class_ids, name=name, dtype=dtype)
        self.threshold = threshold

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = tf.cast(y_pred, self._dtype)
        return _IoUBase.update_state.__wrapped__(self, y_true, tf.cast(y_pred >= self.threshold, self._dtype), sample_weight)

    def get_config(self):
        return {"name": self.name, "dtype": self.dtype, "target_class_ids": self.target_class_ids, "threshold": self.threshold}


class MeanIoU(IoU):
    """The mean intersection over union of all classes."""

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_true=True, sparse_y_pred=True, axis=-1):
        super().__init__(num_classes, list(range(num_classes)), name=name, dtype=dtype, ignore_class=ignore_class,
                         sparse_y_true=sparse_y_true, sparse_y_pred=sparse_y_pred, axis=axis)

    def get_config(self):
        given = super().get_config()
        given.pop("target_class_ids")
        return given


class _OneHotLabels(metaclass=Named):
    """Takes one-hot labels, so sparse_y_true is not an option."""

    def get_config(self):
        given = super().get_config()
        given.pop("sparse_y_true")
        return given


class OneHotIoU(_OneHotLabels, IoU):
    """Computes IoU for one-hot labels."""

    def __init__(self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None, sparse_y_pred=False, axis=-1):
        super().__init__(num_classes, target_class_ids, name=name, dtype=dtype, ignore_class=ignore_class, sparse_y_true=False,
                         sparse_y_pred=sparse_y_pred, axis=axis)


class OneHotMeanIoU(_OneHotLabels, MeanIoU):
    """Computes MeanIoU for one-hot labels."""

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_pred=False, axis=-1):
        super().__init__(num_classes, name=name, dtype=dtype, ignore_class=ignore_class, sparse_y_true=False,
                         sparse_y_pred=sparse_y_pred, axis=axis)
