"""tf.function in graphs: each call runs the Python function, whose nodes become part of the graph of the caller.

TensorFlow traces a function into a graph of its own, and a node calls it.  Here the nodes stand in the caller's graph, in
a scope of their own.  The results are the same: stateful ops run in the order of the program (automatic_order.py), and
running any result runs them all.  The last node has the name of TensorFlow's call.
"""
import functools
import inspect
import threading
import types
import weakref

import numpy as np

from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.function import FuncGraph
from weft._core.framework.graph import Tensor, control_dependencies, get_default_graph
from weft._core.framework.nest import flatten, is_nested, map_structure, pack_like
from weft._core.framework.type_spec import TensorSpec, TypeSpec, type_spec_from_value
from weft._core.ops import automatic_order
from weft._core.ops.variables import Variable

_state = types.SimpleNamespace(eagerly=False)


def run_functions_eagerly(run_eagerly):
    """Makes calls of tf.function call the Python function itself, without order or scope, if True.

    Args:
      run_eagerly: whether calls do so.
    """
    _state.eagerly = bool(run_eagerly)


def experimental_run_functions_eagerly(run_eagerly):
    """Works as tf.config.run_functions_eagerly does.

    Args:
      run_eagerly: whether calls of tf.function call the Python function itself.
    """
    run_functions_eagerly(run_eagerly)


def functions_run_eagerly():
    """Returns what tf.config.run_functions_eagerly has set."""
    return _state.eagerly


experimental_functions_run_eagerly = functions_run_eagerly


class _Calls(threading.local):
    """How many calls of functions are in progress in this thread."""

    depth = 0


_calls = _Calls()


def inside_function():
    """Returns whether a tf.function is being called."""
    return _calls.depth > 0


# ---- arguments ----

def _argument(x):
    """Returns an argument as the function gets it: arrays become tensors, all else stays."""
    return convert_to_tensor(x) if isinstance(x, (np.ndarray, np.generic)) else x


def _key(x):
    """Returns what a trace depends on: the type and shape of a tensor, and any other value itself."""
    if isinstance(x, (Tensor, np.ndarray, np.generic)):
        return str(type_spec_from_value(x if isinstance(x, Tensor) else np.asarray(x)))
    if isinstance(x, TypeSpec):
        return str(x)
    try:
        hash(x)
    except TypeError:
        return id(x)
    return x if isinstance(x, (int, float, str, bytes, bool, type(None))) else id(x)


def _checked_signature(signature):
    if signature is None:
        return None
    if not isinstance(signature, (list, tuple)):
        raise TypeError("input_signature must be either a tuple or a list, got %s." % type(signature))
    wrong = [x for x in flatten(signature) if not isinstance(x, TypeSpec)]
    if wrong:
        raise TypeError("input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args %s with types %s." % (
            wrong, [type(x) for x in wrong]))
    return tuple(signature)


def _cast(spec, value):
    """Returns a value as a tensor of a spec of the signature, or raises TypeError."""
    if not isinstance(spec, TensorSpec):
        found = value if isinstance(value, TypeSpec) else type_spec_from_value(value)
        if not found.is_subtype_of(spec) and not spec.is_compatible_with(found):
            raise TypeError("Can not cast %s to %s" % (found, spec))
        return value
    if isinstance(value, TensorSpec):
        found = value
    else:
        try:
            value = value if isinstance(value, Tensor) else convert_to_tensor(value, spec.dtype)
        except (TypeError, ValueError):
            raise TypeError("Can not cast %r to %s" % (value, spec)) from None
        found = TensorSpec(value.shape, value.dtype.base_dtype)
    if found.dtype != spec.dtype or not spec.shape.is_compatible_with(found.shape):
        raise TypeError("Can not cast %s to %s" % (found, spec))
    return value


def _cast_structure(spec, value):
    if not is_nested(spec):
        return _cast(spec, value)
    leaves, given = flatten(spec), flatten(value)
    if len(leaves) != len(given):
        raise TypeError("Can not cast %r to %s" % (value, spec))
    return pack_like(spec, [_cast(s, v) for s, v in zip(leaves, given)])


