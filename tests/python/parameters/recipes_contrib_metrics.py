"""Recipes of tf.contrib.metrics; tf-slim has them."""
RECIPES = """
tf.contrib.metrics.cohen_kappa(LABELS, IDS, 4) ; weights=[2.0, 1.0, 0.5] ; uses.measured(it)
tf.contrib.metrics.count(X) ; ; uses.measured(it)
tf.contrib.metrics.f1_score(ZERO_ONE, P) ; num_thresholds=5 ; uses.measured(it)
tf.contrib.metrics.sparse_recall_at_top_k(tf.cast(LABELS[:, None], tf.int64), tf.constant([[1, 2], [0, 1], [0, 3]], tf.int64)) ;
    class_id=0, weights=[2.0, 1.0, 0.5] ; uses.measured(it)
tf.contrib.metrics.streaming_concat(X) ; axis=1, max_size=2 ; uses.measured(it)
tf.contrib.metrics.streaming_covariance(P, ZERO_ONE) ; ; uses.measured(it)
tf.contrib.metrics.streaming_pearson_correlation(P, ZERO_ONE) ; ; uses.measured(it)
tf.contrib.metrics.streaming_false_negative_rate(X > 1, ZERO_ONE > 0) ; ; uses.measured(it)
tf.contrib.metrics.streaming_false_positive_rate(X > 0.3, ZERO_ONE > 0) ; ; uses.measured(it)
tf.contrib.metrics.streaming_false_negative_rate_at_thresholds(P, ZERO_ONE > 0, [0.2, 0.6]) ; ; uses.measured(it)
tf.contrib.metrics.streaming_false_positive_rate_at_thresholds(P, ZERO_ONE > 0, [0.2, 0.6]) ; ; uses.measured(it)
tf.contrib.metrics.streaming_false_negatives(X > 1, ZERO_ONE > 0) ; ; uses.measured(it)
tf.contrib.metrics.streaming_false_positives(X > 0.3, ZERO_ONE > 0) ; ; uses.measured(it)
tf.contrib.metrics.streaming_true_negatives(X > 1, ZERO_ONE > 0) ; ; uses.measured(it)
tf.contrib.metrics.streaming_true_positives(X > 0.3, ZERO_ONE > 0) ; ; uses.measured(it)
tf.contrib.metrics.streaming_false_negatives_at_thresholds(P, ZERO_ONE > 0, [0.2, 0.6]) ; ; uses.measured(it)
tf.contrib.metrics.streaming_false_positives_at_thresholds(P, ZERO_ONE > 0, [0.2, 0.6]) ; ; uses.measured(it)
tf.contrib.metrics.streaming_true_negatives_at_thresholds(P, ZERO_ONE > 0, [0.2, 0.6]) ; ; uses.measured(it)
tf.contrib.metrics.streaming_true_positives_at_thresholds(P, ZERO_ONE > 0, [0.2, 0.6]) ; ; uses.measured(it)
tf.contrib.metrics.streaming_precision_at_thresholds(P, ZERO_ONE > 0, [0.2, 0.6]) ; ; uses.measured(it)
tf.contrib.metrics.streaming_recall_at_thresholds(P, ZERO_ONE > 0, [0.2, 0.6]) ; ; uses.measured(it)
tf.contrib.metrics.streaming_mean_cosine_distance(P, ZERO_ONE, 1) ; weights=[[2.0], [1.0], [0.5]] ; uses.measured(it)
tf.contrib.metrics.streaming_mean_iou(LABELS, IDS, 4) ; weights=W[:3] ; uses.measured(it)
tf.contrib.metrics.streaming_mean_relative_error(P, ZERO_ONE, X + 1) ; ; uses.measured(it)
tf.contrib.metrics.streaming_mean_tensor(X) ; ; uses.measured(it)
tf.contrib.metrics.streaming_percentage_less(X, 0.5) ; ; uses.measured(it)
tf.contrib.metrics.streaming_recall_at_k(P, LABELS, 2) ; weights=[2.0, 1.0, 0.5] ; uses.measured(it)
tf.contrib.metrics.streaming_sensitivity_at_specificity(P, ZERO_ONE > 0, 0.5) ; num_thresholds=5 ; uses.measured(it)
tf.contrib.metrics.streaming_specificity_at_sensitivity(P, ZERO_ONE > 0, 0.5) ; num_thresholds=5 ; uses.measured(it)
tf.contrib.metrics.streaming_sparse_average_precision_at_k(P, tf.cast(LABELS[:, None], tf.int64), 2) ; weights=[2.0, 1.0, 0.5] ;
    uses.measured(it)
tf.contrib.metrics.streaming_sparse_precision_at_k(P, tf.cast(LABELS[:, None], tf.int64), 2) ; weights=[2.0, 1.0, 0.5], class_id=1 ;
    uses.measured(it)
tf.contrib.metrics.streaming_sparse_recall_at_k(P, tf.cast(LABELS[:, None], tf.int64), 2) ; weights=[2.0, 1.0, 0.5], class_id=1 ;
    uses.measured(it)
tf.contrib.metrics.streaming_sparse_precision_at_top_k(tf.constant([[1, 2], [0, 1], [0, 3]], tf.int64), tf.cast(LABELS[:, None],
    tf.int64)) ; weights=[2.0, 1.0, 0.5], class_id=0 ; uses.measured(it)
tf.contrib.metrics.set_difference([[1, 2]], [[2, 3]])
tf.contrib.metrics.aggregate_metrics((X, Y), (Y, X))
tf.contrib.metrics.aggregate_metric_map({'a': (X, Y)})
"""
