"""tf.py_func and tf.py_function: the library calls Python functions by a token."""
import threading

import numpy as np

from weft import _weft
from weft._core.framework import dtypes, errors
from weft._core.framework.build import add_op, triple
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.gradient_registry import RegisterGradient
from weft._core.framework.graph import Operation, get_default_graph
from weft._core.ops.array_ops import zeros_like
from weft._core.ops.immediate import Call

_C_NAMES = {"float32": "float", "float64": "double", "float16": "half"}  # Other types have the same name as in Python.

_functions, _lock = {}, threading.Lock()


interrupted = []  # Ctrl-C in a function that the library called; the run that it belonged to raises it.


# The error codes of exceptions, as in TensorFlow. Other exceptions are UNKNOWN; those of tf.errors keep their own.
_CODES = {ValueError: errors.INVALID_ARGUMENT, TypeError: errors.INVALID_ARGUMENT, StopIteration: errors.OUT_OF_RANGE,
          NotImplementedError: errors.UNIMPLEMENTED, MemoryError: errors.RESOURCE_EXHAUSTED}


class WrongResult(errors.InvalidArgumentError):
    """The error for a function that did not return what was promised.

    The library omits the class name from its message.
    """


def _call(token, inputs):
    """Calls a function for the library, and returns its results in the form that the library takes."""
    try:
        return _results(token, inputs)
    except KeyboardInterrupt as e:
        interrupted.append(e)
        raise
    except tuple(_CODES) as e:
        if not hasattr(e, "error_code"):
            e.error_code = next(code for kind, code in _CODES.items() if isinstance(e, kind))
        raise


def _results(token, inputs):
    if token not in _functions:
        raise ValueError("Could not find callback with key=%s in the registry. (A Python function runs only in the process that "
                         "made its op: place the op on that task.)" % token)
    fn, types = _functions[token]
    made = fn(*inputs)
    if not isinstance(made, (list, tuple)):
        made = [] if made is None else [made]
    if len(made) != len(types):
        raise WrongResult(None, None, "%s returns %d values, but expects to see %d values." % (
            token, len(made), len(types)))
    return [triple(_typed(token, i, value, dtype), dtype)[0] for i, (value, dtype) in enumerate(zip(made, types))]


def _typed(token, i, value, dtype):
    """Returns result i of a function as an array.

    It must have the promised type; a Python float is a double, as in numpy.
    """
    array = np.asarray(value, order="C")
    text = array.dtype.kind in "SUO"
    if text != (dtype == dtypes.string) or not text and array.dtype != np.dtype(dtype.as_numpy_dtype):
        raise WrongResult(None, None, "%d-th value returned by %s is %s, but expects %s" % (
            i, token, *[_C_NAMES.get(t.name, t.name) for t in (dtypes.string if text else as_dtype(array.dtype), dtype)]))
    return value if text else array


def _node(kind, func, inp, types, name, **more):
    types = [as_dtype(t) for t in types]
    with _lock:
        token = "pyfunc_%d" % len(_functions)
        _functions[token] = func, types
    get_default_graph()._functions.append(token)
    inputs = [x.value() if hasattr(x, "handle") else x for x in inp]
    made = add_op(kind, name, input=inputs, token=token, Tout=types, **more)
    return list(made.outputs) if types else made  # Without results only the op can be run.


def py_func(func, inp, Tout, stateful=True, name=None):
    single = not isinstance(Tout, (list, tuple))
    made = _node("PyFunc" if stateful else "PyFuncStateless", func, inp, [Tout] if single else Tout, name)
    return made[0] if single else made


class _Differentiable:
    """A function of tf.py_function, with its last call if a gradient is needed."""

    def __init__(self, function, types):
        self.function, self.types = function, types
        self.input_types, self.last, self.keep = [], None, False

    def _called(self, values):
        return Call(self.function, values, self.input_types)

    def __call__(self, *values):
        call = self._called(values)
        made = call.arrays(self.types)
        self.last = call if self.keep else None
        return made

    def gradient(self, *values):
        """Returns the gradients of the inputs; values holds the inputs, then the gradients of the results."""
        inputs, grads = values[:len(self.input_types)], values[len(self.input_types):]
        call, self.last = self.last, None
        if call is None or not call.had(inputs):
            # The kept call is of another iteration or step, so the function is called again.
            call = self._called(inputs)
            call.arrays(self.types)
        return call.gradients(grads)


def py_function(func=None, inp=None, Tout=None, name=None):
    """Returns the results of a function whose tensors have numpy(), can be used in Python, and can be passed to tf
    functions.
    """
    single = not isinstance(Tout, (list, tuple))
    types = [] if Tout is None else [as_dtype(t) for t in ([Tout] if single else Tout)]
    function = _Differentiable(func, types)
    made = _node("EagerPyFunc", function, inp, types, name)
    node = made if isinstance(made, Operation) else made[0].op
    function.input_types = [t.dtype.base_dtype for t in node.inputs]
    return made if Tout is None or not single else made[0]


def _python_gradient(node, *grads):
    """Returns the gradient of EagerPyFunc, which differentiates the nodes that the call made."""
    function = _functions[node.get_attr("token").decode()][0]
    function.keep = True
    inputs = list(node.inputs)
    given = [zeros_like(y) if g is None else g for y, g in zip(node.outputs, grads)]
    made = _node("EagerPyFunc", function.gradient, inputs + given, function.input_types, None)
    for gradient, x in zip(made, inputs):
        gradient.set_shape(x.shape)
    return [g if x.dtype.is_floating or x.dtype.is_complex else None for g, x in zip(made, inputs)]


RegisterGradient("EagerPyFunc")(_python_gradient)


def numpy_function(func, inp, Tout, stateful=True, name=None):
    return py_func(func, inp, Tout, stateful, name)


_weft.set_call(_call)
