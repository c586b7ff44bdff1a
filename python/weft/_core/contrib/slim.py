"""tf.contrib.slim: contrib.layers and arg_scope under one name."""


def _layer_name(layer, default):
    """Returns the name of a function, also of one that a partial function calls."""
    return getattr(layer, "__name__", None) or getattr(getattr(layer, "func", None), "__name__", default)


def repeat(inputs, repetitions, layer, *args, **kwargs):
    from weft._core.ops.variable_scope import variable_scope
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        out = inputs
        name = scope or _layer_name(layer, "repeat")
        for i in range(repetitions):
            out = layer(out, *args, scope="%s_%d" % (name, i + 1), **kwargs)
        return out


def stack(inputs, layer, stack_args, **kwargs):
    from weft._core.ops.variable_scope import variable_scope
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Stack", [inputs]):
        out = inputs
        for i, args in enumerate(stack_args):
            args = args if isinstance(args, (list, tuple)) else [args]
            out = layer(out, *args, scope="%s_%d" % (scope or _layer_name(layer, "stack"), i + 1), **kwargs)
        return out
