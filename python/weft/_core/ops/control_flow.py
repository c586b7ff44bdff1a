"""tf.group, tf.cond, tf.while_loop and related functions.

A context sees every node that is made inside it before the library does. It passes inputs from outside through a Switch
(a condition) or an Enter (a loop), as in TensorFlow's graphs.
"""
import builtins
import contextlib
import functools

from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import constant, constant_value, convert_to_tensor, op
from weft._core.framework.graph import IndexedSlices, Operation, Tensor, control_dependencies, get_default_graph, graph_of, name_scope
from weft._core.framework.nest import assert_same_structure, flatten, is_nested, pack_parts, parts
from weft._core.ops import automatic_order


def no_op(name=None):
    return op("NoOp", name)


def identity(data, name=None):
    data = data if hasattr(data, "dtype") and hasattr(data, "op") else convert_to_tensor(data)
    return op("RefIdentity" if data.dtype._is_ref_dtype else "Identity", name, input=data)


def _group_device(device, deps, name=None):
    with control_dependencies(deps):
        if device is None:
            return no_op(name=name)
        with get_default_graph().device(device):
            return no_op(name=name)


def group(*inputs, **kwargs):
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    ops = []
    for item in flatten(list(inputs)):
        if item is None:
            continue
        if not hasattr(item, "_as_graph_element") and not isinstance(item, (Tensor, Operation, IndexedSlices)):
            raise TypeError("Expected tf.group() expected Tensor objects not None or other types; got %r" % (item,))
        ops.append(item)
    with name_scope(name, "group_deps", ops) as scope:
        by_device = {}
        for item in ops:
            by_device.setdefault(item.device, []).append(item)
        if not by_device:
            return no_op(name=scope)
        if len(by_device) == 1:
            (device, deps), = by_device.items()
            return _group_device(device, deps, name=scope)
        deps = [_group_device(device, by_device[device]) for device in sorted(by_device)]
        with control_dependencies(deps):
            return no_op(name=scope)


def tuple(tensors, name=None, control_inputs=None):
    with name_scope(name, "tuple", [t for t in tensors if t is not None]) as scope:
        gate = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        gate += [getattr(c, "op", c) for c in control_inputs or []]
        if not gate:
            raise ValueError("Must have at least one Tensor: %s" % tensors)
        gate = group(*gate)
        out = [None if t is None else t if isinstance(t, Operation) else with_dependencies([gate], t) for t in tensors]
        del scope
        return out


def with_dependencies(dependencies, output_tensor, name=None):
    with name_scope(name, "control_dependency", [output_tensor]) as scope:
        with get_default_graph().colocate_with(output_tensor):
            with control_dependencies(dependencies):
                if isinstance(output_tensor, IndexedSlices):
                    return IndexedSlices(op("Identity", scope, input=output_tensor.values), output_tensor.indices,
                                         output_tensor.dense_shape)
                return op("Identity", scope, input=convert_to_tensor(output_tensor))


def switch(data, pred, dtype=None, name=None):
    with name_scope(name, "Switch", [data, pred]) as scope:
        data, pred = convert_to_tensor(data, dtype, name="data"), convert_to_tensor(pred, name="pred")
        false, true = op("Switch", scope, data=data, pred=pred)
        return false, true


def merge(inputs, name=None):
    with name_scope(name, "Merge", inputs) as scope:
        made = [convert_to_tensor(i) for i in inputs]
        output, index = op("Merge", scope, inputs=made)
        return output, index


# ---- contexts ----

