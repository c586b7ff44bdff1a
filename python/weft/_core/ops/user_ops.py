"""tf.user_ops: the op that shows how to add one."""
from weft._core.framework.build import op


def my_fact():
    """A fact about factorials, as a string."""
    return op("Fact")
