"""tf.distribute.cluster_resolver: where the tasks of a cluster are."""
from weft._core.distribute.cluster_resolver import (
    ClusterResolver,
    GCEClusterResolver,
    KubernetesClusterResolver,
    SimpleClusterResolver,
    SlurmClusterResolver,
    TFConfigClusterResolver,
    TPUClusterResolver,
    UnionResolver,
)
from weft._core.public import publish as _publish

__all__ = [
    "ClusterResolver", "GCEClusterResolver", "KubernetesClusterResolver", "SimpleClusterResolver",
    "SlurmClusterResolver", "TFConfigClusterResolver", "TPUClusterResolver", "UnionResolver",
]
__getattr__ = _publish(__name__)
