"""tf.user_ops: an op that shows how to add one."""
from weft._core.framework.build import op


def my_fact():
    """Returns a fact about factorials, as a string."""
    return op("Fact")
