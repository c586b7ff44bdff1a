"""tf.py_func and tf.py_function: the library calls back into Python by token."""
import threading

import numpy as np

from weft import _weft
from weft._core.framework.build import add_op, triple
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import get_default_graph
from weft._core.framework.tensor_shape import as_shape

_functions, _lock = {}, threading.Lock()


interrupted = []  # Ctrl-C in a function that the library called: the run that it was for raises it


def _call(token, inputs):
    fn, types = _functions[token]
    try:
        made = fn(*inputs)
    except KeyboardInterrupt as e:
        interrupted.append(e)
        raise
    if not isinstance(made, (list, tuple)):
        made = [] if made is None and not types else [made]
    if len(made) != len(types):
        raise ValueError("%s returns: %d values, but expects to see %d values." % (token, len(made), len(types)))
    out = []
    for value, dtype in zip(made, types):
        array = np.asarray(value)
        given = np.asarray(value, order="C") if dtype.as_datatype_enum != 7 else value
        if dtype.as_datatype_enum != 7 and array.dtype != np.dtype(dtype.as_numpy_dtype):
            if array.dtype.kind != np.dtype(dtype.as_numpy_dtype).kind and isinstance(value, (np.ndarray, np.generic)):
                raise TypeError("%s returned %s, but %s was promised" % (token, array.dtype, dtype.name))
            given = array.astype(dtype.as_numpy_dtype)
        out.append(triple(given, dtype)[0])
    return out


def _node(kind, func, inp, types, name, **more):
    types = [as_dtype(t) for t in types]
    with _lock:
        token = "pyfunc_%d" % len(_functions)
        _functions[token] = func, types
    get_default_graph()._functions.append(token)
    inputs = [x.value() if hasattr(x, "handle") else x for x in inp]
    made = add_op(kind, name, input=inputs, token=token, Tout=types, **more)
    return list(made.outputs) if types else made  # without results there is only the op to run


def py_func(func, inp, Tout, stateful=True, name=None):
    single = not isinstance(Tout, (list, tuple))
    made = _node("PyFunc" if stateful else "PyFuncStateless", func, inp, [Tout] if single else Tout, name)
    return made[0] if single else made


class _Eager(np.ndarray):
    """What a function of tf.py_function is given: a value that is there, with what programs ask of an eager tensor."""

    def numpy(self):
        plain = self.view(np.ndarray)
        return plain if plain.ndim else plain[()]

    def get_shape(self):
        return as_shape(np.shape(self))


def _eager(value):
    return np.asarray(value).view(_Eager)


def py_function(func=None, inp=None, Tout=None, name=None):
    """The function sees arrays that have numpy(); its own gradient, which TensorFlow takes from a tape, is not to be had."""
    single = not isinstance(Tout, (list, tuple))
    types = [] if Tout is None else [Tout] if single else Tout

    def call(*values):
        made = func(*map(_eager, values))
        return [m.numpy() if isinstance(m, _Eager) else m for m in (made if isinstance(made, (list, tuple)) else [made])
                if m is not None]

    made = _node("EagerPyFunc", call, inp, types, name)
    return made if Tout is None or not single else made[0]


def numpy_function(func, inp, Tout, stateful=True, name=None):
    return py_func(func, inp, Tout, stateful, name)


_weft.set_call(_call)
