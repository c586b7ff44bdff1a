"""tf.raw_ops: a function for every op of the library, by the op's own name, made when it is asked for.

Arguments are the inputs in the order of the definition, then the attributes, those without a default first, then `name`.
"""
import inspect

from weft._core.framework import absent, build, opdef

NAMES = [name for name in opdef.names() if not name.startswith("_")]


def function(kind):
    definition = opdef.get(kind)
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
            if key in given:
                raise TypeError("%s() got multiple values for argument '%s'" % (call.__name__, key))
            given[key] = value
        return build.op(kind, name, **given)

    call.__name__ = call.__qualname__ = opdef.snake(kind)
    call.__doc__ = "%s\n\nArgs:\n%s\n\n%s" % (definition.doc, "\n".join(_described(definition, order)), opdef._LINES[kind][0])
    keywords = inspect.Parameter.POSITIONAL_OR_KEYWORD
    needed = [n for n in order if n not in definition.attrs or definition.attrs[n].default is None]
    call.__signature__ = inspect.Signature([inspect.Parameter(n, keywords) for n in needed] + [
        inspect.Parameter(n, keywords, default=None) for n in order + ["name"] if n not in needed])
    return call


def _described(definition, order):
    """A line for each parameter: an input with its type, an attribute with its kind and default."""
    for arg in definition.inputs:
        of = arg.type.name if arg.type is not None else arg.type_attr or arg.list_attr
        many = "A list of tensors" if arg.number_attr or arg.list_attr else "A tensor"
        yield "  %s: %s of type %s%s." % (arg.name, many, of, ", which is a variable's" if arg.is_ref else "")
    for name in order[len(definition.inputs):]:
        attr = definition.attrs[name]
        default = "" if attr.default is None else " The default is %s." % attr.default
        yield "  %s: %s%s.%s" % (name, "A list of " if attr.is_list else "Of kind ", attr.kind, default)
    yield "  name: A name for the operation."


def by_name(name):
    """The `__getattr__` of the module tf.raw_ops."""
    if name not in opdef._LINES:
        if name.startswith("__"):
            raise AttributeError("module 'weft.raw_ops' has no attribute '%s'" % name)
        raise absent.missing("tf.raw_ops." + name, NAMES)
    return function(name)
