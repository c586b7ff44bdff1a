"""tensorflow.python.ops.gen_*_ops and training_ops: a function for each op, under the name of TensorFlow's wrapper.

The arguments are the inputs, then the attributes without a default, then those with one, then `name`.
"""
from weft._core.framework import absent, opdef, raw_ops

__all__ = [opdef.snake(kind) for kind in raw_ops.NAMES]
_KINDS = {kind.lower(): kind for kind in raw_ops.NAMES}


def __getattr__(name):
    kind = _KINDS.get(name.replace("_", "").lower())  # Before TensorFlow 1.8 many names began with an underscore.
    if kind is None or name.startswith("__"):
        if name.startswith("__"):
            raise AttributeError("module '%s' has no attribute '%s'" % (__name__, name))
        raise absent.missing("tf.raw_ops." + name, __all__)
    made = globals()[name] = raw_ops.function(kind)
    return made