class Context:
    """A control flow context.

    Nodes made while it is entered belong to it, and each outside value that they read is brought in once.
    """

    def __init__(self, graph, name, outer):
        self.graph, self.name, self.outer = graph, name, outer
        self.inside, self.brought = set(), {}  # the numbers of its nodes; a map from outputs outside to outputs inside
        self.nested = []                       # the contexts nested in this one
        if outer is not None:
            outer.nested.append(self)

    def __str__(self):
        return self.name

    def to_proto(self, export_scope=None):
        """Returns a CondContextDef or WhileContextDef, or None if the context is of another scope."""
        from weft._core.train.context_protos import context_def
        return context_def(self, export_scope)

    def done(self, key):
        """Ends the construction: an outermost context is added to the collection `key`."""
        if self.outer is None:
            self.graph.add_to_collection(key, self)

    @contextlib.contextmanager
    def entered(self):
        saved, self.graph._context = self.graph._context, self
        try:
            yield self
        finally:
            self.graph._context = saved

    def _count(self, operation):
        """Records the operation as inside this context and all contexts around it."""
        at = self
        while at is not None:
            at.inside.add(operation._id)
            at = at.outer

    def added(self, operation):
        self._count(operation)
        operation._context = self

    def for_library(self):
        """Returns a function that the library calls before it adds a node here, except for nodes in loops of its own.
        """
        first = self.graph._c.size()  # the first node that this context does not know yet

        def adapt(kind, inputs, controls):
            nonlocal first
            self._expect(range(first, self.graph._c.size()))
            adapted = self.adapt(kind, None, inputs, controls)
            first = self.graph._c.size() + 1
            self._expect([first - 1])
            return adapted
        return adapt

    def _expect(self, nodes):
        """Records the numbers of nodes that the library adds, or is about to add, inside."""
        at = self
        while at is not None:
            at.inside.update(nodes)
            at = at.outer

    def forget(self, size):
        """Keeps only the first `size` nodes of the graph, because the others were removed."""
        self.inside = {i for i in self.inside if i < size}
        self.brought = {out: at for out, at in self.brought.items() if at >> 16 < size}

    def imported(self, nodes):
        """Takes nodes that import_graph_def added into the context, and brings in what they read from outside."""
        self._expect(nodes)
        for node in nodes:
            operation = self.graph._operation(node)
            for i, out in enumerate(self.graph._c.inputs(node)):
                if out >> 16 not in self.inside:
                    self.graph._set_input(node, i, self.bring(out))
            if not self.graph._c.inputs(node) and not operation.control_inputs:
                operation._add_control_input(self.graph._operation(self.pivot >> 16))
            self.added(operation)

    def bring(self, out):
        """Returns the output to use inside the context for an output from outside."""
        if out >> 16 in self.inside:
            return out
        if out not in self.brought:
            source = self.outer.bring(out) if self.outer is not None else out
            self.brought[out] = self.take(source)
        return self.brought[out]

    def waits(self, outs):
        """Returns the outputs inside the context that nodes must wait for in place of `outs`."""
        if self.outer is None:
            return outs
        return [w for o in outs for w in ([o] if o >> 16 in self.inside else self.outer.waits([o]))]

    def adapt(self, kind, name, inputs, controls):
        inputs = [self.bring(o) for o in inputs]
        controls = [c for c in controls if c >> 16 in self.inside]
        if not inputs and not controls:
            controls.append(self.pivot)
        return inputs, controls

    def raw(self, kind, name, inputs, attrs=()):
        """Adds a node of the context itself, without adapting it and outside of control scopes."""
        with self.graph.control_dependencies(None):
            made = self.graph._add(kind, name, inputs, list(attrs))
        self._count(made)
        return made


class CondContext(Context):
    def __init__(self, graph, pred, pivot, branch, name, outer):
        super().__init__(graph, name, outer)
        self.pred, self.pivot, self.branch = pred._out, pivot._out, branch
        self.inside |= {pivot._out >> 16, pred._out >> 16}

    def take(self, source):
        ref = self.graph._c.dtype(source) > 100
        made = self.raw("RefSwitch" if ref else "Switch", "Switch", [source, self.pred])
        return made.outputs[self.branch]._out


