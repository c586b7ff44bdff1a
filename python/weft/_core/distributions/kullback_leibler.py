"""The registry of Kullback-Leibler divergences between classes of distributions."""
import inspect

from weft._core.framework.absent import Named
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ops.control_flow import Assert

_DIVERGENCES = {}


def _registered(type_a, type_b):
    """Returns the function of the nearest pair of base classes, or None."""
    found, least = None, None
    for i, a in enumerate(inspect.getmro(type_a)):
        for j, b in enumerate(inspect.getmro(type_b)):
            if (a, b) in _DIVERGENCES and (least is None or i + j < least):
                found, least = _DIVERGENCES[a, b], i + j
    return found


def kl_divergence(distribution_a, distribution_b, allow_nan_stats=True, name=None):
    """Returns the Kullback-Leibler divergence KL(a || b), by the function registered for their classes.

    Args:
      distribution_a: the first distribution.
      distribution_b: the second distribution.
      allow_nan_stats: whether the result may be NaN; if not, running it fails where it is.
      name: a name for the operation.
    """
    function = _registered(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError("No KL(distribution_a || distribution_b) registered for distribution_a type %s and "
                                  "distribution_b type %s" % (type(distribution_a).__name__, type(distribution_b).__name__))
    with name_scope("KullbackLeibler"):
        found = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return found
        found = array_ops.identity(found, name="kl")
        fine = Assert(math_ops.logical_not(math_ops.reduce_any(math_ops.is_nan(found))), [
            "KL calculation between %s and %s returned NaN values (and was called with allow_nan_stats=False). Values:"
            % (distribution_a.name, distribution_b.name), found])
        with control_dependencies([fine]):
            return array_ops.identity(found, name="checked_kl")


def cross_entropy(ref, other, allow_nan_stats=True, name=None):
    """Returns the cross entropy of two distributions: the entropy of the first plus the divergence from the second."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)


class RegisterKL(metaclass=Named):
    """Registers a function as the divergence of two classes: `@RegisterKL(Normal, Normal)`.

    Args:
      dist_cls_a: the class of the first argument of the divergence.
      dist_cls_b: the class of the second.
    """

    def __init__(self, dist_cls_a, dist_cls_b):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn):
        """Registers the function, and returns it."""
        if not callable(kl_fn):
            raise TypeError("kl_fn must be callable, received: %s" % kl_fn)
        if self._key in _DIVERGENCES:
            raise ValueError("KL(%s || %s) has already been registered to: %s" % (
                self._key[0].__name__, self._key[1].__name__, _DIVERGENCES[self._key]))
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn
