"""CondContextDef and WhileContextDef: the messages that describe conditions and loops in a meta graph.

TensorFlow needs them to differentiate an imported graph. Weft differentiates by the nodes alone. It reads the messages
so that op._get_control_flow_context() and a later export return what the file holds.

TensorFlow needs them to differentiate the graph after it was imported.  Weft differentiates by the nodes alone, and
reads them so that op._get_control_flow_context() and another export show what the file has.
"""
from weft._core.framework import protos_rare
from weft._core.ops.control_flow import CondContext, WhileContext
from weft._core.train.meta_graph import in_scope, strip_scope


class _Names:
    """Maps the outputs of a graph to their names when a scope is exported."""

    def __init__(self, graph, scope):
        self.graph, self.scope = graph, scope

    def of(self, out):
        return strip_scope(self.graph._tensor(out).name, self.scope)


def context_def(context, scope=None):
    """Returns the message of a context, or None if the context is of another scope."""
    if not in_scope(context.name, scope):
        return None
    names = _Names(context.graph, scope)
    made = _cond_def(context, names) if isinstance(context, CondContext) else _while_def(context, names)
    made.context_name = strip_scope(context.name, scope)
    _fill_values(made.values_def, context, names)
    for inner in context.nested:
        nested = context_def(inner, scope)
        if nested is not None:
            field = "cond_ctxt" if isinstance(inner, CondContext) else "while_ctxt"
            getattr(made.nested_contexts.add(), field).CopyFrom(nested)
    return made


def _cond_def(context, names):
    return protos_rare.CondContextDef(pred_name=names.of(context.pred), pivot_name=names.of(context.pivot), branch=context.branch)


def _while_def(context, names):
    made = protos_rare.WhileContextDef(
        parallel_iterations=context.parallel, back_prop=context.back_prop, swap_memory=context.swap_memory,
        pivot_name=names.of(context.going), pivot_for_pred_name=names.of(context.pivot_for_pred),
        pivot_for_body_name=names.of(context.pivot))
    made.loop_exit_names.extend(names.of(o) for o in context.exits)
    made.loop_enter_names.extend(names.of(o) for o in context.enters)
    if context.limit is not None:
        made.maximum_iterations_name = names.of(context.limit)
    return made


def _loops_in(context):
    """Returns the nodes of the loops nested in a context, which do not count as its own."""
    found = set()
    for inner in context.nested:
        found |= inner.inside if isinstance(inner, WhileContext) else _loops_in(inner)
    return found


def _fill_values(made, context, names):
    """Fills in the outputs that nodes in a context may read, and which output replaces each one from outside."""
    external = {out: at for out, at in context.brought.items() if out != at}
    if isinstance(context, CondContext):
        external[context.pred] = context.pred
        if context.outer is not None:  # An output that the surrounding context has brought in is known here too.
            external.update((at, at) for at in map(context.outer.brought.get, context.brought) if at is not None)
    own, size = context.inside - _loops_in(context), context.graph._c.size()
    values = {names.of(t._out) for i in own if i < size for t in context.graph._operation(i).outputs}
    if isinstance(context, WhileContext):
        values.update(names.of(out) for out in context.exits)
    made.values.extend(sorted(values | {names.of(out) for out in external}))
    for out, at in external.items():
        made.external_values[names.of(out)] = names.of(at)


# ---- from messages ----

def read_context(graph, key, data):
    """Returns the context that an item of the collection "cond_context" or "while_context" describes."""
    kind = protos_rare.CondContextDef if key == "cond_context" else protos_rare.WhileContextDef
    return _context_of(graph, kind.FromString(data), None)


def _has(graph, name):
    """Returns whether an output is in the graph; one from outside an exported scope is not."""
    try:
        return graph.as_graph_element(name) is not None
    except (KeyError, ValueError):
        return False


def _context_of(graph, message, outer):
    def out_of(name):
        return graph.as_graph_element(name)._out

    if isinstance(message, protos_rare.CondContextDef):
        context = CondContext(graph, graph.as_graph_element(message.pred_name), graph.as_graph_element(message.pivot_name),
                              message.branch, message.context_name, outer)
    else:
        context = WhileContext(graph, message.context_name, message.parallel_iterations, outer)
        context.back_prop, context.swap_memory = message.back_prop, message.swap_memory
        context.going, context.pivot = out_of(message.pivot_name), out_of(message.pivot_for_body_name)
        context.pivot_for_pred = out_of(message.pivot_for_pred_name)
        context.exits = [out_of(n) for n in message.loop_exit_names]
        context.enters = [out_of(n) for n in message.loop_enter_names]
        context.limit = out_of(message.maximum_iterations_name) if message.maximum_iterations_name else None
    external = message.values_def.external_values
    context.brought = {out_of(k): out_of(external[k]) for k in external if _has(graph, k)}
    for name in message.values_def.values:
        if name not in external:
            operation = graph.as_graph_element(name).op
            operation._context = context
            context.inside.add(operation._id)
    for nested in message.nested_contexts:
        _context_of(graph, nested.cond_ctxt if nested.HasField("cond_ctxt") else nested.while_ctxt, context)
    return context