def _branch_value(graph, context, value):
    """Returns the result of a branch as a tensor made inside it."""
    if value is None:
        return None
    if isinstance(value, Operation):
        with control_dependencies([value]):
            return op("Identity", "control_dependency", input=graph._tensor(context.pivot))
    made = convert_to_tensor(value)
    return graph._tensor(context.bring(made._out))


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    for name_, old_name, given, old in (("true_fn", "fn1", true_fn, fn1), ("false_fn", "fn2", false_fn, fn2)):
        if given is not None and old is not None:
            raise TypeError("cond(): '%s' and '%s' may not be set simultaneously." % (name_, old_name))
    true_fn, false_fn = fn1 if true_fn is None else true_fn, fn2 if false_fn is None else false_fn
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if isinstance(pred, bool):
        raise TypeError("'pred' must not be a Python bool.")
    graph, orders = graph_of([pred]), []
    with name_scope(name, "cond", [pred]):
        pred = pred if graph._order is None else convert_to_tensor(pred)
        start = graph._c.size()
        off, on = switch(pred, pred)
        pivot_on, pivot_off = op("Identity", "switch_t", input=on), op("Identity", "switch_f", input=off)
        pred = op("Identity", "pred_id", input=pred)
        results, structures, contexts = [], [], []
        for fn, pivot, branch in ((true_fn, pivot_on, 1), (false_fn, pivot_off, 0)):
            context = CondContext(graph, pred, pivot, branch, graph.unique_name("cond_text"), graph._context)
            contexts.append(context)
            with context.entered():
                made = automatic_order.branch(graph, fn, orders)
                structures.append(made)
                results.append([_branch_value(graph, context, v) for v in parts(made)])
        first, second = structures
        for name, made in (("true_fn", first), ("false_fn", second)):
            if made is None:
                raise ValueError("'%s' must have a return value." % name)
        assert_same_structure(first, second)
        merged = [_merge_pair(f, t) for t, f in zip(*results, strict=True)]
        for context in contexts:
            context.done("cond_context")
        automatic_order.count_as_one(graph, start, [on.op, pred.op], [m.op for m in merged[:1]], orders)
        if not strict and isinstance(first, (list, type(()))) and len(first) == 1:
            return pack_parts(first, merged)[0]
        return pack_parts(first, merged)


def _merge_pair(false, true):
    if false.dtype.base_dtype != true.dtype.base_dtype:
        raise ValueError("Outputs of 'true_fn' and 'false_fn' must have the same type(s). Received %s from 'true_fn' and %s from "
                         "'false_fn'." % (true.dtype.name, false.dtype.name))
    return merge([false, true])[0]


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    known = pred if isinstance(pred, bool) else None if not isinstance(pred, Tensor) else constant_value(pred)
    if isinstance(pred, int) and pred in (0, 1):
        known = bool(pred)
    if known is not None:
        return true_fn() if known else false_fn()
    return cond(pred, true_fn, false_fn, name=name)


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    for pair in pairs:
        if not isinstance(pair, type(())) or len(pair) != 2 or not callable(pair[1]):
            raise TypeError("Each entry of pred_fn_pairs must be a pair of a predicate and a function, not %r" % (pair,))
    if not pairs:
        raise ValueError("tf.case: pred_fn_pairs has no pair of a predicate and a function")
    preds = [p for p, _ in pairs]
    with name_scope(name, "case", preds), contextlib.ExitStack() as stack:
        # The last pair is the default, and does not count among those of which at most one may be true.
        if default is None:
            pairs, default = pairs[:-1], _last_case(preds, pairs[-1][1])
        if exclusive:
            told = [_at_most(1, [p for p, _ in pairs], "Input error: exclusive=True")]
            stack.enter_context(control_dependencies(told))
        fn = default
        for pred, branch in reversed(pairs):
            # The inner ones keep a list of one element, so that the branches have the same structure.
            fn = (lambda pred=pred, branch=branch, rest=fn: cond(pred, branch, rest, strict=True))
        made = fn()
        return made[0] if not strict and isinstance(made, (list, type(()))) and len(made) == 1 else made


def _last_case(preds, fn):
    """Returns the last function with a check of its predicate, for the case that no other predicate is true."""
    def last():
        from weft._core.ops import array_ops
        held = array_ops.stack(preds, name="preds_c")
        others = "Implementation error: selected default action #%d was called, but some of other predicates are True: " % (
            len(preds) - 1)
        told = [_at_most(0, preds[:-1], others),
                Assert(preds[-1], ["Input error: None of conditions evaluated as True:", held], summarize=len(preds))]
        with control_dependencies(told):
            return fn()
    return last


