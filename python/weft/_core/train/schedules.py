"""Learning rates whose parameters are tensors: composed of nodes here; those of numbers are the library's."""
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops, math_ops

_NAMES = {"exponential": "ExponentialDecay", "natural_exp": "NaturalExpDecay", "inverse_time": "InverseTimeDecay",
          "polynomial": "PolynomialDecay", "cosine": "CosineDecay"}


def _floored(p, flag):
    return math_ops.floor(p) if flag else p


def _polynomial(rate, step, steps, end, power, cycle):
    if cycle:
        times = math_ops.ceil(step / steps)
        steps = steps * math_ops.maximum(times, 1.0)
    else:
        step = math_ops.minimum(step, steps)
    return (rate - end) * math_ops.pow(1.0 - step / steps, power) + end


def decay(kind, name, rate, step, steps, flag, a, b=0.0, *more):
    """tf.train.KIND_decay with `a` its decay_rate, end or alpha, `b` a power."""
    if kind not in _NAMES:
        raise NotImplementedError("tf.train.%s_decay of tensors is not in Weft: give it numbers" % kind)
    with name_scope(name, _NAMES[kind], [rate, step, steps, a, b]) as scope:
        rate = convert_to_tensor(rate, name="learning_rate")
        dtype = rate.dtype.base_dtype
        step, steps, a, b = (math_ops.cast(convert_to_tensor(v), dtype) for v in (step, steps, a, b))
        p = step / steps
        if kind == "exponential":
            made = rate * math_ops.pow(a, _floored(p, flag))
        elif kind == "natural_exp":
            made = rate * math_ops.exp(-a * _floored(p, flag))
        elif kind == "inverse_time":
            made = rate / (1.0 + a * _floored(p, flag))
        elif kind == "polynomial":
            made = _polynomial(rate, step, steps, a, b, flag)
        else:
            wave = 0.5 * (1.0 + math_ops.cos(3.141592653589793 * math_ops.minimum(step, steps) / steps))
            made = rate * ((1.0 - a) * wave + a)
        return array_ops.identity(made, name=scope)


def piecewise(x, boundaries, values, name):
    """The value of the first boundary that x does not pass."""
    with name_scope(name, "PiecewiseConstant", [x]) as scope:
        x = convert_to_tensor(x)
        made = convert_to_tensor(values[-1])
        for boundary, value in reversed(list(zip(boundaries, values))):
            below = math_ops.less_equal(x, math_ops.cast(convert_to_tensor(boundary), x.dtype.base_dtype))
            made = array_ops.where(below, convert_to_tensor(value, made.dtype.base_dtype), made)
        return array_ops.identity(made, name=scope)
