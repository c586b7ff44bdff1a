"""Settings of TensorFlow's eager mode and of its MLIR bridge: graphs keep them, and they change no result."""
import contextlib

_POLICIES = (None, "explicit", "warn", "silent", "silent_for_int32")


class _Settings:
    """What a program has set."""

    synchronous, policy = True, "silent"


_settings = _Settings()


def get_synchronous_execution():
    """Returns whether ops of eager mode would run one after another; steps of a graph are not concerned."""
    return _settings.synchronous


def set_synchronous_execution(enable):
    """Sets what get_synchronous_execution returns; steps of a graph are not concerned.

    Args:
      enable: whether ops of eager mode would run one after another; None stands for the default, True.
    """
    _settings.synchronous = True if enable is None else bool(enable)


def get_device_policy():
    """Returns how ops of eager mode would treat inputs on other devices; a graph copies them."""
    return _settings.policy


def set_device_policy(device_policy):
    """Sets what get_device_policy returns; a graph copies inputs to the device of the op.

    Args:
      device_policy: "explicit", "warn", "silent", "silent_for_int32", or None for "silent".
    """
    if device_policy not in _POLICIES:
        raise ValueError("Invalid argument `device_policy`: %r. It must be one of %s." % (device_policy, ", ".join(map(repr, _POLICIES))))
    _settings.policy = device_policy or "silent"


def enable_mlir_bridge():
    """Has no effect: TensorFlow's bridge compiles for TPUs, and the results of a graph are the same."""


def disable_mlir_bridge():
    """Has no effect: TensorFlow's bridge compiles for TPUs, and the results of a graph are the same."""


@contextlib.contextmanager
def async_scope():
    """Opens a scope for ops of eager mode; nodes of a graph are not concerned."""
    yield


@contextlib.contextmanager
def function_executor_type(executor_type):
    """Opens a scope that would choose the executor of functions; Weft has one for all, so the results are the same.

    Args:
      executor_type: the name of TensorFlow's executor.
    """
    if executor_type is not None and not isinstance(executor_type, str):
        raise TypeError("function_executor_type: the executor's name must be a string, not %r" % (executor_type,))
    yield


def output_all_intermediates(state):
    """Sets whether branches keep all values for gradients. No effect here: gradients take the values that they need.

    Args:
      state: True, False, or None for the default.
    """
    if state not in (True, False, None):
        raise ValueError("output_all_intermediates: state must be True, False or None, not %r" % (state,))
