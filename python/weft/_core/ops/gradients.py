"""tf.gradients, tf.hessians, tf.custom_gradient and clipping."""
import enum
import functools
import inspect
import itertools

from weft._core.framework import errors, library
from weft._core.framework.absent import Named
from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.dtypes import DType
from weft._core.framework.gradient_registry import gradient_of, registry
from weft._core.framework.graph import GraphKeys, IndexedSlices, get_default_graph, name_scope
from weft._core.framework.nest import flatten, pack_like
from weft._core.ops.variables import Variable


class AggregationMethod(metaclass=Named):
    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class UnconnectedGradients(enum.Enum):
    """What tf.gradients returns for an x on which no y depends."""

    NONE = "none"
    ZERO = "zero"


def is_tree(aggregation_method):
    """Returns True if gradients are added in pairs, as a tree; False if one AddN adds them all."""
    if aggregation_method not in (None, 0, 1, 2):
        raise ValueError("Invalid `aggregation_method` specified %s. Accepted values are [0, 1, 2]." % aggregation_method)
    return aggregation_method not in (None, 0)


def _list(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _out(x):
    """Returns the output by which a value is differentiated; for a variable that is its reference, whichever node reads
    it.
    """
    return x._ref()._out if isinstance(x, Variable) else convert_to_tensor(x)._out


def _given(ys, grad_ys):
    """Returns the outputs of grad_ys, with -1 where ones are used, or None if ones are used for all ys."""
    if grad_ys is None:
        grad_ys = [None] * len(ys)
    grad_ys = _list(grad_ys)
    if len(grad_ys) != len(ys):
        raise ValueError("Length mismatch. Passed %d grad_ys for %d ys" % (len(grad_ys), len(ys)))
    made = []
    for i, (y, g) in enumerate(zip(ys, grad_ys)):
        if g is None and y.dtype.is_complex:
            raise TypeError("Gradients of complex tensors (%s) must set grad_ys (y.dtype = %s)" % (y, y.dtype.name))
        given = getattr(g, "dtype", y.dtype)
        if isinstance(given, DType) and given.base_dtype != y.dtype.base_dtype:
            raise TypeError("Gradient type %s generated for tensor %s with type %s must be the same"
                            % (given.name, y, y.dtype.name))
        made.append(-1 if g is None else convert_to_tensor(g, y.dtype.base_dtype, name="grad_y_%d" % i)._out)
    return made if any(g >= 0 for g in made) else None


def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False,
              aggregation_method=None, stop_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
    ys, xs, tree = _list(ys), _list(xs), is_tree(aggregation_method)
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError("Unknown value for unconnected_gradients: %r" % (unconnected_gradients,)) from None
    graph = get_default_graph()
    graph._check_not_finalized()
    start = graph._c.size()
    with name_scope(name, "gradients") as scope:
        ys = [convert_to_tensor(y) for y in ys]
        for y in ys if grad_ys is None else ():
            if y.dtype.base_dtype.name == "string":
                raise TypeError("tf.gradients: %s is a string, which has no gradient" % y.name)
        xs_out, stop = [_out(x) for x in xs], [_out(s) for s in _list([] if stop_gradients is None else stop_gradients)]
        given = _given(ys, grad_ys)
        try:
            with graph._differentiating():
                rows = graph._c.gradients([y._out for y in ys], given, xs_out, stop, scope, bool(colocate_gradients_with_ops),
                                          bool(gate_gradients), tree)
        except errors.InvalidArgumentError as e:
            raise ValueError(e.message) from None
        except errors.UnimplementedError as e:  # TensorFlow raises Python's own exception classes here.
            kind = TypeError if e._facts & errors.Fact.LOOP_GRADIENT else NotImplementedError
            raise kind(e.message) from None
    if graph._jit_scope is not None:
        from weft._core.ops.xla import mark_gradients
        mark_gradients(graph, start, scope)
    made = [gradient_of(graph, row) for row in rows]
    if unconnected is UnconnectedGradients.ZERO:
        from weft._core.ops.array_ops import zeros_like
        made = [zeros_like(x) if d is None else d for x, d in zip(xs, made)]
    return made


def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None):
    """Returns the second derivatives of the sum of ys with respect to each x, of shape x.shape + x.shape."""
    from weft._core.ops import array_ops, control_flow
    from weft._core.ops.functional_ops import TensorArray
    xs = _list(xs)
    how = {"colocate_gradients_with_ops": colocate_gradients_with_ops, "gate_gradients": gate_gradients,
           "aggregation_method": aggregation_method}
    made = []
    for first, x in zip(gradients(ys, xs, **how), xs):
        first = array_ops.reshape(first, [-1])
        n, start = array_ops.size(x), constant(0)
        rows = TensorArray(x.dtype.base_dtype, n)

        def row(j, flow, first=first, x=x, rows=rows):
            return j + 1, rows._with(flow).write(j, gradients(first[j], x)[0]).flow
        _, flow = control_flow.while_loop(lambda j, _, n=n: j < n, row, [start, rows.flow])
        shape = array_ops.shape(x)
        made.append(array_ops.reshape(rows._with(flow).stack(), array_ops.concat((shape, shape), 0)))
    return made


# ---- tf.custom_gradient ----

_numbers = itertools.count(1)


def _is_resource(variable):
    return variable.op.type == "VarHandleOp"