def _at_most(n, preds, what):
    from weft._core.ops import array_ops, math_ops
    held = array_ops.stack(preds, name="preds_c")
    count = math_ops.reduce_sum(math_ops.cast(held, dtypes.int32), name="num_true_conds")
    told = "%s: more than %d conditions (%s) evaluated as True:" % (what, n, ", ".join(p.name for p in preds))
    return Assert(math_ops.less_equal(count, constant(n, name="n_true_conds")), [told, held], summarize=len(preds))


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """Returns the result of the function with the number branch_index.

    Args:
      branch_index: an int32 tensor without dimensions.
      branch_fns: a list of functions, or a dict or list of pairs of a number and a function.
      default: the function for other numbers; by default that of the highest number.
      name: a name for the operation.
    """
    pairs = branch_fns.items() if isinstance(branch_fns, dict) else branch_fns
    pairs = [p if isinstance(p, (list, builtins.tuple)) else (i, p) for i, p in enumerate(pairs)]
    for number, function in pairs:
        if not isinstance(number, int) or not callable(function):
            raise TypeError("switch_case: branch_fns must be functions, or pairs of a number and a function, got %r" % (
                (number, function),))
    if default is None:
        default = max(pairs, key=lambda p: p[0])[1]
    with name_scope(name, "switch_case", [branch_index]):
        branch_index = convert_to_tensor(branch_index, dtypes.int32, name="branch_index")
        chain = default
        for number, function in reversed(sorted(pairs, key=lambda p: p[0])):
            chain = functools.partial(cond, op("Equal", x=branch_index, y=number), function, chain)
        return chain()


# ---- loops ----

class WhileContext(Context):
    def __init__(self, graph, frame, parallel_iterations, outer):
        super().__init__(graph, frame, outer)
        self.frame, self.parallel, self.pivot = frame, parallel_iterations, -1
        self.back_prop, self.swap_memory = True, False
        self.limit = None                      # the output maximum_iterations
        self.going = self.pivot_for_pred = -1  # the output of LoopCond and that of the first Merge
        self.enters, self.exits = [], []       # outputs, one for each loop variable
        self.constants = set()  # outputs that were brought in from outside
        self.waiting = set()    # nodes that wait for a node outside

    def enter(self, source, is_constant, name="Enter"):
        ref = self.graph._c.dtype(source) > 100
        return self.raw("RefEnter" if ref else "Enter", name, [source], [
            ("frame_name", "s", self.frame.encode()), ("is_constant", "b", is_constant),
            ("parallel_iterations", "i", self.parallel)])

    def added(self, operation):
        """Makes a node that reads only outside values wait for the iteration; otherwise it would run once too often."""
        super().added(operation)
        inputs = self.graph._c.inputs(operation._id)
        if inputs and self.constants.issuperset(inputs) and self.waiting.issuperset(c._id for c in operation.control_inputs):
            operation._add_control_input(self.graph._operation(self.pivot >> 16))

    def waits(self, outs):
        """Replaces outputs outside the loop, because an edge cannot lead into a loop: nodes wait for a value that comes
        from outside. Nodes in the loop do not wait for a node without outputs, as in TensorFlow.
        """
        made = []
        for out in outs:
            if out >> 16 in self.inside:
                made.append(out)
            elif self.graph._operation(out >> 16).outputs:
                wait = self.raw("Identity", "control_dependency", [self.bring(out >> 16 << 16)])
                wait._add_control_input(self.graph._operation(self.pivot >> 16))
                self.waiting.add(wait._id)
                made.append(wait._out)
        return made

    @contextlib.contextmanager
    def building(self):
        """Enters the context for building the loop, whose nodes wait for what the nodes around the loop wait for."""
        with self.entered():
            waits = self.waits([c._out for c in self.graph._controls])
            with self.graph.control_dependencies(None), self.entered(), self.graph._control_scope(waits):
                yield

    def take(self, source):
        made = self.enter(source, True).outputs[0]
        made.set_shape(self.graph._c.shape(source))
        self.constants.add(made._out)
        return made._out


