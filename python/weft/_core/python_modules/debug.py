"""tensorflow.python.debug: the wrappers of sessions for TensorFlow's debugger, which Weft does not have."""

_INSTEAD = "Weft has no tfdbg: use tf.Print, tf.add_check_numerics_ops or tf.debugging.enable_check_numerics"


def _absent(name):
    """Returns a class that cannot be made."""
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("tensorflow.python.debug.%s: %s" % (name, _INSTEAD))
    return type(name, (), {"__init__": __init__, "__doc__": "Raises an error that says what to use instead.",
                           "__module__": __name__})


DumpingDebugWrapperSession = _absent("DumpingDebugWrapperSession")
DumpingDebugHook = _absent("DumpingDebugHook")
LocalCLIDebugHook = _absent("LocalCLIDebugHook")
LocalCLIDebugWrapperSession = _absent("LocalCLIDebugWrapperSession")
TensorBoardDebugHook = _absent("TensorBoardDebugHook")
TensorBoardDebugWrapperSession = _absent("TensorBoardDebugWrapperSession")
GrpcDebugHook = _absent("GrpcDebugHook")
GrpcDebugWrapperSession = _absent("GrpcDebugWrapperSession")


def has_inf_or_nan(datum, tensor):
    """Returns whether an array has an infinity or NaN; `datum`, which says where it came from, is not read."""
    import numpy as np
    if tensor is None or not isinstance(tensor, np.ndarray):
        return False
    kind = tensor.dtype.kind
    return bool(kind in "fc" and not np.all(np.isfinite(tensor)))
