"""tf.graph_util: extracts the subgraph that some nodes need, and converts variables to constants."""
from weft._core.framework import dtypes, protos


def _name(text):
    return text.lstrip("^").partition(":")[0]


def extract_sub_graph(graph_def, dest_nodes):
    """Returns the GraphDef of the named nodes and all nodes that they need, in their original order."""
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be an iterable of strings.")
    by_name = {n.name: n for n in graph_def.node}
    for name in dest_nodes:
        if name not in by_name:
            raise AssertionError("%s is not in graph" % name)
    needed, rest = set(), list(dest_nodes)
    while rest:
        name = rest.pop()
        if name not in needed:
            needed.add(name)
            rest += [_name(i) for i in by_name[name].input]
    made = protos.GraphDef.FromString(graph_def.SerializeToString())
    del made.node[:]
    for node in graph_def.node:
        if node.name in needed:
            made.node.add().CopyFrom(node)
    return made


def _constant(name, value, dtype):
    from weft._core.framework.tensor_util import make_tensor_proto
    node = protos.NodeDef(name=name, op="Const")
    node.attr["dtype"].type = dtype
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value, dtype))
    return node


def _handle_types(part, types):
    """Returns the nodes that pass on the handle of a frozen variable, with the type of the variable."""
    types, more = dict(types), True
    while more:
        passed = [n for n in part.node if n.op in ("Switch", "Enter", "Identity") and n.name not in types and
                  _name(n.input[0]) in types and n.attr["T"].type == 20]
        types.update((n.name, types[_name(n.input[0])]) for n in passed)
        more = bool(passed)
    return types


def _read_constant(node, kind):
    """Makes a node that read a handle read the constant instead, and returns the additional constants that it needs."""
    reads = {"ReadVariableOp": "Identity", "ResourceGather": "GatherV2", "ResourceGatherNd": "GatherNd"}
    attrs = {k: node.attr[k].SerializeToString() for k in ("Tindices", "batch_dims") if k in node.attr}
    if node.op not in reads:
        node.attr["T"].type = kind
        return []
    node.op = reads[node.op]
    node.attr.clear()
    if node.op == "Identity":
        node.attr["T"].type = kind
        return []
    node.attr["Tparams"].type = kind
    node.attr["Tindices"].ParseFromString(attrs["Tindices"])
    if node.op == "GatherNd":
        return []
    node.attr["Taxis"].type = 3
    if "batch_dims" in attrs:
        node.attr["batch_dims"].ParseFromString(attrs["batch_dims"])
    controls = [i for i in node.input if i[0] == "^"]
    inputs = [i for i in node.input if i[0] != "^"] + [node.name + "/axis"] + controls
    del node.input[:]
    node.input.extend(inputs)
    return [_constant(node.name + "/axis", 0, 3)]


def convert_variables_to_constants(sess, input_graph_def, output_node_names, variable_names_whitelist=None,
                                   variable_names_blacklist=None):
    """Returns the part of the graph that the outputs need, with variables replaced by constants of their values."""
    from weft._core.platform import logging
    part = extract_sub_graph(input_graph_def, output_node_names)
    kinds = {}
    for node in part.node:
        white = variable_names_whitelist is None or node.name in variable_names_whitelist
        black = variable_names_blacklist is not None and node.name in variable_names_blacklist
        if node.op in ("Variable", "VariableV2", "VarHandleOp") and white and not black:
            kinds[node.name] = node.attr["dtype"].type, node.op == "VarHandleOp"
    names = list(kinds)
    values = sess.run([n + ("/Read/ReadVariableOp:0" if kinds[n][1] else ":0") for n in names]) if names else []
    frozen = {n: _constant(n, v, kinds[n][0]) for n, v in zip(names, values)}
    types = _handle_types(part, {n: kinds[n][0] for n in names if kinds[n][1]})
    made, axes = protos.GraphDef(versions=part.versions, library=part.library), []
    for node in part.node:
        new = made.node.add()
        new.CopyFrom(frozen.get(node.name, node))
        if node.name not in frozen and node.input and _name(node.input[0]) in types:
            axes += _read_constant(new, types[_name(node.input[0])])
    made.node.extend(axes)
    logging.info("Froze %d variables.", len(frozen))
    return made


def remove_training_nodes(input_graph, protected_nodes=None):
    """Returns the graph without CheckNumerics nodes, and without Identity nodes that no other node waits for; the readers of a removed
    node read its input instead.
    """
    keep = set(protected_nodes or ())
    checks = {n.name: n.input[0] for n in input_graph.node if n.op == "CheckNumerics" and n.name not in keep}
    nodes = _without(input_graph.node, checks)
    waited = {i[1:] for n in nodes for i in n.input if i.startswith("^")}
    plain = {n.name: n.input[0] for n in nodes if n.op == "Identity" and n.name not in keep | waited and
             not any(i.startswith("^") for i in n.input)}
    made = protos.GraphDef(node=_without(nodes, plain))
    if input_graph.library.function:
        made.library.CopyFrom(input_graph.library)
    return made


def _without(nodes, removed):
    """Returns the nodes without those in `removed`, {name: input}.  Readers of a removed node get its input; control inputs from it are
    dropped.
    """
    def source(text):
        while _name(text) in removed:
            text = removed[_name(text)]
        return text
    made = []
    for node in nodes:
        if node.name in removed:
            continue
        new = protos.NodeDef()
        new.CopyFrom(node)
        del new.input[:]
        new.input.extend([source(i) for i in node.input if not (i.startswith("^") and i[1:] in removed)])
        made.append(new)
    return made


_ON_CPU = {"Const": ("dtype",), "DynamicStitch": ("T",), "Cast": ("SrcT",)}  # op -> the attributes that decide


def must_run_on_cpu(node, pin_variables_on_cpu=False):
    """Returns whether a node must run on a CPU: nodes with integers or text of shapes, and variables if they are
    pinned.
    """
    found = node if isinstance(node, protos.NodeDef) else node.node_def
    if pin_variables_on_cpu and found.op in ("Variable", "VariableV2"):
        return True
    kinds = (dtypes.int32, dtypes.string) if found.op == "Const" else (dtypes.int32,)
    return any(found.attr[name].type in [k.as_datatype_enum for k in kinds] for name in _ON_CPU.get(found.op, ()))


def tensor_shape_from_node_def_name(graph, input_name):
    """Returns the static shape of a tensor, or of the first output of a node, by name."""
    return graph.get_tensor_by_name(input_name if ":" in input_name else input_name + ":0").get_shape()