class _Invariant:
    """A loop variable and its nodes: Enter, Merge, Switch, Identity, NextIteration and Exit."""

    def __init__(self, context, value, shape):
        self.context = context
        source = context.outer.bring(value._out) if context.outer is not None else value._out
        self.entry = context.enter(source, False)
        if shape is None:
            self.entry.outputs[0].set_shape(value.shape)
        self.shape = value.shape if shape is None else shape

    def merge_entry(self):
        out = self.entry.outputs[0]._out
        self.merge = self.context.raw("Merge", "Merge", [out, out])
        if self.shape.ndims is not None:
            self.merge.outputs[0].set_shape(self.shape)
        self.now = self.context.graph._tensor(self.merge.outputs[0]._out)

    def close(self, after):
        """Passes the value that the body computed to the next iteration."""
        if after.dtype.base_dtype != self.now.dtype.base_dtype:
            raise TypeError("Loop variable %s enters with type %s and comes back as %s" % (
                self.now.name, self.now.dtype.name, after.dtype.name))
        if not _fits(after.shape, self.shape):
            raise ValueError("Input tensor '%s' enters the loop with shape %s, but has shape %s after one iteration. To allow the "
                             "shape to vary across iterations, use the `shape_invariants` argument of tf.while_loop to specify a "
                             "less-specific shape." % (self.entry.inputs[0].name, self.shape, after.shape))
        back = self.context.raw("NextIteration", "NextIteration", [self.context.bring(after._out)])
        self.merge._update_input(1, back.outputs[0])

    def leave(self, switch_node):
        """Returns the value of the variable after the loop."""
        context = self.context
        made = context.raw("Exit", "Exit", [switch_node.outputs[0]._out])
        made.outputs[0].set_shape(self.shape)
        context.inside.discard(made._id)
        if context.outer is not None:
            context.outer.inside.add(made._id)
        return made.outputs[0]


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
               name=None, maximum_iterations=None, return_same_structure=False):
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    variables = list(loop_vars) if isinstance(loop_vars, (list, type(()))) else [loop_vars]
    if not variables:
        raise ValueError("'loop_vars' must be provided.")
    graph = graph_of(parts(variables))
    with name_scope(name, "while"):
        if maximum_iterations is not None:
            limit = _limit(maximum_iterations)
            cond, body, variables, shape_invariants = _bounded(cond, body, variables, shape_invariants, limit)
        flat = [convert_to_tensor(v) for v in parts(variables)]
        variables = pack_parts(variables, flat)
        shapes = [None] * len(flat) if shape_invariants is None else _part_shapes(variables, shape_invariants)
        for v, s in zip(flat, shapes):
            if s is not None and not _covers(s, v.shape):
                raise ValueError("The shape invariant specified for %s is not compatible with the initial shape of the loop variable. "
                                 "It enters the loop with shape %s, but the specified shape invariant is %s." % (v.name, v.shape, s))
        context = WhileContext(graph, graph.unique_name("while_context", False), parallel_iterations, graph._context)
        context.limit = None if maximum_iterations is None else limit._out
        start, loop = graph._c.size(), [_Invariant(context, v, s) for v, s in zip(flat, shapes)]
        for v in loop:
            v.merge_entry()
        orders = []
        like, exits = _looped(context, loop, lambda *v: automatic_order.branch(graph, lambda: cond(*v), orders),
                              lambda *v: automatic_order.branch(graph, lambda: body(*v), orders), variables)
        automatic_order.count_as_one(graph, start, [v.entry for v in loop], [e.op for e in exits], orders)
        context.back_prop, context.swap_memory = bool(back_prop), bool(swap_memory)
        _tell_gradients(graph, exits, back_prop, swap_memory)
        context.done("while_context")
    if maximum_iterations is not None:
        like, exits = like[1], exits[1:]
    out = pack_parts(like, exits)
    return out[0] if len(exits) == 1 and not return_same_structure else out


