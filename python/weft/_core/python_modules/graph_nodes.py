"""tensorflow.python.tools.optimize_for_inference_lib: the names of nodes of a GraphDef."""
import re


def node_name_from_input(node_name):
    """The name of the node that an input comes from: without "^" and ":1"."""
    return re.sub(r":\d+$", "", node_name.removeprefix("^"))


def node_from_map(node_map, name):
    """The node of that name; ValueError if there is none."""
    found = node_map.get(node_name_from_input(name))
    if found is None:
        raise ValueError("No node named '%s' found in map." % name)
    return found


def ensure_graph_is_valid(graph_def):
    """Checks that no two nodes have one name, and that the inputs of all are there."""
    nodes = {}
    for node in graph_def.node:
        if node.name in nodes:
            raise ValueError("Duplicate node names detected for ", node.name)
        nodes[node.name] = node
    for node in graph_def.node:
        for name in node.input:
            if node_name_from_input(name) not in nodes:
                raise ValueError("Input for ", node.name, " not found: ", name)
