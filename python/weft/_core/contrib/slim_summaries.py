"""tf.contrib.slim.summaries: adds summaries of tensors, by default under their own names."""
from weft._core.files import summary
from weft._core.framework.graph import GraphKeys, add_to_collection
from weft._core.nn.nn import zero_fraction
from weft._core.ops.logging_ops import Print


def _name(name, prefix):
    return "%s/%s" % (prefix, name) if prefix else name


def _kept(made, tensor, name, print_summary):
    """Adds a summary to the graph's collection, if requested after an op that prints the tensor."""
    if print_summary:
        made = Print(made, [tensor], name)
    add_to_collection(GraphKeys.SUMMARIES, made)
    return made


def add_histogram_summary(tensor, name=None, prefix=None):
    """Returns a histogram of a tensor."""
    return summary.histogram(_name(name or tensor.op.name, prefix), tensor)


def add_image_summary(tensor, name=None, prefix=None, print_summary=False):
    """Returns the images of a tensor."""
    name = _name(name or tensor.op.name, prefix)
    return _kept(summary.image(name, tensor, collections=[]), tensor, name, print_summary)


def add_scalar_summary(tensor, name=None, prefix=None, print_summary=False):
    """Returns a number."""
    name = _name(name or tensor.op.name, prefix)
    return _kept(summary.scalar(name, tensor, collections=[]), tensor, name, print_summary)


def add_zero_fraction_summary(tensor, name=None, prefix=None, print_summary=False):
    """Adds a summary of the fraction of a tensor that is zero."""
    name = _name(name or tensor.op.name, prefix) + "/Fraction_of_Zero_Values"
    tensor = zero_fraction(tensor)
    return _kept(summary.scalar(name, tensor, collections=[]), tensor, name, print_summary)


def add_histogram_summaries(tensors, prefix=None):
    """Returns a histogram of each tensor."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors, prefix=None):
    """Returns the images of each tensor."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(tensors, prefix=None, print_summary=False):
    """Returns each tensor as a number."""
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


def add_zero_fraction_summaries(tensors, prefix=None):
    """Adds a summary for each tensor of the fraction that is zero."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
