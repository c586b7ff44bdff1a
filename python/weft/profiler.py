"""tf.profiler: the parameters, float operations, times and bytes of a graph."""
from weft._core.platform.advice import advise
from weft._core.platform.op_log import write_op_log
from weft._core.platform.profiler import (
    AdviceProto,
    GraphNodeProto,
    MultiGraphNodeProto,
    OpLogProto,
    ProfileOptionBuilder,
    Profiler,
    profile,
)
from weft._core.public import publish as _publish

__all__ = [
    "AdviceProto", "GraphNodeProto", "MultiGraphNodeProto", "OpLogProto", "ProfileOptionBuilder", "Profiler", "advise",
    "profile", "write_op_log",
]
__getattr__ = _publish(__name__)