def _looped(context, loop, cond, body, variables):
    """Builds the nodes of the condition and the body; returns the results of the body and the tensors after the loop.
    """
    context.pivot = context.pivot_for_pred = loop[0].merge.outputs[0]._out
    context.enters = [v.entry.outputs[0]._out for v in loop]
    with context.building():
        pred = convert_to_tensor(cond(*pack_parts(variables, [v.now for v in loop])))
        if not pred.dtype.is_bool:
            raise TypeError("Input 'input' of 'LoopCond' Op has type %s that does not match expected type of bool." % pred.dtype.name)
        going = context.raw("LoopCond", "LoopCond", [context.bring(pred._out)]).outputs[0]
        context.going = going._out
        switches = [context.raw("Switch", "Switch", [v.merge.outputs[0]._out, going._out]) for v in loop]
        bodies = [context.raw("Identity", "Identity", [s.outputs[1]._out]).outputs[0] for s in switches]
        context.pivot = bodies[0]._out
        made = body(*pack_parts(variables, bodies))
        made = [made] if not is_nested(made) or hasattr(made, "_fields") and len(variables) == 1 else made
        made = made if isinstance(made, (list, type(()))) else list(made)
        assert_same_structure(list(variables), list(made), check_types=False)
        flat = [convert_to_tensor(r) for r in parts(made)]
        if len(flat) != len(loop):
            raise ValueError("The number of inputs and outputs of body must match loop_vars: %d, %d" % (len(flat), len(loop)))
        for v, r in zip(loop, flat):
            v.close(r)
    with contextlib.ExitStack() as stack:
        if context.outer is not None:
            stack.enter_context(context.outer.entered())
        exits = [v.leave(s) for v, s in zip(loop, switches)]
    context.exits = [e._out for e in exits]
    return made, exits


def _tell_gradients(graph, exits, back_prop, swap_memory):
    """Tells the library's gradients about back_prop=False and swap_memory, by which saved values may leave the device.
    """
    if not back_prop or swap_memory:
        for e in exits:
            graph._c.loop_options(e._out, bool(back_prop), bool(swap_memory))


def _fits(after, before):
    if before.ndims is None:
        return True
    if after.ndims != before.ndims:
        return False
    return all(b is None or a == b for a, b in zip(after.as_list(), before.as_list()))


def _flat_shapes(shapes):
    if isinstance(shapes, tensor_shape.TensorShape) or shapes is None:
        return [shapes]
    return [f for s in ([shapes[k] for k in sorted(shapes)] if isinstance(shapes, dict) else shapes) for f in _flat_shapes(s)]


def _part_shapes(variables, invariants):
    """Returns the shape that each tensor of the loop variables keeps."""
    leaves, given = flatten(variables), _flat_shapes(invariants)
    if len(leaves) != len(given):
        raise ValueError("The two structures don't have the same nested structure: loop_vars %s, shape_invariants %s" % (
            variables, invariants))
    shapes = []
    for leaf, shape in zip(leaves, given):
        shape = tensor_shape.as_shape(shape)
        shapes += leaf._part_shapes(shape) if hasattr(leaf, "_part_shapes") else [shape]
    return shapes


def _covers(invariant, shape):
    """Returns true if every value of this shape also has the invariant's."""
    if invariant.ndims is None:
        return True
    if invariant.ndims != shape.ndims:
        return False
    return all(a is None or a == b for a, b in zip(invariant.as_list(), shape.as_list()))


def _limit(maximum_iterations):
    limit = convert_to_tensor(maximum_iterations, name="maximum_iterations")
    if limit.shape.ndims != 0:
        raise ValueError("maximum_iterations must be a scalar, saw shape: %s" % limit.shape)
    return limit


def _bounded(cond, body, variables, invariants, limit):
    """Adds a counter to the loop variables for maximum_iterations."""
    from weft._core.ops.math_ops import less, logical_and
    counter = constant(0, limit.dtype, name="iteration_counter")
    single = len(variables) == 1

    def bounded_body(i, vs):
        after = i + 1
        made = body(*vs)
        if single and not (is_nested(made) and not hasattr(made, "_fields") and not isinstance(made, dict)):
            made = [made]
        return after, made
    shapes = None if invariants is None else [tensor_shape.scalar(), list(invariants)]
    return lambda i, vs: logical_and(less(i, limit), cond(*vs)), bounded_body, [counter, variables], shapes


def Assert(condition, data, summarize=None, name=None):
    """Fails with the data unless the condition holds. Data on another device is copied only if it fails."""
    with name_scope(name, "Assert", [condition, *data]):
        tensors = [convert_to_tensor(d) for d in data]
        summarize = 3 if summarize is None else summarize
        if all(t.dtype.base_dtype in (dtypes.string, dtypes.int32) for t in tensors):
            return op("Assert", condition=condition, data=list(data), summarize=summarize)
        condition = convert_to_tensor(condition, name="Condition")
        return cond(condition, no_op, lambda: op("Assert", condition=condition, data=list(data), summarize=summarize),
                    name="AssertGuard").op
