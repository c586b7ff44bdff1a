"""tensorflow.python.framework.op_def_library: adds a node of any op by its type."""
from weft._core.framework.build import op


def apply_op(op_type_name, name=None, **keywords):
    """Adds a node and returns its outputs. The keywords are its inputs and attributes."""
    return op(op_type_name, name, **keywords)
