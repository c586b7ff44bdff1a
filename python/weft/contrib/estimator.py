"""tf.contrib.estimator: hooks that stop a training, added metrics, clipped gradients."""
from weft._core.contrib.estimators import (
    InMemoryEvaluatorHook,
    add_metrics,
    binary_classification_head,
    clip_gradients_by_norm,
    forward_features,
    make_early_stopping_hook,
    multi_class_head,
    read_eval_metrics,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from weft._core.estimator.boosted_trees import boosted_trees_classifier_train_in_memory, boosted_trees_regressor_train_in_memory
from weft._core.public import publish as _publish

__all__ = [
    "InMemoryEvaluatorHook", "add_metrics", "binary_classification_head", "boosted_trees_classifier_train_in_memory",
    "boosted_trees_regressor_train_in_memory", "clip_gradients_by_norm",
    "forward_features", "make_early_stopping_hook", "multi_class_head", "read_eval_metrics", "stop_if_higher_hook",
    "stop_if_lower_hook", "stop_if_no_decrease_hook", "stop_if_no_increase_hook",
]
__getattr__ = _publish(__name__)