class _Binding:
    """Binds the arguments of calls to the parameters of a Python function."""

    def __init__(self, function, signature):
        self.signature, self.parameters = _checked_signature(signature), inspect.signature(function)
        if self.signature is not None:
            self._check(function)

    def _check(self, function):
        names = [p for p in self.parameters.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        names = names[1:] if names and names[0].name == "self" else names
        rest = any(p.kind == p.VAR_POSITIONAL for p in self.parameters.parameters.values())
        if len(self.signature) > len(names) and not rest:
            raise TypeError("input_signature has %d specs, but the function %s takes %d arguments" % (
                len(self.signature), getattr(function, "__name__", function), len(names)))
        lacking = [p.name for p in names[len(self.signature):] if p.default is p.empty]
        if lacking:
            raise TypeError("input_signature has no spec for the arguments %s of %s, which have no default" % (
                lacking, getattr(function, "__name__", function)))

    def bound(self, skipped, args, kwargs):
        """Returns the arguments for the Python function; skipped: how many of args stand before those of the signature."""
        try:
            found = self.parameters.bind(*args, **kwargs)
            if self.signature is None:
                return [map_structure(_argument, a) for a in args], {k: map_structure(_argument, a) for k, a in kwargs.items()}
            args, kwargs = list(found.args), dict(found.kwargs)
            own = args[skipped:]
            if len(own) < len(self.signature):
                raise TypeError("missing a required argument")
            return args[:skipped] + [_cast_structure(s, a) for s, a in zip(self.signature, own)] + own[len(self.signature):], kwargs
        except TypeError as e:
            raise TypeError("Binding inputs to tf.function failed due to `%s`. Received args: %s and kwargs: %s for signature: %s." % (
                e, tuple(args), dict(kwargs), self.parameters)) from None


# ---- results ----

def _result(x, function):
    """Returns a result as a tensor, as a composite of tensors, or None."""
    if x is None or isinstance(x, Tensor) or hasattr(x, "_parts"):
        return x
    if isinstance(x, Variable):
        return x.value()
    if hasattr(x, "_variant_tensor") or hasattr(x, "element_spec"):
        return x
    try:
        return convert_to_tensor(x)
    except (TypeError, ValueError):
        raise TypeError("To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or "
                        "None values; in compilation of %s, found return value of type %s, which is not a Tensor or "
                        "ExtensionType." % (function, type(x).__name__)) from None


def _leaf_parts(x):
    return [] if x is None or not (isinstance(x, Tensor) or hasattr(x, "_parts")) else [x] if isinstance(x, Tensor) else x._parts()


def _through_call(graph, made, name, must):
    """Passes the results through one node, which waits for the ops that must run."""
    leaves = flatten(made)
    tensors = [t for x in leaves for t in _leaf_parts(x)]
    with control_dependencies(must):
        if not tensors:
            op("NoOp", name)
            return made
        passed = iter(op("IdentityN", name, input=[graph.capture(t) if graph.outer is not None else t for t in tensors]))
    out = []
    for x in leaves:
        parts = [next(passed) for _ in _leaf_parts(x)]
        out.append(x if not parts else parts[0] if isinstance(x, Tensor) else x._with_parts(parts))
    return pack_like(made, out)


def _call(function, args, kwargs, new_variables):
    """Calls a Python function in the default graph, and orders what it does."""
    graph = get_default_graph()
    around = graph.get_name_scope()
    before = set(graph._variables)
    first = graph._c.size()
    with graph.name_scope("inference_" + getattr(function, "__name__", "function").strip("<>_")) as scope:
        graph._calls.append((around + "/" if around else "", scope))
        _calls.depth += 1
        try:
            nested = graph._order is not None
            if nested:
                made, must = function(*args, **kwargs), []
            else:
                with automatic_order.Ordered(graph) as order:
                    made = function(*args, **kwargs)
                    made = map_structure(lambda x: _result(x, function), made)
                must = order.must
            made = map_structure(lambda x: _result(x, function), made)
        finally:
            _calls.depth -= 1
            graph._calls.pop()
    if not new_variables and set(graph._variables) - before:
        raise ValueError("tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is "
                         "only created once or created outside tf.function.")
    stateful = any(automatic_order.is_stateful(graph._operation(i)) for i in range(first, graph._c.size()))
    return _through_call(graph, made, "StatefulPartitionedCall" if stateful else "PartitionedCall", must)


# ---- the objects ----

class ConcreteFunction(metaclass=Named):
    """A tf.function for arguments of given types: Function.get_concrete_function."""

    def __init__(self, function, args, kwargs):
        self._function, self._args, self._kwargs = function, args, kwargs
        self._traced = None

    @property
    def name(self):
        return ("__inference_%s" % self._function.name).encode()

    @property
    def structured_input_signature(self):
        """The specs of the arguments, by place and by name."""
        return tuple(self._args), dict(self._kwargs)

    def _specs(self):
        return [x for x in flatten([list(self._args), self._kwargs]) if isinstance(x, TypeSpec)]

    def _filled(self, tensors):
        """Returns the arguments with tensors in place of the specs."""
        rest = iter(tensors)
        return (map_structure(lambda x: next(rest) if isinstance(x, TypeSpec) else x, list(self._args)),
                map_structure(lambda x: next(rest) if isinstance(x, TypeSpec) else x, self._kwargs))

    @property
    def graph(self):
        """The graph of the body, which is made when it is first asked for; calls do not use it."""
        if self._traced is None:
            body = FuncGraph(get_default_graph())
            with body.as_default():
                inputs = [body.argument(s.dtype, s.shape, s.name or "args_%d" % i) for i, s in enumerate(self._specs())]
                args, kwargs = self._filled(inputs)
                made = self._function._python_call(args, kwargs)
                made = map_structure(lambda x: _result(x, self._function.python_function), made)
            self._traced = body, inputs, made
        return self._traced[0]

    @property
    def inputs(self):
        """The arguments of the body's graph."""
        return self.graph and self._traced[1] + [inner for _, inner in self._traced[0].captured.values()]

    @property
    def captured_inputs(self):
        """The tensors of the outer graph that the body uses."""
        return self.graph and [outer for outer, _ in self._traced[0].captured.values()]

    @property
    def outputs(self):
        """The tensors that the body returns."""
        return self.graph and [t for x in flatten(self._traced[2]) for t in _leaf_parts(x)]

    @property
    def structured_outputs(self):
        """The results of the body's graph, in the structure in which they are returned."""
        return self.graph and self._traced[2]

    @property
    def output_dtypes(self):
        """The types of the results."""
        return self.graph and map_structure(lambda x: None if x is None else x.dtype, self._traced[2])

    @property
    def output_shapes(self):
        """The shapes of the results."""
        return self.graph and map_structure(lambda x: None if x is None else x.shape, self._traced[2])

    @property
    def variables(self):
        """The variables that the body uses."""
        found = (outer.graph._variables.get(outer.name) for outer in self.captured_inputs if outer.op.type == "VarHandleOp")
        return tuple(v for v in found if v is not None)

    @property
    def trainable_variables(self):
        """The trainable variables that the body uses."""
        return tuple(v for v in self.variables if v.trainable)

    def __call__(self, *args, **kwargs):
        """Calls the function with tensors for the specs, by place or by the names of the arguments."""
        specs = self._specs()
        order = [*self._kwargs] + [s.name for s in specs if s.name]
        given = list(args) + [kwargs.pop(k) for k in order if k in kwargs]
        given = [x for x in flatten(given) if not isinstance(x, (int, float, str, bool)) or len(flatten(given)) == len(specs)]
        if kwargs or len(given) != len(specs):
            raise TypeError("%s takes %d tensors, got %d%s" % (
                self._function.name, len(specs), len(given), " and %s" % sorted(kwargs) if kwargs else ""))
        args, kwargs = self._filled([_cast(s, x) for s, x in zip(specs, given)])
        return self._function._run(args, kwargs)


class Function(metaclass=Named):
    """A Python function of tensors, whose stateful ops run in order: tf.function."""

    def __init__(self, python_function, input_signature=None, autograph=True, bound_to=None):
        self._python_function, self._autograph = python_function, autograph
        self._binding = _Binding(python_function, input_signature)
        self._self = bound_to
        # graph -> whether it was called there; keys of traces; functions of objects, which live as long as the objects.
        self._called, self._traces, self._bound = weakref.WeakSet(), set(), weakref.WeakKeyDictionary()
        functools.update_wrapper(self, python_function, updated=())

    @property
    def python_function(self):
        """The Python function."""
        return self._python_function

    @property
    def name(self):
        """The name of the Python function."""
        return getattr(self._python_function, "__name__", "function")

    @property
    def input_signature(self):
        """The specs of the arguments, or None."""
        return self._binding.signature

    def __get__(self, instance, owner):
        if instance is None:
            return self
        try:
            found = self._bound.get(instance)
        except TypeError:  # it has no hash, or no weak references: the function is made each time
            return Function(self._python_function, self._binding.signature, self._autograph, lambda: instance)
        if found is None:
            found = Function(self._python_function, self._binding.signature, self._autograph, weakref.ref(instance))
            self._bound[instance] = found
        return found

    def _selves(self):
        return [] if self._self is None else [self._self()]

    def _converted(self):
        from weft._core.autograph import conversion
        return conversion.converted(self._python_function) if self._autograph else self._python_function

    def _python_call(self, args, kwargs):
        return self._converted()(*args, **kwargs)

    def _run(self, args, kwargs):
        graph = get_default_graph()
        first = graph not in self._called
        self._called.add(graph)
        self._traces.add((id(graph), _key_of(args, kwargs)))
        return _call(self._converted(), args, kwargs, first)

    def __call__(self, *args, **kwargs):
        selves = self._selves()
        if _state.eagerly:
            return self._python_function(*selves, *args, **kwargs)
        args, kwargs = self._binding.bound(len(selves), selves + list(args), kwargs)
        return self._run(args, kwargs)

    def get_concrete_function(self, *args, **kwargs):
        """Returns the function for arguments of these types.

        Args:
          args: tensors, specs of tensors, or other values, which stay as they are.
          kwargs: the same, by name.
        """
        if not args and not kwargs and self._binding.signature is not None:
            args = self._binding.signature
        selves = self._selves()
        args, kwargs = self._binding.bound(len(selves), selves + list(args), kwargs)

        def spec(x):
            return type_spec_from_value(x) if isinstance(x, Tensor) else x
        return ConcreteFunction(self, map_structure(spec, args), map_structure(spec, kwargs))

    def experimental_get_tracing_count(self):
        """Returns for how many kinds of arguments the function was called."""
        return len(self._traces)


def _key_of(args, kwargs):
    return tuple(_key(x) for x in flatten(list(args))), tuple((k, tuple(_key(x) for x in flatten(v))) for k, v in sorted(kwargs.items()))


def function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False, experimental_implements=None,
             experimental_autograph_options=None, experimental_attributes=None, experimental_relax_shapes=None,
             experimental_compile=None, experimental_follow_type_hints=None):
    """Makes a function of tensors whose stateful ops run in the order of the program; also a decorator.

    Args:
      func: a Python function.
      input_signature: specs of its arguments; calls with other arguments are errors.
      autograph: whether `if`, `while` and `for` on tensors become conditions and loops of the graph.
      jit_compile: no effect: Weft compiles every step, and the results are the same.
      reduce_retracing: no effect, because every call runs the Python function.
      experimental_implements: no effect: a name for graph optimizers of TensorFlow.
      experimental_autograph_options: values of tf.autograph.experimental.Feature, as for tf.autograph.to_graph.
      experimental_attributes: no effect: attributes of TensorFlow's function definition.
      experimental_relax_shapes: the old name of reduce_retracing.
      experimental_compile: the old name of jit_compile.
      experimental_follow_type_hints: no effect, as reduce_retracing.
    """
    from weft._core.autograph.api import check_features
    check_features(experimental_autograph_options)

    def decorated(inner):
        return Function(inner, input_signature, autograph)
    return decorated if func is None else decorated(func)
