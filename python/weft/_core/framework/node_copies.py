"""Copies operations of a graph, with other tensors as their inputs: for tf.contrib.graph_editor and for Keras."""
from weft._core.framework import protos
from weft._core.framework.importer import import_graph_def


def _new_names(ops, graph, dst_scope, src_scope):
    taken, names = {op.name for op in graph.get_operations()}, {}
    for op in ops:
        own = op.name[len(src_scope):].lstrip("/") if src_scope and op.name.startswith(src_scope.rstrip("/") + "/") else op.name
        base = "%s/%s" % (dst_scope.rstrip("/"), own) if dst_scope else own
        name, number = base, 0
        while name in taken:
            number += 1
            name = "%s_%d" % (base, number)
        taken.add(name)
        names[op.name] = name
    return names


def copy_operations(ops, replacements, graph, dst_scope, src_scope, reuse):
    """Copies operations into a graph; tensors from outside are replaced, or used unchanged.

    Args:
      ops: the operations, all of one graph.
      replacements: {tensor: the tensor that the copies take in its place}.
      graph: the graph of the copies.
      dst_scope: the name scope of the copies, or "".
      src_scope: a scope that the names of the copies leave out, or "".
      reuse: whether dst_scope may be there; without it a scope that is there gets a number.

    Returns:
      {operation: its copy}.
    """
    dst_scope = dst_scope if reuse or not dst_scope else graph.unique_name(dst_scope)
    names, made, inputs, waits = _new_names(ops, graph, dst_scope, src_scope), protos.GraphDef(), {}, []
    for op in ops:
        node = made.node.add()
        node.CopyFrom(op.node_def)
        node.name = names[op.name]
        wanted = []
        for t in op.inputs:
            if t in replacements or t.op.name not in names:
                key = "outside_%d_%d" % (graph._c.size(), len(inputs))
                inputs[key] = replacements.get(t, t)
                wanted.append(key)
            else:
                wanted.append("%s:%d" % (names[t.op.name], t.value_index))
        inner = [c for c in op.control_inputs if c.name in names]
        waits += [(names[op.name], c) for c in op.control_inputs if c.name not in names]
        node.input[:] = wanted + ["^" + names[c.name] for c in inner]
        _colocate(node, names)
    with graph.as_default(), graph.control_dependencies(None):
        import_graph_def(made, {k + ":0": v for k, v in inputs.items()}, name="")
    for name, op in waits:
        if op.graph is graph:
            graph.get_operation_by_name(name)._add_control_input(op)
    return {op: graph.get_operation_by_name(names[op.name]) for op in ops}


def _colocate(node, names):
    """Colocates a copy with copies; it is not colocated with nodes outside, which an import does not know."""
    if "_class" in node.attr:
        rows = [c.decode()[5:] for c in node.attr["_class"].list.s]
        inside = [("loc:@" + names[c]).encode() for c in rows if c in names]
        node.attr["_class"].list.s[:] = inside
        if not inside:
            del node.attr["_class"]
