"""tf.contrib.tpu: estimators for TPUs, which run on CPUs and GPUs with use_tpu=False."""
from weft._core.estimator.tpu import (
    CrossShardOptimizer,
    InputPipelineConfig,
    RunConfig,
    TPUConfig,
    TPUEstimator,
    TPUEstimatorSpec,
    initialize_system,
    shutdown_system,
)
from weft._core.public import publish as _publish

__all__ = [
    "CrossShardOptimizer", "InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec",
    "initialize_system", "shutdown_system",
]
__getattr__ = _publish(__name__)
