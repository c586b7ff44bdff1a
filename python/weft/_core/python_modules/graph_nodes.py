"""tensorflow.python.tools.optimize_for_inference_lib: functions on the names of nodes in a GraphDef."""
import re


def node_name_from_input(node_name):
    """Returns the name of the node that an input comes from: without "^" and ":1"."""
    return re.sub(r":\d+$", "", node_name.removeprefix("^"))


def node_from_map(node_map, name):
    """Returns the node of that name; ValueError if there is none."""
    found = node_map.get(node_name_from_input(name))
    if found is None:
        raise ValueError("No node named '%s' found in map." % name)
    return found


def ensure_graph_is_valid(graph_def):
    """Checks that node names are unique, and that the inputs of all nodes exist."""
    nodes = {}
    for node in graph_def.node:
        if node.name in nodes:
            raise ValueError("Duplicate node names detected for ", node.name)
        nodes[node.name] = node
    for node in graph_def.node:
        for name in node.input:
            if node_name_from_input(name) not in nodes:
                raise ValueError("Input for ", node.name, " not found: ", name)
