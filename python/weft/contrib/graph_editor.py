"""tf.contrib.graph_editor: walks through a graph, and copies of parts of it."""
from weft._core.contrib.graph_editor import (
    SubGraphView,
    TransformerInfo,
    add_control_inputs,
    copy,
    copy_with_input_replacements,
    filter_ops,
    filter_ops_from_regex,
    filter_ts,
    filter_ts_from_regex,
    get_backward_walk_ops,
    get_consuming_ops,
    get_forward_walk_ops,
    get_generating_ops,
    get_tensors,
    get_walks_intersection_ops,
    get_within_boundary_ops,
    graph_replace,
    make_list_of_op,
    make_list_of_t,
    make_placeholder_from_dtype_and_shape,
    make_placeholder_from_tensor,
    make_view,
    make_view_from_scope,
    ph,
    reroute_ts,
    select_ops,
    select_ts,
    sgv,
    sgv_scope,
    swap_ts,
)
from weft._core.public import publish as _publish

__all__ = [
    "SubGraphView", "TransformerInfo", "add_control_inputs", "copy", "copy_with_input_replacements", "filter_ops",
    "filter_ops_from_regex", "filter_ts", "filter_ts_from_regex", "get_backward_walk_ops", "get_consuming_ops",
    "get_forward_walk_ops", "get_generating_ops", "get_tensors", "get_walks_intersection_ops",
    "get_within_boundary_ops", "graph_replace", "make_list_of_op", "make_list_of_t",
    "make_placeholder_from_dtype_and_shape", "make_placeholder_from_tensor", "make_view", "make_view_from_scope",
    "ph", "reroute_ts", "select_ops", "select_ts", "sgv", "sgv_scope", "swap_ts",
]
__getattr__ = _publish(__name__)
