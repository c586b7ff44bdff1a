"""tensorflow.python.tools.strip_unused_lib: extracts the part of a graph between given nodes."""
from weft._core.files.gfile import local
from weft._core.framework import protos, text_format
from weft._core.framework.graph_util import extract_sub_graph


def strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum):
    """Returns the nodes that the outputs need, with placeholders in the place of the inputs.

    Args:
      input_graph_def: the GraphDef.
      input_node_names: the nodes that become placeholders.
      output_node_names: the nodes that are needed.
      placeholder_type_enum: the type of the placeholders, or a list of one for each.
    """
    wanted = set(input_node_names)
    missing = wanted - {n.name for n in input_graph_def.node}
    if missing:
        raise KeyError("The following input nodes were not found: %s." % missing)
    types = placeholder_type_enum if isinstance(placeholder_type_enum, list) else [placeholder_type_enum] * len(input_node_names)
    of = dict(zip(input_node_names, types))
    made = protos.GraphDef()
    for node in input_graph_def.node:
        if node.name not in wanted:
            made.node.add().CopyFrom(node)
            continue
        placeholder = made.node.add(op="Placeholder", name=node.name)
        placeholder.attr["dtype"].type = int(of[node.name])
        if "_output_shapes" in node.attr:
            placeholder.attr["_output_shapes"].CopyFrom(node.attr["_output_shapes"])
        if "shape" in node.attr:
            placeholder.attr["shape"].CopyFrom(node.attr["shape"])
    found = extract_sub_graph(made, output_node_names)
    found.library.CopyFrom(input_graph_def.library)
    found.versions.CopyFrom(input_graph_def.versions)
    return found


def strip_unused_from_files(input_graph, input_binary, output_graph, output_binary, input_node_names, output_node_names,
                            placeholder_type_enum):
    """Applies strip_unused to the graph in a file; the names are separated by commas."""
    from weft._core.python_modules.freeze_graph import _read
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    graph = _read(protos.GraphDef, input_graph, input_binary, "Input graph file")
    made = strip_unused(graph, input_node_names.split(","), output_node_names.split(","), placeholder_type_enum)
    with open(local(output_graph), "wb" if output_binary else "w") as f:
        f.write(made.SerializeToString() if output_binary else text_format.MessageToString(made))
    print("%d ops in the final graph." % len(made.node))
