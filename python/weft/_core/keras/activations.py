"""tf.keras.activations: functions of a tensor that layers apply to their outputs, found by name too."""
from weft._core.framework.build import constant, convert_to_tensor
from weft._core.framework.graph import name_scope
from weft._core.keras.serialization import deserialize_keras_object, serialize_keras_object
from weft._core.nn import nn
from weft._core.ops import math_ops
from weft._core.ops.gradients import clip_by_value
from weft._core.ops.special_math import where_v2


def softmax(x, axis=-1):
    """Returns exp(x) / sum(exp(x)) along an axis. x must have at least two axes."""
    x = convert_to_tensor(x)
    if x.shape.ndims == 1:
        raise ValueError("Cannot apply softmax to a tensor that is 1D. Received input: %s" % x)
    made = nn.softmax(x, axis=axis)
    made._keras_logits = x
    return made


def elu(x, alpha=1.0):
    """Returns x where it is positive, and otherwise alpha * (exp(x) - 1)."""
    made = nn.elu(x)
    return made if alpha == 1 else where_v2(math_ops.greater(x, 0.0), made, alpha * made)


def selu(x):
    """Returns the scaled exponential linear unit."""
    return nn.selu(x)


def softplus(x):
    """Returns log(exp(x) + 1)."""
    return nn.softplus(x)


def softsign(x):
    """Returns x / (abs(x) + 1)."""
    return nn.softsign(x)


def swish(x):
    """Returns x * sigmoid(x)."""
    return nn.swish(x)


def relu(x, alpha=0.0, max_value=None, threshold=0.0):
    """Returns x from the threshold up to max_value, and otherwise alpha * (x - threshold)."""
    x = convert_to_tensor(x)
    if alpha != 0.0 and max_value is None and threshold == 0.0:
        return nn.leaky_relu(x, alpha=alpha)
    negative = None
    if alpha != 0.0:
        negative = nn.relu(-x + threshold) if threshold != 0 else nn.relu(-x)
    clip = max_value is not None
    if threshold != 0:
        x = x * math_ops.cast(math_ops.greater(x, threshold), x.dtype.base_dtype)
    elif max_value == 6:
        x, clip = nn.relu6(x), False
    else:
        x = nn.relu(x)
    if clip:
        x = _clipped(x, max_value)
    return x if negative is None else x - constant(alpha, x.dtype.base_dtype) * negative


def _clipped(x, max_value):
    high = constant(max_value, x.dtype.base_dtype)
    low = constant(0.0, x.dtype.base_dtype)
    return clip_by_value(x, low, high)


def gelu(x, approximate=False):
    """Returns x times the probability that a standard normal variable is at most x."""
    with name_scope(None, "Gelu", [x]):
        x = convert_to_tensor(x, name="features")
        if approximate:
            coefficient = math_ops.cast(0.044715, x.dtype)
            return 0.5 * x * (1.0 + math_ops.tanh(0.7978845608028654 * (x + coefficient * math_ops.pow(x, 3))))
        return 0.5 * x * (1.0 + math_ops.erf(x / math_ops.cast(1.4142135623730951, x.dtype)))


def tanh(x):
    """Returns the hyperbolic tangent."""
    return math_ops.tanh(x)


def sigmoid(x):
    """Returns 1 / (1 + exp(-x))."""
    made = math_ops.sigmoid(x)
    made._keras_logits = x
    return made


def exponential(x):
    """Returns exp(x)."""
    return math_ops.exp(x)


def hard_sigmoid(x):
    """Returns 0.2 * x + 0.5, limited to [0, 1]."""
    x = convert_to_tensor(x)
    slope, offset = constant(0.2, x.dtype.base_dtype), constant(0.5, x.dtype.base_dtype)
    return clip_by_value(math_ops.add(math_ops.multiply(x, slope), offset), 0.0, 1.0)


def linear(x):
    """Returns x."""
    return x


def mish(x):
    """Returns x * tanh(softplus(x))."""
    return x * math_ops.tanh(nn.softplus(x))


_NAMES = {f.__name__: f for f in (softmax, elu, selu, softplus, softsign, swish, relu, gelu, tanh, sigmoid, exponential, hard_sigmoid,
                                  linear, mish)}
_NAMES.update(silu=swish, leaky_relu=nn.leaky_relu, log_softmax=nn.log_softmax, relu6=nn.relu6)


def serialize(activation, use_legacy_format=False):
    if getattr(activation, "__name__", None) in _NAMES:
        return activation.__name__
    return serialize_keras_object(activation)


def deserialize(name, custom_objects=None, use_legacy_format=False):
    from weft._core.keras.layers import activation as layers
    names = {**{k: v for k, v in vars(layers).items() if isinstance(v, type)}, **_NAMES}
    return deserialize_keras_object(name, names, custom_objects, "activation function")


def get(identifier):
    """Returns the function for a name or a callable; None means linear."""
    if identifier is None:
        return linear
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise TypeError("Could not interpret activation function identifier: %s" % (identifier,))
