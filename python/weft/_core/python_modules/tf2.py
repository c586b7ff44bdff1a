"""tensorflow.python.tf2: whether the program asked for the behavior of TensorFlow 2, which Weft does not have."""
from weft._core.framework import eager


def enabled():
    """Returns False."""
    return False


def disable():
    """Does nothing, because the behavior of TensorFlow 2 is never on."""


def enable():
    """Raises an error, as tf.enable_v2_behavior does."""
    eager.enable_v2_behavior()
