"""tf.import_graph_def: adds the nodes of a GraphDef to the graph, and replaces inputs by an input_map."""
from weft._core.framework import protos
from weft._core.framework.errors import InvalidArgumentError
from weft._core.framework.graph import Operation, Tensor, get_default_graph, name_scope
from weft._core.framework.library import outs


def _key(name):
    """Converts a name to the key of an output: a -> a:0, a:1 -> a:1, ^a -> ^a."""
    name = name if isinstance(name, str) else name.decode()
    return name if name.startswith("^") or ":" in name else name + ":0"


def _node(key):
    return key.lstrip("^").partition(":")[0]


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


class InputMap:
    """The replaced inputs of an import: keys such as a:1 and ^a, and the outputs that are read instead."""

    def __init__(self, graph, graph_def, mapped):
        self.mapped = mapped
        self._have = {n.name for n in graph_def.node}
        read = {_key(i) for n in graph_def.node for i in n.input} if mapped else ()
        self.used = [k for k in mapped if k in read]
        self.unused = [k for k in mapped if k not in read]
        self._outs = dict(zip(self.used, outs(graph, [mapped[k] for k in self.used])))

    def rows(self, renamed):
        """Returns the names and the outputs, as the library takes them."""
        names = []
        for key in self.used:
            caret, node = key[:key.startswith("^")], _node(key)
            names.append(caret + renamed.get(node, node) + key[len(caret) + len(node):])
        return tuple(names), tuple(self._outs[k] for k in self.used)

    def check_unused(self, graph, names):
        """Raises ValueError for keys that are no outputs of the definition and no inputs of its nodes; as in TensorFlow, the nodes
        are in the graph then.
        """
        missing = [k for k in self.unused if _node(k) not in self._have or (k[0] != "^" and graph._c.find(names.full(k)) < 0)]
        if missing:
            raise ValueError("Attempted to map inputs that were not found in graph_def: [%s]" % ", ".join(sorted(missing)))


def _check_returned(have, element):
    if not isinstance(element, str):
        raise TypeError("Argument `return_elements` must be a list of strings. Obtained: %r" % (element,))
    if _node(element) not in have:
        kind = "tensor" if ":" in element else "node"
        raise ValueError("Requested return %s '%s' not found in graph def" % (kind, element))


def _returned(graph, names, mapped, element):
    """Returns an element by its name in the definition; a tensor of the input map is the one that replaces it."""
    if ":" in element and element in mapped:
        return mapped[element]
    try:
        return graph.as_graph_element(names.full(element))
    except KeyError:
        node, _, slot = element.partition(":")
        raise ValueError("Invalid return output %s of node '%s', which has %d output(s)" % (
            slot, node, len(graph.get_operation_by_name(names.full(node)).outputs))) from None


def _converted(input_map, prefix):
    """Returns the input map with keys such as a:0 and ^a, and with tensors, made in the scope _inputs."""
    from weft._core.framework.build import convert_to_tensor
    if all(isinstance(v, (Tensor, Operation)) for v in input_map.values()):
        made = input_map
    elif not prefix:
        raise ValueError("tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor values. Try "
                         "calling tf.convert_to_tensor() on `input_map` values before calling tf.import_graph_def().")
    else:
        with name_scope(prefix + "/"), name_scope("_inputs"):
            made = {k: v if isinstance(v, Operation) else convert_to_tensor(v) for k, v in input_map.items()}
    return {_key(k): v for k, v in made.items()}


def import_graph_def(graph_def, input_map=None, return_elements=None, name=None, op_dict=None, producer_op_list=None):
    """Adds the nodes of a GraphDef to the default graph, under name (default "import")."""
    graph = get_default_graph()
    graph._check_not_finalized()
    if not isinstance(graph_def, protos.GraphDef):
        raise TypeError("Argument `graph_def` must be a GraphDef proto. Received: %s." % type(graph_def).__name__)
    if input_map is not None and not (isinstance(input_map, dict) and all(isinstance(k, (str, bytes)) for k in input_map)):
        raise TypeError("Argument `input_map` must be a dictionary. Obtained %s" % type(input_map).__name__)
    have = {n.name for n in graph_def.node}
    for element in return_elements or ():
        _check_returned(have, element)
    # The name is an existing scope, so no new one is opened.
    whole = name is not None and (name == "" or name.endswith("/"))
    prefix = name[:-1] or None if whole else graph.unique_name("import" if name is None else name)
    mapped = _converted(input_map or {}, prefix)
    replaced = InputMap(graph, graph_def, mapped)
    first = graph._c.size()
    made, renamed = with_free_names(graph, graph_def, prefix)
    try:
        graph._c.import_graph(made.SerializeToString(), prefix, *replaced.rows(renamed))
    except InvalidArgumentError as e:
        raise ValueError(e.message) from None
    names = ImportedNames(prefix, renamed)
    replaced.check_unused(graph, names)
    if graph._context is not None:
        graph._context.imported(range(first, graph._c.size()))
    if return_elements is not None:
        return [_returned(graph, names, mapped, e) for e in return_elements]
    return None
