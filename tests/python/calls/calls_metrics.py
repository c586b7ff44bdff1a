"""tf.metrics beyond the plain ones: at thresholds, at k, and over classes; each value after two batches."""
import numpy as np

from machine import case

LABELS = np.array([[0, 1, 1, 0], [1, 0, 1, 1]], np.int64)
SCORES = np.array([[0.1, 0.8, 0.4, 0.6], [0.9, 0.2, 0.7, 0.3]], np.float32)
OTHER = SCORES[::-1].copy()
WEIGHTS = np.array([[1.0, 2.0, 0.5, 1.0], [1.0, 1.0, 0.0, 3.0]], np.float32)


@case(nodes=False)
def counts_at_thresholds(tf):
    at = [0.25, 0.5, 0.75]
    return [tf.metrics.true_positives_at_thresholds(LABELS, SCORES, at)[1],
            tf.metrics.false_positives_at_thresholds(LABELS, SCORES, at, WEIGHTS)[1],
            tf.metrics.true_negatives_at_thresholds(LABELS, SCORES, at, name="tn")[1],
            tf.metrics.false_negatives_at_thresholds(LABELS, SCORES, thresholds=at, metrics_collections=["m"],
                                                     updates_collections=["u"])[1],
            len(tf.get_collection("m")), len(tf.get_collection("u"))]


@case(nodes=False)
def rates_at_thresholds(tf):
    at = [0.25, 0.5, 0.75]
    return [tf.metrics.precision_at_thresholds(LABELS, SCORES, at)[1], tf.metrics.recall_at_thresholds(LABELS, SCORES,
                                                                                                       at, WEIGHTS)[1],
            tf.metrics.sensitivity_at_specificity(LABELS, SCORES, 0.5)[1],
            tf.metrics.specificity_at_sensitivity(LABELS, SCORES, 0.6, WEIGHTS, num_thresholds=20, name="s")[1]]


@case(nodes=False)
def over_classes(tf):
    labels, predictions = tf.constant([0, 1, 2, 1, 0]), tf.constant([0, 2, 2, 1, 1])
    weights = tf.constant([1.0, 0.5, 1.0, 2.0, 1.0])
    return [tf.metrics.mean_iou(labels, predictions, 3)[1], tf.metrics.mean_iou(labels, predictions, 4, weights, name="iou")[1],
            tf.metrics.mean_per_class_accuracy(labels, predictions, 3)[1],
            tf.metrics.mean_per_class_accuracy(labels, predictions, num_classes=3, weights=weights)[1]]


@case(nodes=False)
def means(tf):
    return [tf.metrics.mean_tensor(SCORES)[1], tf.metrics.mean_tensor(SCORES, WEIGHTS, name="t")[1],
            tf.metrics.percentage_below(SCORES, 0.5)[1],
            tf.metrics.percentage_below(SCORES, threshold=0.5, weights=WEIGHTS)[1],
            tf.metrics.mean_relative_error(SCORES, SCORES + 0.1, SCORES)[1],
            tf.metrics.mean_relative_error(SCORES, SCORES + 0.1, SCORES, WEIGHTS)[1],
            tf.metrics.mean_cosine_distance(SCORES, OTHER, 1)[1],
            tf.metrics.mean_cosine_distance(SCORES, OTHER, dim=1, weights=np.array([[1.0], [3.0]], np.float32))[1]]


@case(nodes=False)
def among_the_first(tf):
    labels = np.array([[1], [3]], np.int64)
    return [tf.metrics.recall_at_k(labels, SCORES, 2)[1], tf.metrics.recall_at_k(labels, SCORES, k=1, class_id=1)[1],
            tf.metrics.precision_at_k(labels, SCORES, 2)[1],
            tf.metrics.precision_at_k(labels, SCORES, k=3, class_id=3)[1],
            tf.metrics.average_precision_at_k(labels, SCORES, 3)[1],
            tf.metrics.sparse_precision_at_k(labels, SCORES, 2)[1],
            tf.metrics.sparse_average_precision_at_k(labels, SCORES, 2, weights=tf.constant([1.0, 2.0]))[1],
            tf.metrics.recall_at_top_k(labels, tf.constant([[1, 0], [0, 2]], tf.int64), k=2)[1],
            tf.metrics.precision_at_top_k(labels, tf.constant([[1, 0], [0, 2]], tf.int64))[1]]
