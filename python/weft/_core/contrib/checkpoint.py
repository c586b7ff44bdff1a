"""tf.contrib.checkpoint: containers of trackable objects, which TensorFlow 1 had in addition to tf.train.Checkpoint."""
import contextlib

from weft._core.framework import protos
from weft._core.framework.trackable import (
    AutoTrackable,
    List,
    Mapping,
    NoDependency,
    NumpyState,
    PythonStateWrapper,
    Trackable,
    UniqueNameTracker,
)
from weft._core.train.checkpoint import Checkpoint
from weft._core.train.checkpoint_manager import CheckpointManager
from weft._core.train.object_graph import list_objects, path_names, read_proto
from weft._core.train.saver import load_checkpoint

Checkpointable, CheckpointableBase = AutoTrackable, Trackable
CheckpointableObjectGraph = protos.TrackableObjectGraph

__all__ = ["Checkpoint", "CheckpointManager", "Checkpointable", "CheckpointableBase", "CheckpointableObjectGraph", "List",
           "Mapping", "NoDependency", "NumpyState", "PythonStateWrapper", "UniqueNameTracker", "capture_dependencies",
           "dot_graph_from_checkpoint", "list_objects", "object_metadata"]


def object_metadata(save_path):
    """Returns the object graph of a checkpoint, as a TrackableObjectGraph."""
    found = read_proto(load_checkpoint(save_path))
    if found is None:
        raise ValueError('The specified checkpoint "%s" does not appear to be object-based (saved with '
                         'tf.train.Checkpoint) since it is missing the key "_CHECKPOINTABLE_OBJECT_GRAPH". Likely it was '
                         "created with a name-based saver and does not contain an object dependency graph." % save_path)
    return found


def dot_graph_from_checkpoint(save_path):
    """Returns the object graph of a checkpoint in the language of Graphviz."""
    proto = object_metadata(save_path)
    names, lines = path_names(proto), ["digraph {"]
    for number, node in enumerate(proto.nodes):
        lines.append('  N_%d [label="%s"];' % (number, names.get(number, number) if number else "root"))
        lines += ['  N_%d -> N_%d [label="%s"];' % (number, c.node_id, c.local_name) for c in node.children]
        lines += ['  N_%d -> N_%d [label="%s", style=dotted];' % (s.original_variable_node_id, s.slot_variable_node_id, s.slot_name)
                  for s in node.slot_variables]
    return "\n".join([*lines, "}"]) + "\n"


@contextlib.contextmanager
def capture_dependencies(template):
    """Makes variables that tf.get_variable creates inside children of `template`, named relative to its scope."""
    from weft._core.ops.variable_scope import get_variable_scope, variable_scope

    def remember(getter, name, *args, **kwargs):
        made = getter(name, *args, **kwargs)
        if isinstance(made, Trackable):
            template._track_trackable(made, name[len(start):] if name.startswith(start) else name, overwrite=True)
        return made
    scope = get_variable_scope()
    start = scope.name + "/" if scope.name else ""
    with variable_scope(scope, custom_getter=remember, auxiliary_name_scope=False):
        yield
