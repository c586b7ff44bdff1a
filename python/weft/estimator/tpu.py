"""tf.estimator.tpu: estimators for TPUs, which run on CPUs and GPUs with use_tpu=False."""
from weft._core.estimator.tpu import InputPipelineConfig, RunConfig, TPUConfig, TPUEstimator, TPUEstimatorSpec
from weft._core.public import publish as _publish

__all__ = ["InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec"]
__getattr__ = _publish(__name__)
