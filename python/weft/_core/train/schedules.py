"""Learning rates that decay with the global step: the library's schedules under TensorFlow's names."""
from weft._core.framework import library
from weft._core.framework.build import convert_to_tensor, is_tensor
from weft._core.framework.graph import get_default_graph, name_scope
from weft._core.ops import array_ops, math_ops, random_ops
from weft._core.ops.variables import Variable


def _decay(kind, scope_name, name, rate, step, steps, *more, flag=False):
    """Returns the decayed rate of the library's schedule; rate, steps and more may be functions, numbers or tensors."""
    if step is None:
        raise ValueError("global_step is required for %s." % kind)
    rate, steps, *more = (v() if callable(v) and not isinstance(v, Variable) else v for v in (rate, steps, *more))
    with name_scope(name, scope_name, [rate, step, steps, *more]) as scope:
        rate = convert_to_tensor(rate, name="initial_learning_rate")
        if flag and kind == "polynomial_decay" and is_tensor(steps) and steps.dtype.base_dtype != rate.dtype.base_dtype:
            raise TypeError("`x` and `y` must have the same dtype, got %r != %r." % (rate.dtype.base_dtype, steps.dtype.base_dtype))
        operands = [library.operand(v) for v in (_variable(step), _variable(steps), *map(_variable, more))]
        seed = random_ops.seed_operand(None) if kind == "noisy_linear_cosine_decay" else []
        return library.helper(kind, scope, [rate, *operands, *seed], flag=bool(flag))


def _variable(x):
    """Returns the reference of a variable, so that the library reads it in the scope where TensorFlow does."""
    return x._ref() if isinstance(x, Variable) and get_default_graph().outer is None else x


def exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    return _decay("exponential_decay", "ExponentialDecay", name, learning_rate, global_step, decay_steps, decay_rate, flag=staircase)


def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    decay_rate = decay_rate() if callable(decay_rate) and not isinstance(decay_rate, Variable) else decay_rate
    factor = math_ops.exp(math_ops.negative(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, factor, staircase, name)


def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    return _decay("inverse_time_decay", "InverseTimeDecay", name, learning_rate, global_step, decay_steps, decay_rate, flag=staircase)


def polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, name=None):
    return _decay("polynomial_decay", "PolynomialDecay", name, learning_rate, global_step, decay_steps, end_learning_rate, power,
                  flag=cycle)


def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    return _decay("cosine_decay", "CosineDecay", name, learning_rate, global_step, decay_steps, alpha)


def cosine_decay_restarts(learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
    return _decay("cosine_decay_restarts", "SGDRDecay", name, learning_rate, global_step, first_decay_steps, t_mul, m_mul, alpha)


def linear_cosine_decay(learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    return _decay("linear_cosine_decay", "LinearCosineDecay", name, learning_rate, global_step, decay_steps, num_periods, alpha, beta)


def noisy_linear_cosine_decay(learning_rate, global_step, decay_steps, initial_variance=1.0, variance_decay=0.55,
                              num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    return _decay("noisy_linear_cosine_decay", "NoisyLinearCosineDecay", name, learning_rate, global_step, decay_steps,
                  initial_variance, variance_decay, num_periods, alpha, beta)


def piecewise_constant(x, boundaries, values, name=None):
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    x = convert_to_tensor(x)
    limits, choices = [convert_to_tensor(b) for b in boundaries], [convert_to_tensor(v) for v in values]
    kind = x.dtype.base_dtype
    for limit in limits:
        if limit.dtype.base_dtype != kind and (kind.name, limit.dtype.base_dtype.name) != ("int64", "int32"):
            raise ValueError("Boundaries (%s) must have the same dtype as x (%s)." % (limit.dtype.base_dtype, kind))
    limits = [math_ops.cast(b, kind) for b in limits]
    for choice in choices[1:]:
        if choice.dtype.base_dtype != choices[0].dtype.base_dtype:
            raise ValueError("Values must have elements all with the same dtype (%s vs %s)." % (
                choices[0].dtype.base_dtype, choice.dtype.base_dtype))
    with name_scope(name, "PiecewiseConstant", [x, boundaries, values]) as scope:
        made = library.helper("piecewise_constant", scope, [library.operand(v) for v in (x, *limits, *choices)])
        return array_ops.identity(made, name="case/cond/Merge")  # TensorFlow's name of the result


piecewise_constant_decay = piecewise_constant
