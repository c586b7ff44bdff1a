"""tf.keras.regularizers: penalties on the size of weights and outputs."""
import numpy as np

from weft._core.framework.absent import Named
from weft._core.framework.build import constant
from weft._core.keras.serialization import deserialize_keras_object, serialize_keras_object
from weft._core.nn import nn
from weft._core.ops import math_ops


def _number(x):
    if isinstance(x, (str, bool)) or not isinstance(x, (int, float, np.generic)) or not np.isfinite(x):
        raise ValueError("Value %s is not a valid regularization penalty number, expected an int or float value." % (x,))
    return np.float32(x)


class Regularizer(metaclass=Named):
    """A function from a tensor to a loss. Subclasses define __call__ and get_config."""

    def __call__(self, x):
        return 0.0

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def get_config(self):
        raise NotImplementedError("%s does not implement get_config()" % self)


def _absolute(rate, x):
    return rate * math_ops.reduce_sum(math_ops.abs(x))


def _squared(rate, x):
    return 2.0 * rate * nn.l2_loss(x)


class L1L2(Regularizer):
    """Computes l1 * sum(|x|) + l2 * sum(x^2)."""

    def __init__(self, l1=0.0, l2=0.0):
        self.l1, self.l2 = _number(0.0 if l1 is None else l1), _number(0.0 if l2 is None else l2)

    def __call__(self, x):
        total = constant(0.0, x.dtype.base_dtype)
        if self.l1:
            total += _absolute(self.l1, x)
        if self.l2:
            total += _squared(self.l2, x)
        return total

    def get_config(self):
        return {"l1": float(self.l1), "l2": float(self.l2)}


class L1(Regularizer):
    """Computes l1 * sum(|x|)."""

    def __init__(self, l1=0.01, **kwargs):
        l1 = kwargs.pop("l", l1)
        if kwargs:
            raise TypeError("Argument(s) not recognized: %s" % kwargs)
        self.l1 = _number(0.01 if l1 is None else l1)

    def __call__(self, x):
        return _absolute(self.l1, x)

    def get_config(self):
        return {"l1": float(self.l1)}


class L2(Regularizer):
    """Computes l2 * sum(x^2)."""

    def __init__(self, l2=0.01, **kwargs):
        l2 = kwargs.pop("l", l2)
        if kwargs:
            raise TypeError("Argument(s) not recognized: %s" % kwargs)
        self.l2 = _number(0.01 if l2 is None else l2)

    def __call__(self, x):
        return _squared(self.l2, x)

    def get_config(self):
        return {"l2": float(self.l2)}


def l1_l2(l1=0.01, l2=0.01):
    """Returns a regularizer that computes l1 * sum(|x|) + l2 * sum(x^2)."""
    return L1L2(l1=l1, l2=l2)


l1, l2 = L1, L2
_NAMES = {"L1": L1, "L2": L2, "L1L2": L1L2, "l1": L1, "l2": L2, "l1_l2": l1_l2, "Regularizer": Regularizer}


def serialize(regularizer, use_legacy_format=False):
    return serialize_keras_object(regularizer)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    if config == "l1_l2":
        return L1L2(l1=0.01, l2=0.01)
    return deserialize_keras_object(config, _NAMES, custom_objects, "regularizer")


def get(identifier):
    """Returns the regularizer for a name, a serialized dictionary or a callable."""
    if identifier is None:
        return None
    if isinstance(identifier, (dict, str)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError("Could not interpret regularizer identifier: %s" % (identifier,))
