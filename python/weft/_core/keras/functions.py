"""Functions in configurations: a named function is stored as its name, a lambda as its code."""
import codecs
import marshal
import sys
import types

from weft._core.keras.serialization import get_registered_object


def serialize(function):
    """Returns (configuration value, kind, module) of a function; other values are returned unchanged."""
    if isinstance(function, types.LambdaType) and function.__name__ == "<lambda>":
        code = codecs.encode(marshal.dumps(function.__code__), "base64").decode("ascii")
        closure = tuple(c.cell_contents for c in function.__closure__) if function.__closure__ else None
        return (code, function.__defaults__, closure), "lambda", function.__module__
    if callable(function):
        return function.__name__, "function", function.__module__
    return function, "raw", None


def deserialize(given, kind, module, custom_objects=None):
    if kind == "function":
        found = get_registered_object(given, custom_objects) or getattr(sys.modules.get(module), given, None)
        if found is None:
            raise ValueError("Unknown function: %s. Give it in custom_objects, or load the module %s first." % (given, module))
        return found
    if kind == "lambda":
        code, defaults, closure = given if isinstance(given, (tuple, list)) else (given, None, None)
        space = sys.modules[module].__dict__ if module in sys.modules else globals()
        cells = tuple(types.CellType(c) for c in closure) if closure else None
        loaded = marshal.loads(codecs.decode(code.encode("ascii"), "base64"))
        return types.FunctionType(loaded, space, argdefs=None if defaults is None else tuple(defaults), closure=cells)
    return given
