"""Modules of tensorflow.python.keras.utils: functions on shapes, arguments and lists for layers and callbacks of
programs.
"""
import codecs
import inspect
import marshal
import os
import types

import weft as tf
from weft._core.framework.nest import flatten
from weft._core.keras.input_spec import check_inputs as assert_input_compatibility  # noqa: F401
from weft._core.keras.summary_text import count, get_source_inputs, print_summary  # noqa: F401
from weft._core.platform import logging

# ---- tf_utils ----

def convert_shapes(input_shape, to_tuples=True):
    """Returns the shapes of a structure as tuples, or as TensorShapes."""
    if _is_shape(input_shape):
        shape = tf.TensorShape(input_shape)
        return tuple(shape.as_list()) if to_tuples else shape
    if isinstance(input_shape, dict):
        return {key: convert_shapes(value, to_tuples) for key, value in input_shape.items()}
    return type(input_shape)(convert_shapes(value, to_tuples) for value in input_shape)


def _is_shape(given):
    if given is None or isinstance(given, tf.TensorShape):
        return True
    return isinstance(given, (list, tuple)) and all(isinstance(d, (int, tf.Dimension, type(None))) for d in given)


def shape_type_conversion(fn):
    """Returns a method of a layer that gets shapes as tuples and whose result is a TensorShape: build or
    compute_output_shape.
    """
    def wrapper(instance, input_shape):
        output = fn(instance, input_shape if input_shape is None else convert_shapes(input_shape))
        return output if output is None else convert_shapes(output, to_tuples=False)
    return wrapper


_symbolic = [tf.Tensor, tf.SparseTensor, tf.Variable, tf.RaggedTensor]


def register_symbolic_tensor_type(cls):
    """Makes is_symbolic_tensor() true of the objects of a class that can be converted to tensors."""
    if cls not in _symbolic:
        _symbolic.append(cls)


def is_symbolic_tensor(tensor):
    """Returns True of a tensor of a graph, which every tensor of Weft is."""
    return isinstance(tensor, tuple(_symbolic))


def is_tensor_or_tensor_list(v):
    """Returns True of a tensor, and of a structure that begins with one."""
    found = flatten(v)
    return bool(found) and isinstance(found[0], tf.Tensor)


def map_structure_with_atomic(is_atomic_fn, map_fn, nested):
    """Returns the structure with map_fn applied to each element. is_atomic_fn returns whether a value is an element."""
    if is_atomic_fn(nested):
        return map_fn(nested)
    if not isinstance(nested, (list, tuple, dict)):
        raise ValueError("Received non-atomic and non-sequence element: %s of type %s" % (nested, type(nested)))
    if isinstance(nested, dict):
        return {key: map_structure_with_atomic(is_atomic_fn, map_fn, value) for key, value in nested.items()}
    return type(nested)(map_structure_with_atomic(is_atomic_fn, map_fn, value) for value in nested)


# ---- generic_utils ----

def has_arg(fn, name, accept_all=False):
    """Returns whether a function takes an argument of that name; accept_all: or any keyword."""
    found = inspect.getfullargspec(fn)
    return bool(accept_all and found.varkw is not None) or name in found.args or name in found.kwonlyargs


def to_list(x):
    """Returns a list unchanged, and any other value as a list of one element."""
    return x if isinstance(x, list) else [x]


def is_all_none(structure):
    """Returns whether a structure has only None in it."""
    return all(x is None for x in flatten(structure))


def slice_arrays(arrays, start=None, stop=None):
    """Returns the rows from start to stop of each of a list of arrays; start may be a list of rows, and then arrays an
    array.
    """
    if arrays is None:
        return [None]
    if isinstance(start, list) and stop is not None:
        raise ValueError("The stop argument has to be None if the value of start is a list. Received start=%s, stop=%s" % (start, stop))
    if not isinstance(arrays, list):
        # As in TensorFlow, a range applies only to lists.
        return arrays[start] if hasattr(start, "__len__") else [None]
    if hasattr(start, "__len__"):
        rows = start.tolist() if hasattr(start, "shape") else start
        return [None if x is None else x[rows] for x in arrays]
    return [x[start:stop] if hasattr(x, "__getitem__") else None for x in arrays]


def func_dump(func):
    """Returns (code, defaults, closure) of a function, as Keras stores a lambda."""
    code = codecs.encode(marshal.dumps(func.__code__), "base64").decode("ascii")
    closure = tuple(c.cell_contents for c in func.__closure__) if func.__closure__ else None
    return code, func.__defaults__, closure


def func_load(code, defaults=None, closure=None, globs=None):
    """Returns the function that func_dump gave; it must be of the same version of Python."""
    if isinstance(code, (tuple, list)):
        code, defaults, closure = code
        defaults = tuple(defaults) if isinstance(defaults, list) else defaults
    cells = None if closure is None else tuple(c if isinstance(c, types.CellType) else types.CellType(c) for c in closure)
    made = marshal.loads(codecs.decode(code.encode("ascii"), "base64"))
    return types.FunctionType(made, globals() if globs is None else globs, name=made.co_name, argdefs=defaults, closure=cells)


# ---- layer_utils and io_utils ----

def count_params(weights):
    """Returns the number of numbers in weights; one that is listed twice counts once."""
    return int(count(list({id(w): w for w in weights}.values())))


def path_to_string(path):
    """Returns a path object as text; other values are returned unchanged."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path


def ask_to_proceed_with_overwrite(filepath):
    """Asks at the terminal whether to overwrite a file."""
    answer = ""
    while answer not in ("y", "n"):
        answer = input("[WARNING] %s already exists - overwrite? [y/n]" % filepath if not answer else 'Enter "y" (overwrite) or "n" '
                       "(cancel).").strip().lower()
    if answer == "n":
        return False
    logging.info("[TIP] Next time specify overwrite=True!")
    return True
