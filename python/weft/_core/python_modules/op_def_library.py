"""tensorflow.python.framework.op_def_library: a node of any op by the name of its type."""
from weft._core.framework.build import op


def apply_op(op_type_name, name=None, **keywords):
    """Adds a node and gives its outputs; the keywords are its inputs and attributes."""
    return op(op_type_name, name, **keywords)
