"""tf.contrib.graph_editor: traverses a graph, copies parts of it, and reroutes inputs of nodes."""
import collections.abc
import re

import weft as tf
from weft._core.framework.absent import Named
from weft._core.framework.graph import Graph, Operation, Tensor, get_default_graph
from weft._core.framework.node_copies import copy_operations

# ---- lists of ops and tensors ----

def _flat(given):
    if isinstance(given, (Operation, Tensor)):
        yield given
    elif isinstance(given, SubGraphView):
        yield from given.ops
    elif isinstance(given, Graph):
        yield from given.get_operations()
    elif isinstance(given, dict):
        for value in given.values():
            yield from _flat(value)
    elif isinstance(given, collections.abc.Iterable) and not isinstance(given, (str, bytes)):
        for part in given:
            yield from _flat(part)
    elif hasattr(given, "op"):  # a variable
        yield tf.convert_to_tensor(given)
    else:
        raise TypeError("tf.contrib.graph_editor: %r is no operation, tensor or graph" % (given,))


def make_list_of_op(ops, check_graph=True, allow_graph=True, ignore_ts=False):
    """Returns the operations of a nest.

    Args:
      ops: operations in lists, dicts or views, or a graph.
      check_graph: whether all must be of one graph.
      allow_graph: whether a graph stands for all its operations.
      ignore_ts: whether tensors are left out; without it they are an error.
    """
    if isinstance(ops, Graph) and not allow_graph:
        raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
    found = list(_flat(ops))
    if not ignore_ts and any(isinstance(o, Tensor) for o in found):
        raise TypeError("expected tf.Operation, got: %s (ignore_ts=True leaves tensors out)" % next(
            o.name for o in found if isinstance(o, Tensor)))
    found = [o for o in found if isinstance(o, Operation)]
    if check_graph and len({o.graph for o in found}) > 1:
        raise ValueError("the operations are of several graphs (check_graph=False allows it)")
    return found


