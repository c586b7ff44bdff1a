"""tf.profiler: the parameters, float operations, times and bytes of a graph."""
from weft._core.platform.profiler import GraphNodeProto, MultiGraphNodeProto, OpLogProto, ProfileOptionBuilder, Profiler, profile
from weft._core.public import publish as _publish

__all__ = ["GraphNodeProto", "MultiGraphNodeProto", "OpLogProto", "ProfileOptionBuilder", "Profiler", "profile"]
__getattr__ = _publish(__name__)
