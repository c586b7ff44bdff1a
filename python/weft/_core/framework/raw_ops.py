"""tf.raw_ops: a function for every op of the library, with the op's own name, made on first use.

Arguments are the inputs in the order of the definition, then the attributes, those without a default first, then
`name`.
"""
import inspect

from weft._core.framework import absent, build, opdef

# TensorFlow shows no function for this one, which tf.xla makes.
NAMES = [name for name in opdef.names() if not name.startswith("_") and name != "XlaClusterOutput"]

# Parameters whose names in tf.raw_ops are not those of the definitions.
_AXIS = {"reduction_indices": "axis"}
RENAMED = {**dict.fromkeys(("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"), _AXIS),
           "ExpandDims": {"dim": "axis"}, "Select": {"t": "x", "e": "y"}, "Split": {"split_dim": "axis"},
           "SplitV": {"split_dim": "axis"}, "Squeeze": {"squeeze_dims": "axis"}, "Where": {"input": "condition"}}

# Attributes whose default in tf.raw_ops is not that of the definition.
DEFAULTS = {"SdcaOptimizer": {"adaptative": True}, "SdcaOptimizerV2": {"adaptive": True}}


def function(kind):
    definition = opdef.get(kind)
    shown = RENAMED.get(kind, {})
    of_definition = {theirs: own for own, theirs in shown.items()}
    given = [n for n in definition.attrs if n not in definition.inferred]
    order = [a.name for a in definition.inputs] + sorted(given, key=lambda n: definition.attrs[n].default is not None)

    def call(*args, **kwargs):
        name = kwargs.pop("name", None)
        if len(args) > len(order) + 1:
            raise TypeError("%s() takes at most %d arguments (%d given)" % (call.__name__, len(order) + 1, len(args)))
        given = dict(zip(order, args))
        if len(args) == len(order) + 1:
            name = args[-1]
        for key, value in kwargs.items():
            key = of_definition.get(key, key)
            if key in given:
                raise TypeError("%s() got multiple values for argument '%s'" % (call.__name__, key))
            given[key] = value
        for key, value in DEFAULTS.get(kind, {}).items():
            given.setdefault(key, value)
        return build.op(kind, name, **given)

    call.__name__ = call.__qualname__ = opdef.snake(kind)
    call.__doc__ = "%s\n\nArgs:\n%s\n\n%s" % (definition.doc, "\n".join(_described(definition, order, shown)), opdef._LINES[kind][0])
    keywords = inspect.Parameter.POSITIONAL_OR_KEYWORD
    needed = [n for n in order if n not in definition.attrs or definition.attrs[n].default is None]
    call.__signature__ = inspect.Signature([inspect.Parameter(shown.get(n, n), keywords) for n in needed] + [
        inspect.Parameter(shown.get(n, n), keywords, default=None) for n in order + ["name"] if n not in needed])
    return call


def _described(definition, order, shown):
    """Returns a line for each parameter: an input with its type, or an attribute with its kind and default."""
    for arg in definition.inputs:
        of = arg.type.name if arg.type is not None else arg.type_attr or arg.list_attr
        many = "A list of tensors" if arg.number_attr or arg.list_attr else "A tensor"
        yield "  %s: %s of type %s%s." % (shown.get(arg.name, arg.name), many, of, ", which is a variable's" if arg.is_ref else "")
    for name in order[len(definition.inputs):]:
        attr = definition.attrs[name]
        value = DEFAULTS.get(definition.name, {}).get(name, attr.default)
        default = "" if value is None else " The default is %s." % (str(value).lower() if value is True else value)
        yield "  %s: %s%s.%s" % (shown.get(name, name), "A list of " if attr.is_list else "Of kind ", attr.kind, default)
    yield "  name: A name for the operation."


def by_name(name):
    """Returns the function of an op. It is the `__getattr__` of the module tf.raw_ops."""
    if name not in opdef._LINES:
        if name.startswith("__"):
            raise AttributeError("module 'weft.raw_ops' has no attribute '%s'" % name)
        raise absent.missing("tf.raw_ops." + name, NAMES)
    return function(name)
