"""tf.import_graph_def: adds the nodes of a GraphDef to the graph, and replaces inputs by an input_map."""
from weft._core.framework import protos
from weft._core.framework.errors import InvalidArgumentError
from weft._core.framework.graph import Tensor, get_default_graph


def _key(name):
    """Converts a name to the key of an output: a -> a:0, a:1 -> a:1, ^a -> ^a."""
    name = name if isinstance(name, str) else name.decode()
    return name if name.startswith("^") or ":" in name else name + ":0"


def _node(key):
    return key.lstrip("^").partition(":")[0]


def _with_stand_ins(graph_def, input_map):
    """Returns a copy of the definition with a placeholder for each node in input_map that it references but does not
    define.
    """
    have, made = {n.name for n in graph_def.node}, protos.GraphDef.FromString(graph_def.SerializeToString())
    for key, tensor in input_map.items():
        if _node(key) in have or key.startswith("^"):
            continue
        node = made.node.add(name=_node(key), op="Placeholder")
        node.attr["dtype"].type = tensor.dtype.base_dtype.as_datatype_enum
        have.add(node.name)
    return made


def with_free_names(graph, graph_def, prefix=None):
    """Returns the definition and the new names of its nodes.

    A name that the graph already has under the prefix gets a suffix.
    """
    start = prefix + "/" if prefix else ""
    there = {name[len(start):] for name in (graph._c.node(i)[0] for i in range(graph._c.size())) if name.startswith(start)}
    have, renamed = {n.name for n in graph_def.node} | there, {}
    for name in [n.name for n in graph_def.node if n.name in there]:
        count = 1
        while "%s_%d" % (name, count) in have:
            count += 1
        renamed[name] = "%s_%d" % (name, count)
        have.add(renamed[name])
    if not renamed:
        return graph_def, renamed
    made = protos.GraphDef.FromString(graph_def.SerializeToString())
    for node in made.node:
        node.name = renamed.get(node.name, node.name)
        for i, given in enumerate(node.input):
            caret, name = given[:given.startswith("^")], given.lstrip("^")
            name, colon, slot = name.partition(":")
            node.input[i] = caret + renamed.get(name, name) + colon + slot
        if "_class" in node.attr:
            rows = [c.decode() for c in node.attr["_class"].list.s]
            node.attr["_class"].list.s[:] = [("loc:@" + renamed.get(c[5:], c[5:])).encode() for c in rows]
    return made, renamed


class ImportedNames:
    """Maps the names of nodes in a definition to their names in the graph."""

    def __init__(self, prefix, renamed):
        self.start, self.renamed = prefix + "/" if prefix else "", renamed

    def full(self, element):
        node, colon, slot = element.partition(":")
        return self.start + self.renamed.get(node, node) + colon + slot


def rewire(graph, first, names, input_map, have):
    """Replaces the inputs in input_map for nodes from `first` on.

    Raises ValueError for a key that is no node of `have` and no input.
    """
    used = _rewired(graph, first, names, input_map)
    unused = [k for k in input_map if k not in used and _node(k) not in have]
    if unused:
        raise ValueError("Attempted to map inputs that were not found in graph_def: [%s]" % ", ".join(sorted(unused)))


def _rewired(graph, first, names, input_map):
    """Replaces the inputs in input_map for nodes from `first` on, and returns the keys that were used."""
    at = {}
    for key, tensor in input_map.items():
        at[graph.as_graph_element(names.full(key))._out] = key, tensor
    used = set()
    for number in range(first, graph._c.size()):
        for i, out in enumerate(graph._c.inputs(number)):
            if out in at:
                key, tensor = at[out]
                _check_type(graph, number, i, graph._tensor(out), tensor)
                graph._set_input(number, i, tensor._out)
                used.add(key)
    return used


def _check_type(graph, number, i, old, new):
    if old.dtype.base_dtype != new.dtype.base_dtype:
        raise ValueError("Input %d of node %s was passed %s from %s incompatible with expected %s." % (
            i, graph._operation(number).name, new.dtype.base_dtype.name, new.name, old.dtype.base_dtype.name))


def _check_returned(have, element):
    if not isinstance(element, str):
        raise TypeError("Argument `return_elements` must be a list of strings. Obtained: %r" % (element,))
    if _node(element) not in have:
        kind = "tensor" if ":" in element else "node"
        raise ValueError("Requested return %s '%s' not found in graph def" % (kind, element))


def _returned(graph, names, element):
    try:
        return graph.as_graph_element(names.full(element))
    except KeyError as e:
        raise ValueError(str(e)) from None


def import_graph_def(graph_def, input_map=None, return_elements=None, name=None, op_dict=None, producer_op_list=None):
    """Adds the nodes of a GraphDef to the default graph, under name (default "import")."""
    from weft._core.framework.build import convert_to_tensor
    graph = get_default_graph()
    graph._check_not_finalized()
    if not isinstance(graph_def, protos.GraphDef):
        raise TypeError("Argument `graph_def` must be a GraphDef proto. Received: %s." % type(graph_def).__name__)
    if input_map is not None and not (isinstance(input_map, dict) and all(isinstance(k, (str, bytes)) for k in input_map)):
        raise TypeError("Argument `input_map` must be a dictionary. Obtained %s" % type(input_map).__name__)
    mapped = {_key(k): v if isinstance(v, Tensor) else convert_to_tensor(v) for k, v in (input_map or {}).items()}
    have = {n.name for n in graph_def.node}
    for element in return_elements or ():
        _check_returned(have, element)
    # The name is an existing scope, so no new one is opened.
    whole = name is not None and (name == "" or name.endswith("/"))
    prefix = name[:-1] or None if whole else graph.unique_name("import" if name is None else name)
    first = graph._c.size()
    made, renamed = with_free_names(graph, _with_stand_ins(graph_def, mapped) if mapped else graph_def, prefix)
    try:
        graph._c.import_graph(made.SerializeToString(), prefix)
    except InvalidArgumentError as e:
        raise ValueError(e.message) from None
    names = ImportedNames(prefix, renamed)
    if mapped:
        rewire(graph, first, names, mapped, have)
    if graph._context is not None:
        graph._context.imported(range(first, graph._c.size()))
    if return_elements is not None:
        return [_returned(graph, names, e) for e in return_elements]
    return None
