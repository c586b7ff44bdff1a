"""tf.graph_util: parts of graphs."""
from weft._core.framework.graph_util import (
    convert_variables_to_constants,
    extract_sub_graph,
    must_run_on_cpu,
    remove_training_nodes,
    tensor_shape_from_node_def_name,
)
from weft._core.framework.importer import import_graph_def
from weft._core.public import publish as _publish

__all__ = [
    "convert_variables_to_constants", "extract_sub_graph", "import_graph_def", "must_run_on_cpu",
    "remove_training_nodes", "tensor_shape_from_node_def_name",
]
__getattr__ = _publish(__name__)
