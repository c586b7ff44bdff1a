"""tf.keras.layers.enable_v2_dtype_behavior and disable_v2_dtype_behavior."""
from weft._core.framework.absent import where


def disable_v2_dtype_behavior():
    """Does nothing: layers already take the type of their first inputs, as in TensorFlow 1."""


def enable_v2_dtype_behavior():
    """Raises an error, because layers take the type of their first inputs."""
    raise NotImplementedError("tf.keras.layers.enable_v2_dtype_behavior is not in Weft%s: give layers a dtype" % where())
