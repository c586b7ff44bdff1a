"""tf.autograph: Weft runs Python functions as they are, so that they build their graphs with tf.cond and tf.while_loop."""
import enum

from weft._core.framework import absent


class Feature(enum.Enum):
    """Parts of the conversion that TensorFlow can turn on."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"


def do_not_convert(func=None):
    """The function itself: Weft converts none."""
    return func if func is not None else lambda f: f


def set_loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
    """Options for loops that are converted; there are none, so give them to tf.while_loop."""
    raise _error("tf.autograph.experimental.set_loop_options", "give the options to tf.while_loop")


def _error(name, use):
    return NotImplementedError("%s is not in Weft%s: Weft does not convert Python code: %s" % (name, absent.where(), use))


def to_graph(entity, recursive=True, arg_values=None, arg_types=None, experimental_optional_features=None):
    """Converts a Python function's `if` and `while` into ops; Weft does not."""
    raise _error("tf.autograph.to_graph", "write tf.cond and tf.while_loop in %s" % getattr(entity, "__name__", entity))


def to_code(entity, recursive=True, arg_values=None, arg_types=None, indentation="  ", experimental_optional_features=None):
    """The source of the converted function; Weft converts none."""
    raise _error("tf.autograph.to_code", "inspect.getsource shows the source of %s" % getattr(entity, "__name__", entity))


def set_verbosity(level, alsologtostdout=False):
    """How much the conversion logs: nothing, since there is none."""
    if not isinstance(level, int) or level < 0:
        raise ValueError("level must be a number of at least 0, not %r" % (level,))


def trace(*args):
    """Prints the values while the graph is built."""
    print(*args)
