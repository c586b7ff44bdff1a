"""tf.autograph: converts Python functions, so that their `if`, `while` and `for` on tensors become nodes of the graph."""
import ast
import enum
import inspect

from weft._core.autograph import conversion
from weft._core.framework import absent


class Feature(enum.Enum):
    """Names parts of the conversion that TensorFlow can turn on."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"


def do_not_convert(func=None):
    """Returns a function that is called as it is, also by converted functions.

    Args:
      func: the function; without it, a decorator is returned.
    """
    return conversion.skip(func) if func is not None else do_not_convert


def set_loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
    """Gives options to the loop at whose start it is called, if the function is converted; no effect elsewhere.

    Args:
      parallel_iterations: how many iterations may run at the same time.
      swap_memory: whether values for gradients may leave the device.
      maximum_iterations: the most iterations that are run.
      shape_invariants: pairs of a variable and the shape that it keeps.
    """


def _checked(entity):
    if not (inspect.isfunction(entity) or inspect.ismethod(entity)):
        raise ValueError("tf.autograph: %r is not a function: classes and other objects are not converted" % (entity,))
    return entity


def check_features(features):
    """Raises an error for parts of the conversion that are not here."""
    given = [] if features is None else list(features) if isinstance(features, (list, tuple, set, frozenset)) else [features]
    if not all(isinstance(f, Feature) for f in given):
        raise ValueError("experimental_optional_features must be of tf.autograph.experimental.Feature, not %r" % (features,))
    if {Feature.ALL, Feature.ASSERT_STATEMENTS, Feature.EQUALITY_OPERATORS, Feature.LISTS}.intersection(given):
        raise NotImplementedError("experimental_optional_features: the conversion of assert, == and lists is not in Weft%s: use "
                                  "tf.debugging.assert_equal, tf.equal and tf.TensorArray" % absent.where())


def to_graph(entity, recursive=True, arg_values=None, arg_types=None, experimental_optional_features=None):
    """Returns a function whose `if`, `while` and `for` on tensors become conditions and loops of the graph.

    Args:
      entity: a function or a method.
      recursive: whether the functions that it calls are converted too.
      arg_values: no effect, as in TensorFlow 2.15.
      arg_types: no effect, as in TensorFlow 2.15.
      experimental_optional_features: values of tf.autograph.experimental.Feature; ASSERT_STATEMENTS, EQUALITY_OPERATORS
        and LISTS are refused.
    """
    check_features(experimental_optional_features)
    function = getattr(_checked(entity), "__func__", entity)
    try:
        made = conversion.convert(function, bool(recursive))
    except conversion.NotConvertible as e:
        raise ValueError("tf.autograph cannot convert %s: %s" % (getattr(entity, "__name__", entity), e)) from None
    made.__name__ = "tf__" + function.__name__
    return made


def to_code(entity, recursive=True, arg_values=None, arg_types=None, indentation="  ", experimental_optional_features=None):
    """Returns the source of the converted function.

    Args:
      entity: a function or a method.
      recursive: whether the functions that it calls are converted too.
      arg_values: no effect, as in TensorFlow 2.15.
      arg_types: no effect, as in TensorFlow 2.15.
      indentation: no effect, as in TensorFlow 2.15.
      experimental_optional_features: as for to_graph.
    """
    check_features(experimental_optional_features)
    try:
        return ast.unparse(conversion.rewritten(getattr(_checked(entity), "__func__", entity), bool(recursive)))
    except conversion.NotConvertible as e:
        raise ValueError("tf.autograph cannot convert %s: %s" % (getattr(entity, "__name__", entity), e)) from None


def set_verbosity(level, alsologtostdout=False):
    """Sets how much the conversion logs. It has no effect, because the conversion logs nothing."""
    if not isinstance(level, int) or level < 0:
        raise ValueError("level must be a number of at least 0, not %r" % (level,))


def trace(*args):
    """Prints the values while the graph is built."""
    print(*args)