def make_list_of_t(ts, check_graph=True, allow_graph=True, ignore_ops=False):
    """Returns the tensors of a nest.

    Args:
      ts: tensors in lists or dicts, or a graph.
      check_graph: whether all must be of one graph.
      allow_graph: whether a graph stands for all its tensors.
      ignore_ops: whether operations are left out; without it they are an error.
    """
    if isinstance(ts, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return get_tensors(ts)
    found = list(_flat(ts))
    if not ignore_ops and any(isinstance(t, Operation) for t in found):
        raise TypeError("expected tf.Tensor, got: %s (ignore_ops=True leaves operations out)" % next(
            t.name for t in found if isinstance(t, Operation)))
    found = [t for t in found if isinstance(t, Tensor)]
    if check_graph and len({t.graph for t in found}) > 1:
        raise ValueError("the tensors are of several graphs (check_graph=False allows it)")
    return found


def get_tensors(graph):
    """Returns all tensors of a graph."""
    return [t for op in graph.get_operations() for t in op.outputs]


def get_generating_ops(ts):
    """Returns the operations that make tensors."""
    return list(dict.fromkeys(t.op for t in make_list_of_t(ts)))


def get_consuming_ops(ts):
    """Returns the operations that take tensors."""
    return list(dict.fromkeys(op for t in make_list_of_t(ts) for op in t.consumers()))


# ---- graph walks ----

def _walk(seed_ops, inclusive, within_ops, within_ops_fn, stop_at_ts, after, forward):
    """Returns the operations that can be reached; `after(op, stop)` returns the neighbors of one."""
    seeds, found = list(_flat(seed_ops)), []
    if seeds and isinstance(seeds[0], Tensor):
        seeds = get_consuming_ops(seeds) if forward else get_generating_ops(seeds)
    within = None if within_ops is None else set(make_list_of_op(within_ops, allow_graph=False))
    stop, seen, rest = set(make_list_of_t(stop_at_ts)), set(seeds), list(dict.fromkeys(seeds))
    while rest:
        op = rest.pop(0)
        if (within is not None and op not in within) or (within_ops_fn is not None and not within_ops_fn(op)):
            continue
        found.append(op)
        for other in after(op, stop):
            if other not in seen:
                seen.add(other)
                rest.append(other)
    return found if inclusive else [op for op in found if op not in set(seeds)]


def get_forward_walk_ops(seed_ops, inclusive=True, within_ops=None, within_ops_fn=None, stop_at_ts=(), control_outputs=None):
    """Returns the operations that need the seeds.

    Args:
      seed_ops: operations, or tensors whose consumers are meant.
      inclusive: whether the seeds are among them.
      within_ops: operations that the walk does not leave.
      within_ops_fn: a function that says whether the walk may enter an operation.
      stop_at_ts: tensors that the walk does not pass.
      control_outputs: a dict of the operations that wait for an operation, or True for those of the graph.
    """
    def after(op, stop):
        near = [c for t in op.outputs if t not in stop for c in t.consumers()]
        if control_outputs:
            near += [o for o in op.graph.get_operations() if op in o.control_inputs] if control_outputs is True else \
                list(control_outputs.get(op, ()))
        return near
    return _walk(seed_ops, inclusive, within_ops, within_ops_fn, stop_at_ts, after, True)


def get_backward_walk_ops(seed_ops, inclusive=True, within_ops=None, within_ops_fn=None, stop_at_ts=(), control_inputs=False):
    """Returns the operations that the seeds need.

    Args:
      seed_ops: operations, or tensors whose makers are meant.
      inclusive: whether the seeds are among them.
      within_ops: operations that the walk does not leave.
      within_ops_fn: a function that says whether the walk may enter an operation.
      stop_at_ts: tensors that the walk does not pass.
      control_inputs: whether the walk follows control inputs, too.
    """
    def after(op, stop):
        return [t.op for t in op.inputs if t not in stop] + (list(op.control_inputs) if control_inputs else [])
    return _walk(seed_ops, inclusive, within_ops, within_ops_fn, stop_at_ts, after, False)


def get_walks_intersection_ops(forward_seed_ops, backward_seed_ops, forward_inclusive=True, backward_inclusive=True,
                               within_ops=None, within_ops_fn=None, control_inputs=False, control_outputs=None):
    """Returns the operations between two lists of seeds."""
    first = get_forward_walk_ops(forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, control_outputs=control_outputs)
    second = set(get_backward_walk_ops(backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, control_inputs=control_inputs))
    return [op for op in first if op in second]


def get_within_boundary_ops(ops, seed_ops, boundary_ops=(), inclusive=True, control_inputs=False, control_outputs=None):
    """Returns the operations among `ops` that the seeds reach both ways without passing the boundary."""
    bounds, near = set(make_list_of_op(boundary_ops)), []
    ops = [op for op in make_list_of_op(ops) if inclusive or op not in bounds]
    for walk, more in ((get_backward_walk_ops, dict(control_inputs=control_inputs)),
                       (get_forward_walk_ops, dict(control_outputs=control_outputs))):
        near += walk(seed_ops, within_ops=ops, within_ops_fn=lambda op: op not in bounds, **more)
    return list(dict.fromkeys(near + [op for op in ops if inclusive and op in bounds]))


# ---- selection ----

def filter_ops(ops, positive_filter):
    """Returns the operations for which a function is true; positive_filter True selects all."""
    return [op for op in make_list_of_op(ops) if positive_filter is True or positive_filter(op)]


def filter_ops_from_regex(ops, regex):
    """Returns the operations whose names a regular expression finds."""
    return filter_ops(ops, lambda op: re.search(regex, op.name))


def filter_ts(ops, positive_filter):
    """Returns the tensors of operations for which a function is true; positive_filter True selects all."""
    return [t for op in make_list_of_op(ops) for t in op.outputs if positive_filter is True or positive_filter(t)]


def filter_ts_from_regex(ops, regex):
    """Returns the tensors of operations whose names a regular expression finds."""
    return filter_ts(ops, lambda t: re.search(regex, t.op.name))


def _chosen(args, graph, every):
    found = []
    for arg in args:
        if isinstance(arg, (str, re.Pattern)):
            graph = graph or get_default_graph()
            found += [x for x in every(graph) if re.search(arg, x.name)]
        else:
            found += list(_flat(arg))
    return list(dict.fromkeys(found))


def select_ops(*args, graph=None):
    """Returns operations, including those whose names match regular expressions."""
    return [x for x in _chosen(args, graph, lambda g: g.get_operations()) if isinstance(x, Operation)]


def select_ts(*args, graph=None):
    """Returns tensors, including those whose names match regular expressions."""
    return [x for x in _chosen(args, graph, get_tensors) if isinstance(x, Tensor)]


# ---- views ----

class SubGraphView(metaclass=Named):
    """A part of a graph: its operations, the tensors that enter it and those that leave it."""

    def __init__(self, inside_ops=(), passthrough_ts=()):
        self._ops = make_list_of_op(inside_ops)
        inside, through = set(self._ops), make_list_of_t(passthrough_ts)
        self._inputs = list(dict.fromkeys([t for op in self._ops for t in op.inputs if t.op not in inside] + through))
        outs = [t for op in self._ops for t in op.outputs if not t.consumers() or any(c not in inside for c in t.consumers())]
        self._outputs = list(dict.fromkeys(outs + through))

    ops = property(lambda self: list(self._ops))
    inputs = property(lambda self: list(self._inputs))
    outputs = property(lambda self: list(self._outputs))
    graph = property(lambda self: self._ops[0].graph if self._ops else None)

    def __len__(self):
        return len(self._ops)

    def __bool__(self):
        return bool(self._ops)


def make_view(*args, graph=None):
    """Returns a view of operations, of tensors that pass through, and of operations whose names regular expressions
    find.
    """
    found = _chosen(args, graph, lambda g: g.get_operations())
    return SubGraphView([x for x in found if isinstance(x, Operation)], [x for x in found if isinstance(x, Tensor)])


sgv = make_view


def make_view_from_scope(scope, graph):
    """Returns a view of the operations below a name scope."""
    prefix = scope.rstrip("/") + "/"
    return SubGraphView([op for op in graph.get_operations() if op.name.startswith(prefix)])


sgv_scope = make_view_from_scope


# ---- copies ----

class TransformerInfo(metaclass=Named):
    """Maps operations and tensors to their copies."""

    def __init__(self, ops):
        self._transformed_ops = ops
        self._transformed_ts = {t: u for op, made in ops.items() for t, u in zip(op.outputs, made.outputs)}

    def transformed(self, original, missing_fn=None):
        """Returns the copies of a nest of operations and tensors."""
        def one(x):
            found = (self._transformed_ops if isinstance(x, Operation) else self._transformed_ts).get(x)
            return found if found is not None or missing_fn is None else missing_fn(x)
        return tf.nest.map_structure(one, original)

    def original(self, transformed, missing_fn=None):
        """Returns the operations and tensors of which these are copies."""
        back = {v: k for k, v in [*self._transformed_ops.items(), *self._transformed_ts.items()]}
        return tf.nest.map_structure(lambda x: back.get(x) or (missing_fn(x) if missing_fn else None), transformed)


def _by_tensor(replacement_ts):
    return {(tf.convert_to_tensor(k) if not isinstance(k, Tensor) else k): tf.convert_to_tensor(v) for k, v in replacement_ts.items()}


def copy_with_input_replacements(sgv, replacement_ts, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False):
    """Copies a part of a graph, with given tensors as its inputs.

    Args:
      sgv: the part: a view, or operations.
      replacement_ts: {tensor: the tensor that the copy takes in its place}.
      dst_graph: the graph of the copy; that of the part by default.
      dst_scope: the name scope of the copy.
      src_scope: a scope that the names of the copy leave out.
      reuse_dst_scope: whether the scope may be there; without it a scope that is there gets a number.

    Returns:
      A view of the copy, and a TransformerInfo.
    """
    ops = sgv.ops if isinstance(sgv, SubGraphView) else make_list_of_op(sgv)
    if not ops:
        return SubGraphView(), TransformerInfo({})
    made = copy_operations(ops, _by_tensor(replacement_ts), dst_graph or ops[0].graph, dst_scope, src_scope, reuse_dst_scope)
    return SubGraphView(list(made.values())), TransformerInfo(made)


def copy(sgv, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False):
    """Copies a part of a graph, which keeps the same inputs."""
    return copy_with_input_replacements(sgv, {}, dst_graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(target_ts, replacement_ts, dst_scope="", src_scope="", reuse_dst_scope=False):
    """Returns tensors as they would be if others had other values; the nodes between are copied.

    Args:
      target_ts: a nest of tensors.
      replacement_ts: {tensor: the tensor in its place}.
      dst_scope: the name scope of the copies.
      src_scope: a scope that the names of the copies leave out.
      reuse_dst_scope: whether the scope may be there; without it a scope that is there gets a number.
    """
    replaced = _by_tensor(replacement_ts)
    flat = make_list_of_t(target_ts)
    needed = get_walks_intersection_ops(list(replaced), flat, control_inputs=True)
    if not needed:
        raise ValueError("Targets and replacements are not connected!")
    made = copy_operations(sorted(needed, key=lambda op: op._id), replaced, flat[0].graph, dst_scope, src_scope, reuse_dst_scope)
    info = TransformerInfo(made)
    return info.transformed(target_ts, missing_fn=lambda t: replaced.get(t, t))


# ---- rerouting ----

def reroute_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """Makes the consumers of the second tensors read the first ones; returns how many inputs changed.

    Args:
      ts0: the tensors that are taken from now on.
      ts1: the tensors that were taken.
      can_modify: the operations that may change; all by default.
      cannot_modify: operations that stay as they are.
    """
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    kept, count = set(make_list_of_op(cannot_modify or ())), 0
    for new, old in zip(make_list_of_t(ts0), make_list_of_t(ts1), strict=True):
        for op in old.consumers():
            if (allowed is not None and op not in allowed) or op in kept:
                continue
            for i, t in enumerate(op.inputs):
                if t is old:
                    op._update_input(i, new)
                    count += 1
    return count


def swap_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """Swaps tensors: the consumers of each read the other. Returns how many inputs changed."""
    ts0, ts1 = make_list_of_t(ts0), make_list_of_t(ts1)
    before = [(op, i, b) for a, b in zip(ts0, ts1, strict=True) for op in a.consumers() for i, t in enumerate(op.inputs) if t is a]
    count = reroute_ts(ts0, ts1, can_modify, cannot_modify)
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    kept = set(make_list_of_op(cannot_modify or ()))
    for op, i, new in before:
        if (allowed is None or op in allowed) and op not in kept:
            op._update_input(i, new)
            count += 1
    return count


def add_control_inputs(op, cops):
    """Makes an operation wait for others."""
    for other in make_list_of_op(cops):
        if other in op.control_inputs:
            raise ValueError("%s is already a control_input of %s" % (other.name, op.name))
        op._add_control_input(other)


def make_placeholder_from_tensor(t, scope=None, prefix="geph"):
    """Returns a placeholder like a tensor."""
    name = "%s%s__%s" % (scope.rstrip("/") + "/" if scope else "", prefix, t.op.name.rpartition("/")[2])
    return tf.placeholder(t.dtype, t.get_shape(), name=name)


def make_placeholder_from_dtype_and_shape(dtype, shape=None, scope=None, prefix="geph"):
    """Returns a placeholder of a type and shape."""
    return tf.placeholder(dtype, shape, name=(scope.rstrip("/") + "/" if scope else "") + prefix)


ph = make_placeholder_from_dtype_and_shape
