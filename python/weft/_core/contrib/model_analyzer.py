"""tf.contrib.slim.model_analyzer: computes the sizes of a graph's tensors and variables."""
from weft._core.framework.tensor_shape import TensorShape


def tensor_description(var):
    """Returns the type and shape of a variable or tensor, such as "(float32_ref 3x4) [12, bytes: 48]"."""
    said = "(%s " % str(var.dtype.name)
    sizes = var.get_shape()
    for i, size in enumerate(sizes):
        said += str(size) + ("x" if i < len(sizes) - 1 else "")
    return said + ")"


def _elements(shape):
    return TensorShape(shape).num_elements() or 0


def analyze_ops(graph, print_info=False):
    """Returns the number of elements in the outputs of all operations, and can print them. Unknown sizes count as zero.
    """
    if print_info:
        print("---------")
        print("Operations: name -> (type shapes) [size]")
        print("---------")
    total = 0
    for op in graph.get_operations():
        size = sum(_elements(t.get_shape()) for t in op.outputs)
        total += size
        if print_info:
            print(op.name, "\t->", ", ".join("%s (%s)" % (t.op.type if i == 0 else t.op.type, tensor_description(t)) for i, t in
                                             enumerate(op.outputs)), "[" + str(size) + "]")
    return total


def analyze_vars(variables, print_info=False):
    """Returns (elements, bytes) of all variables, and can print them."""
    if print_info:
        print("---------")
        print("Variables: name (type shape) [size]")
        print("---------")
    total, total_bytes = 0, 0
    for var in variables:
        size = _elements(var.get_shape())
        in_bytes = size * var.dtype.size
        total, total_bytes = total + size, total_bytes + in_bytes
        if print_info:
            print(var.name, tensor_description(var), "[%d, bytes: %d]" % (size, in_bytes))
    if print_info:
        print("Total size of variables: %d" % total)
        print("Total bytes of variables: %d" % total_bytes)
    return total, total_bytes
