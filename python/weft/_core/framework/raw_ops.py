"""tf.raw_ops: a function for every op of the library, by the op's own name, made when it is asked for.

Arguments are the inputs in the order of the definition, then the attributes, then `name`.
"""
from weft._core.framework import build, opdef

NAMES = [name for name in opdef.names() if not name.startswith("_")]


def function(kind):
    definition = opdef.get(kind)
    order = [a.name for a in definition.inputs] + [n for n in definition.attrs if n not in definition.inferred]

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

    call.__name__ = opdef.snake(kind)
    call.__doc__ = "%s\n\n%s" % (definition.doc, opdef._LINES[kind][0])
    return call


def by_name(name):
    """The `__getattr__` of the module tf.raw_ops."""
    if name not in opdef._LINES:
        raise AttributeError("there is no op %s" % name)
    return function(name)
