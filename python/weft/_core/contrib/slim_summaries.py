"""tf.contrib.slim.summaries: summaries of tensors under their own names."""
from weft._core.files import summary
from weft._core.framework.graph import GraphKeys, add_to_collection
from weft._core.nn.nn import zero_fraction
from weft._core.ops.logging_ops import Print


def _name(name, prefix):
    return "%s/%s" % (prefix, name) if prefix else name


def _kept(made, tensor, name, print_summary):
    """Adds a summary to those of the graph, behind an op that prints the tensor if that is asked for."""
    if print_summary:
        made = Print(made, [tensor], name)
    add_to_collection(GraphKeys.SUMMARIES, made)
    return made


def add_histogram_summary(tensor, name=None, prefix=None):
    """A histogram of a tensor."""
    return summary.histogram(_name(name or tensor.op.name, prefix), tensor)


def add_image_summary(tensor, name=None, prefix=None, print_summary=False):
    """The images of a tensor."""
    name = _name(name or tensor.op.name, prefix)
    return _kept(summary.image(name, tensor, collections=[]), tensor, name, print_summary)


def add_scalar_summary(tensor, name=None, prefix=None, print_summary=False):
    """A number."""
    name = _name(name or tensor.op.name, prefix)
    return _kept(summary.scalar(name, tensor, collections=[]), tensor, name, print_summary)


def add_zero_fraction_summary(tensor, name=None, prefix=None, print_summary=False):
    """Which part of a tensor is zero."""
    name = _name(name or tensor.op.name, prefix) + "/Fraction_of_Zero_Values"
    tensor = zero_fraction(tensor)
    return _kept(summary.scalar(name, tensor, collections=[]), tensor, name, print_summary)


def add_histogram_summaries(tensors, prefix=None):
    """A histogram of each tensor."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors, prefix=None):
    """The images of each tensor."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(tensors, prefix=None, print_summary=False):
    """Each tensor as a number."""
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


def add_zero_fraction_summaries(tensors, prefix=None):
    """For each tensor, which part of it is zero."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
