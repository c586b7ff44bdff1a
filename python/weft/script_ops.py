"""tf.py_func: the library calls back into Python by token."""
import threading

import numpy as np

from . import _weft
from .build import op, triple
from .dtypes import as_dtype
from .graph import get_default_graph

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


def py_func(func, inp, Tout, stateful=True, name=None):  # noqa: N803
    single = not isinstance(Tout, (list, tuple))
    types = [as_dtype(t) for t in ([Tout] if single else Tout)]
    with _lock:
        token = "pyfunc_%d" % len(_functions)
        _functions[token] = func, types
    graph = get_default_graph()
    graph._functions.append(token)
    made = op("PyFunc" if stateful else "PyFuncStateless", name, input=list(inp), token=token, Tout=types)
    return made[0] if single else made


def numpy_function(func, inp, Tout, stateful=True, name=None):  # noqa: N803
    return py_func(func, inp, Tout, stateful, name)


_weft.set_call(_call)
