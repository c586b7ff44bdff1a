"""tf.xla: computations and scopes that TensorFlow gives to its compiler XLA.

Weft has no XLA. It adds TensorFlow's nodes and attributes, so that the GraphDef is the same, and runs the nodes as
any others, which gives the same numbers.
"""
import contextlib

from weft._core.framework import protos
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import Operation, control_dependencies, get_default_graph
from weft._core.framework.nest import flatten, is_nested, pack_like
from weft._core.ops.control_flow import Context, group, no_op


class ClusterContext(Context):
    """The nodes of a compiled computation. They do not wait for nodes outside one by one: the first node does."""

    def __init__(self, graph, name, pivot, outer):
        super().__init__(graph, name, outer)
        self.pivot = pivot._out
        self.inside.add(pivot._id)

    def bring(self, out):
        return out if out >> 16 in self.inside or self.outer is None else self.outer.bring(out)

    def waits(self, outs):
        return [out for out in outs if out >> 16 in self.inside]

    def adapt(self, kind, name, inputs, controls):
        inputs, controls = [self.bring(o) for o in inputs], self.waits(controls)
        if not inputs and not controls and not self.graph._controls:
            controls.append(self.pivot)
        return inputs, controls

    def mark(self):
        """Gives the nodes the name of the computation."""
        value = protos.AttrValue(s=self.name.encode())
        for node in sorted(self.inside - {self.pivot >> 16}):
            self.graph._operation(node)._set_attr("_xla_compile_id", value)


def _around(context):
    """Returns the computation that a context is in, or None."""
    while context is not None and not isinstance(context, ClusterContext):
        context = context.outer
    return context


@contextlib.contextmanager
def _without_summaries(graph):
    """Makes tf.summary return empty strings, because a compiled computation has no summaries."""
    before, graph._skips_summaries = graph._skips_summaries, True
    try:
        yield
    finally:
        graph._skips_summaries = before


@contextlib.contextmanager
def _resource_variables():
    """Makes variables of the current scope resource variables unless they say otherwise."""
    from weft._core.ops.variable_scope import get_variable_scope
    scope = get_variable_scope()
    before = scope.use_resource
    scope.set_use_resource(True)
    try:
        yield
    finally:
        scope.set_use_resource(before)


def compile(computation, inputs=None):
    """Adds the nodes of a computation as a cluster for TensorFlow's compiler XLA, and returns its results.

    Weft runs the cluster as it runs any nodes.  Gradients are taken inside the computation, not of its results.

    Args:
      computation: a function of tensors that returns tensors, then operations to run with them, or a structure of
        tensors.
      inputs: a list of values for its arguments.
    """
    if inputs is not None and not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a list")
    inputs = list(inputs or [])
    flat = [convert_to_tensor(x) for x in flatten(inputs)]
    graph = get_default_graph()
    name = graph.unique_name("cluster")
    pivot = no_op(name=name + "/pivot")
    context = ClusterContext(graph, name, pivot, graph._context)
    with graph.control_dependencies(None), context.entered():
        if _around(context.outer) is not None:
            raise ValueError("XLA compiled computations cannot be nested, (operator name: %s)" % name)
        given = [op("Identity", "input_%d" % i, input=x) for i, x in enumerate(flat)]
        with _resource_variables(), _without_summaries(graph):
            made = computation(*pack_like(inputs, given))
        structure, tensors, operations = _flat_results(made) if _is_flat(made) else _nested_results(made)
    context.mark()
    results = [op("XlaClusterOutput", "output%d" % i, input=t) for i, t in enumerate(tensors)]
    with control_dependencies(operations):
        if not results:
            return group(*operations, name="output_0")
        return pack_like(structure, [op("Identity", "output_%d" % i, input=t) for i, t in enumerate(results)])


def _is_flat(made):
    """Returns whether a result is a single value or a sequence of values."""
    if isinstance(made, dict) or hasattr(made, "_parts"):
        return False
    return not is_nested(made) or not any(is_nested(x) or hasattr(x, "_parts") for x in made)


def _flat_results(made):
    """Returns the structure, the tensors and the operations of a flat result."""
    made = [] if made is None else list(made) if isinstance(made, (list, tuple)) else [made]
    made.append(no_op())
    try:
        done = [x if isinstance(x, Operation) else convert_to_tensor(x) for x in made]
    except (TypeError, ValueError) as e:
        raise ValueError("XLA computation function return values must all either be Operations or convertible to Tensors. Got "
                         'error: "%s"' % e) from None
    operations = [x for x in done if isinstance(x, Operation)]
    tensors = [x for x in done if not isinstance(x, Operation)]
    if any(isinstance(x, Operation) for x in done[:len(tensors)]):
        raise ValueError("XLA computation function must return zero or more Tensor values followed by zero or more Operations.")
    return list(tensors), _passed(tensors), operations


def _nested_results(made):
    """Returns the structure, the tensors and no operations of a result with nests in it."""
    leaves = flatten(made)
    if any(isinstance(x, Operation) for x in leaves):
        raise ValueError("xla.compile does not support Operations as return values in nested structures: return a flat list of tensors "
                         "that ends in the operations")
    try:
        tensors = [convert_to_tensor(x) for x in leaves]
    except (TypeError, ValueError) as e:
        raise ValueError("XLA computation function return values must all either be Operations or convertible to Tensors. Got "
                         'error: "%s"' % e) from None
    return made, _passed(tensors), []


def _passed(tensors):
    """Returns the tensors through a node each, on the device of the tensor."""
    graph, made = get_default_graph(), []
    for t in tensors:
        with graph.device(t.device or ""):
            made.append(op("Identity", input=t))
    return made


# ---- scopes ----

class _Scope:
    """The open scope of a graph: how many there were, and how deep they are nested."""

    count, depth = 0, 0


@contextlib.contextmanager
def jit_scope(compile_ops=True, separate_compiled_gradients=False):
    """Opens a scope whose nodes carry the attributes by which TensorFlow compiles them with XLA.

    Weft runs them as any other nodes.

    Args:
      compile_ops: whether they are to be compiled, or a function of a NodeDef that says so.
      separate_compiled_gradients: whether the nodes of gradients are clusters of their own.
    """
    graph = get_default_graph()
    if graph._jit_scope is None:
        graph._jit_scope = _Scope()
    scope = graph._jit_scope

    def wanted(node_def):
        return protos.AttrValue(b=bool(compile_ops(node_def)))
    attrs = {"_XlaCompile": wanted if callable(compile_ops) else protos.AttrValue(b=bool(compile_ops)),
             "_XlaSeparateCompiledGradients": protos.AttrValue(b=bool(separate_compiled_gradients))}
    if scope.depth == 0:
        attrs["_XlaScope"] = protos.AttrValue(s=b"jit_scope_%d" % scope.count)
        scope.count += 1
    scope.depth += 1
    try:
        with graph._attr_scope(attrs):
            yield
    finally:
        scope.depth -= 1


def mark_gradients(graph, first, scope):
    """Gives nodes of gradients, from `first` on, the attributes of the nodes whose gradients they are."""
    for node in range(first, graph._c.size()):
        operation = graph._operation(node)
        source = operation._original_op
        marks = {} if source is None else source.node_def.attr
        if "_XlaCompile" not in marks or not marks["_XlaCompile"].b:
            continue
        name = marks["_XlaScope"].s
        if marks["_XlaSeparateCompiledGradients"].b:
            name += b"_grad_" + scope.rstrip("/").encode()
        operation._set_attr("_XlaCompile", protos.AttrValue(b=True))
        operation._set_attr("_XlaScope", protos.AttrValue(s=name))
