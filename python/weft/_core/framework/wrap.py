"""Makes public functions from one line each, such as "matmul MatMul a b transpose_a=False transpose_b=False".

The first word is the function's name, the second the op, the rest its parameters in TensorFlow's order; `x:input` is a
parameter x that is the op's `input`; a default is written as in Python.  `name=None` is added at the end, unless the
line places it elsewhere.
"""
import ast
import inspect

from weft._core.framework import build

# For a sparse tensor these ops compute only the values, because they map zero to zero.
_OF_SPARSE_VALUES = {"Neg", "Sign", "Square", "Sqrt", "Tanh", "Erf", "StopGradient"}


def _of_parts(kind, name, value, target):
    """Returns the op applied to the parts of a SparseTensor or IndexedSlices, or None if it takes only tensors."""
    if kind == "Identity":
        return value._with_parts([build.op(kind, name, **{target: part}) for part in value._parts()])
    if kind in _OF_SPARSE_VALUES and hasattr(value, "with_values"):
        return value.with_values(build.op(kind, name, **{target: value.values}))
    return None


def function(line):
    words = line.split()
    public, kind, order, targets, defaults, default_name = words[0], words[1], [], {}, {}, None
    if "@" in kind:
        kind, default_name = kind.split("@")
    for word in words[2:]:
        left, _, default = word.partition("=")
        mine, _, theirs = left.partition(":")
        order.append(mine)
        targets[mine] = theirs or mine
        if default:
            defaults[mine] = ast.literal_eval(default)
    if "name" not in targets:
        order.append("name")
        defaults["name"] = None
    required = [p for p in order if p not in defaults]

    def call(*args, **kwargs):
        if len(args) > len(order):
            raise TypeError("%s() takes %d arguments but %d were given" % (public, len(order), len(args)))
        given = dict(zip(order, args))
        for key, value in kwargs.items():
            if key not in targets and key != "name":
                raise TypeError("%s() got an unexpected keyword argument '%s'" % (public, key))
            if key in given:
                raise TypeError("%s() got multiple values for argument '%s'" % (public, key))
            given[key] = value
        for p in required:
            if p not in given:
                raise TypeError("%s() missing 1 required positional argument: '%s'" % (public, p))
        given = {**defaults, **given}
        name = given.pop("name")
        if hasattr(given.get(order[0]), "_parts"):
            made = _of_parts(kind, name or default_name, given[order[0]], targets[order[0]])
            if made is not None:
                return made
        return build.op(kind, name or default_name, **{targets[p]: v for p, v in given.items()})

    call.__signature__ = inspect.Signature([
        inspect.Parameter(p, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=defaults.get(p, inspect.Parameter.empty))
        for p in sorted(order, key=lambda p: p in defaults)])
    call.__name__ = call.__qualname__ = public
    call.__doc__ = build.opdef._LINES[kind][1] if kind in build.opdef._LINES else None
    return call


def functions(table, into):
    """Adds a function for each line of the table to a module's globals; a line may end in ' | other names'."""
    for line in table.strip().splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        line, _, aliases = line.partition(" | ")
        made = function(line)
        into[made.__name__] = made
        made.__module__ = into["__name__"]
        for alias in aliases.split():
            into[alias] = made
