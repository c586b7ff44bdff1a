"""tf.autograph: Weft runs Python functions unchanged, so they must build their graphs with tf.cond and tf.while_loop.
"""
import enum

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
    """Returns the function unchanged, because Weft converts no functions."""
    return func if func is not None else lambda f: f


def set_loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
    """Raises an error, because no loop is converted: give the options to tf.while_loop."""
    raise _error("tf.autograph.experimental.set_loop_options", "give the options to tf.while_loop")


def _error(name, use):
    return NotImplementedError("%s is not in Weft%s: Weft does not convert Python code: %s" % (name, absent.where(), use))


def to_graph(entity, recursive=True, arg_values=None, arg_types=None, experimental_optional_features=None):
    """Raises an error: Weft does not convert the `if` and `while` of a Python function into ops."""
    raise _error("tf.autograph.to_graph", "write tf.cond and tf.while_loop in %s" % getattr(entity, "__name__", entity))


def to_code(entity, recursive=True, arg_values=None, arg_types=None, indentation="  ", experimental_optional_features=None):
    """Raises an error: Weft converts no function, so there is no source to return."""
    raise _error("tf.autograph.to_code", "inspect.getsource shows the source of %s" % getattr(entity, "__name__", entity))


def set_verbosity(level, alsologtostdout=False):
    """Sets how much the conversion logs. It has no effect, because there is no conversion."""
    if not isinstance(level, int) or level < 0:
        raise ValueError("level must be a number of at least 0, not %r" % (level,))


def trace(*args):
    """Prints the values while the graph is built."""
    print(*args)
