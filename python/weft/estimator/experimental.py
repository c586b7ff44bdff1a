"""tf.estimator.experimental: hooks that stop a training or evaluate during it."""
from weft._core.contrib.estimators import (
    InMemoryEvaluatorHook,
    make_early_stopping_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from weft._core.estimator.boosted_trees import boosted_trees_classifier_train_in_memory, boosted_trees_regressor_train_in_memory
from weft._core.estimator.canned import call_logit_fn, dnn_logit_fn_builder, linear_logit_fn_builder
from weft._core.estimator.export import build_raw_supervised_input_receiver_fn
from weft._core.estimator.kmeans import KMeans
from weft._core.estimator.linear_sdca import LinearSDCA
from weft._core.estimator.stopping import make_stop_at_checkpoint_step_hook
from weft._core.public import publish as _publish

__all__ = [
    "InMemoryEvaluatorHook", "KMeans", "LinearSDCA", "boosted_trees_classifier_train_in_memory",
    "boosted_trees_regressor_train_in_memory", "build_raw_supervised_input_receiver_fn", "call_logit_fn",
    "dnn_logit_fn_builder", "linear_logit_fn_builder", "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook", "stop_if_higher_hook", "stop_if_lower_hook", "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]
__getattr__ = _publish(__name__)