def _variables_of(graph, before, known):
    """Returns the trainable resource variables that nodes added since `before` read.

    Raises TypeError if f made a reference variable.
    """
    new = [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES) if v not in known]
    if any(isinstance(v, Variable) and not _is_resource(v) for v in new):
        raise TypeError("All variables used by a function wrapped with @custom_gradient must be `ResourceVariable`s. "
                        "Ensure that no `variable_scope` is created with `use_resource=False`.")
    read = {t.op for node in range(before, graph._c.size()) for t in graph._operation(node).inputs
            if graph._operation(node).type in ("ReadVariableOp", "ResourceGather", "ResourceGatherNd")}
    return [v for v in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES) if isinstance(v, Variable) and v.op in read]


def _takes_variables(grad_fn):
    arguments = inspect.getfullargspec(grad_fn)
    return "variables" in arguments.args or "variables" in arguments.kwonlyargs or arguments.varkw is not None


def custom_gradient(f=None):
    """Decorates a function f that returns (result, grad_fn); grad_fn maps gradients of the result to those of the
    arguments.
    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        if kwargs:
            raise ValueError("The custom_gradient decorator currently supports keywords arguments only when eager execution "
                             "is enabled.")
        return _with_gradient(f, args)
    return decorated


def _with_gradient(f, args):
    graph = get_default_graph()
    if any(isinstance(a, (list, tuple, dict)) for a in args):
        args = [pack_like(a, [convert_to_tensor(x) for x in flatten(a)]) for a in args]
    else:
        args = [convert_to_tensor(a) for a in flatten(list(args))]
    before, known = graph._c.size(), set(graph.get_collection(GraphKeys.GLOBAL_VARIABLES))
    result, grad_fn = f(*args)
    variables = [v for v in _variables_of(graph, before, known) if not any(v is a for a in flatten(args))]
    if variables and not _takes_variables(grad_fn):
        raise TypeError("@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses "
                        "variables: %s" % variables)
    results = [convert_to_tensor(r) for r in flatten(result)]
    count, name = len(results), "CustomGradient-%d" % next(_numbers)

    def differentiate(_, *grads):
        if variables:
            by_input, by_variable = grad_fn(*grads[:count], variables=variables)
            by_variable = list(by_variable)
            if len(by_variable) != len(variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            by_input, by_variable = grad_fn(*grads[:count]), []
        by_input = flatten(by_input) if isinstance(by_input, (list, tuple)) else [by_input]
        return [None] * count + list(by_input) + by_variable
    registry.register(differentiate, name)
    # Nothing reads these nodes; they are made because TensorFlow makes them, so that the names of later nodes agree.
    for r in results:
        op("Identity", input=r)
    with graph.gradient_override_map({"IdentityN": name}):
        made = op("IdentityN", input=results + flatten(args) + variables)
    return pack_like(result, list(made)[:count])


def grad_pass_through(f):
    """Returns a function that computes f but passes the gradient of the result on as the gradient of the argument."""
    @custom_gradient
    def passed(*args):
        def gradient(*grads, **kwargs):
            variables = kwargs.get("variables")
            by_input = grads[0] if len(grads) == 1 else grads
            return by_input if variables is None else (by_input, [None] * len(variables))
        return f(*args), gradient
    return functools.wraps(f)(passed)


def recompute_grad(f):
    """Returns a function that computes f again for its gradient, so that intermediate values need not be kept in
    memory.
    """
    @custom_gradient
    def recomputed(*args):
        from weft._core.ops.array_ops import identity
        from weft._core.ops.variable_scope import get_variable_scope, variable_scope
        around = get_variable_scope()

        def gradient(*grads, **kwargs):
            variables = kwargs.get("variables")
            with variable_scope(around), get_default_graph().control_dependencies(grads):
                again = [identity(a) for a in args]
                made = flatten(f(*again))
            found = gradients(made, again + list(variables or []), list(grads))
            by_input = found[:len(again)]
            return by_input if variables is None else (by_input, found[len(again):])
        return f(*args), gradient
    return functools.wraps(f)(recomputed)


# ---- clipping ----

def _values(t, name=None):
    """Returns the tensor, or the values of IndexedSlices."""
    return convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name=name)


def _like(t, clipped):
    return IndexedSlices(clipped, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else clipped


def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        x = _values(t, "t")
        made = library.helper("clip_by_value", scope, [x, library.operand(clip_value_min, x), library.operand(clip_value_max, x)])
        x.shape.assert_is_compatible_with(made.shape)  # only the bounds are broadcast
        return _like(t, made)


def clip_by_norm(t, clip_norm, axes=None, name=None):
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        x = _values(t, "t")
        over = [] if axes is None else [library.operand(axes)]
        return _like(t, library.helper("clip_by_norm", scope, [x, library.operand(clip_norm, x), *over]))


def global_norm(t_list, name=None):
    if not isinstance(t_list, (list, tuple)):
        raise TypeError("t_list should be a sequence")
    with name_scope(name, "global_norm", t_list) as scope:
        return library.helper("global_norm", scope, [None if t is None else _values(t) for t in t_list])


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    if not isinstance(t_list, (list, tuple)):
        raise TypeError("t_list should be a sequence")
    use_norm = global_norm(t_list, name) if use_norm is None else convert_to_tensor(use_norm)
    with name_scope(name, "clip_by_global_norm", list(t_list) + [clip_norm]) as scope:
        values = [None if t is None else _values(t) for t in t_list]
        made = library.outputs("clip_by_global_norm", scope, [library.operand(clip_norm, use_norm), use_norm] + values)
    return [None if t is None else _like(t, clipped) for t, clipped in zip(t_list, made)], use_norm


def clip_by_average_norm(t, clip_norm, name=None):
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        return library.helper("clip_by_average_norm", scope, [t, library.operand(clip_norm, t)])
