"""tensorflow.python.tf2: whether the program asked for the behavior of TensorFlow 2, which Weft does not have."""
from weft._core.framework import eager


def enabled():
    """False."""
    return False


def disable():
    """Nothing: it is the behavior that there is."""


def enable():
    """Raises an error, as tf.enable_v2_behavior does."""
    eager.enable_v2_behavior()
