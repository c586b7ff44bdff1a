"""tf.contrib.cluster_resolver: finds the tasks of a cluster."""
from weft._core.estimator.tpu import TPUClusterResolver
from weft._core.public import publish as _publish

__all__ = ["TPUClusterResolver"]
__getattr__ = _publish(__name__)
