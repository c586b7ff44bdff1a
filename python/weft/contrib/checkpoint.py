"""tf.contrib.checkpoint: objects that checkpoints hold by the names of attributes."""
from weft._core.contrib.checkpoint import (
    Checkpoint,
    Checkpointable,
    CheckpointableBase,
    CheckpointableObjectGraph,
    CheckpointManager,
    List,
    Mapping,
    NoDependency,
    NumpyState,
    PythonStateWrapper,
    UniqueNameTracker,
    capture_dependencies,
    dot_graph_from_checkpoint,
    list_objects,
    object_metadata,
)
from weft._core.public import publish as _publish

TrackableObjectGraph = CheckpointableObjectGraph

__all__ = [
    "Checkpoint", "CheckpointManager", "Checkpointable", "CheckpointableBase", "CheckpointableObjectGraph", "List",
    "Mapping", "NoDependency", "NumpyState", "PythonStateWrapper", "TrackableObjectGraph", "UniqueNameTracker", "capture_dependencies",
    "dot_graph_from_checkpoint", "list_objects", "object_metadata",
]
__getattr__ = _publish(__name__)
