"""tf.contrib.learn.utils: exports of models."""
from weft._core.contrib.learn_models import make_export_strategy
from weft._core.estimator.export import build_parsing_serving_input_receiver_fn as build_parsing_serving_input_fn
from weft._core.public import publish as _publish

__all__ = ["build_parsing_serving_input_fn", "make_export_strategy"]
__getattr__ = _publish(__name__)
