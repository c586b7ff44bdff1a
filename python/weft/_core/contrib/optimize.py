"""tf.contrib.layers.optimize_loss: returns a training op for a loss, with decay, noise, clipping and summaries."""
import weft as tf
from weft._core.framework.graph import IndexedSlices, Tensor

OPTIMIZER_CLS_NAMES = {
    "Adagrad": tf.train.AdagradOptimizer,
    "Adam": tf.train.AdamOptimizer,
    "Ftrl": tf.train.FtrlOptimizer,
    "Momentum": lambda learning_rate: tf.train.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": tf.train.RMSPropOptimizer,
    "SGD": tf.train.GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]


def _learning_rate(learning_rate):
    """Returns the rate as a tensor; a number becomes the variable learning_rate."""
    if learning_rate is None:
        return None
    if isinstance(learning_rate, Tensor) and learning_rate.shape.ndims == 0:
        return learning_rate
    if not isinstance(learning_rate, float):
        raise ValueError("Learning rate should be 0d Tensor or float. Got %s of type %s" % (learning_rate, type(learning_rate)))
    if learning_rate < 0.0:
        raise ValueError("Invalid learning_rate %s." % learning_rate)
    return tf.get_variable("learning_rate", [], trainable=False, initializer=tf.constant_initializer(learning_rate))


def _needed(lr, what):
    if lr is None:
        raise ValueError("Learning rate is None, but should be specified if optimizer is %s (%s)." % what)


def _optimizer(optimizer, lr):
    if isinstance(optimizer, str):
        _needed(lr, ("string", optimizer))
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError("Optimizer name should be one of [%s], you provided %s." % (", ".join(OPTIMIZER_CLS_NAMES), optimizer))
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=lr)
    if isinstance(optimizer, type) and issubclass(optimizer, tf.train.Optimizer):
        _needed(lr, ("class", optimizer))
        return optimizer(learning_rate=lr)
    if isinstance(optimizer, tf.train.Optimizer):
        return optimizer
    if callable(optimizer):
        made = optimizer() if lr is None else optimizer(lr)
        if not isinstance(made, tf.train.Optimizer):
            raise ValueError("Unrecognized optimizer: function should return subclass of Optimizer. Got %s." % (made,))
        return made
    raise ValueError("Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of Optimizer or function "
                     "with one argument. Got %s." % (optimizer,))


def _scaled(grad, factor):
    if isinstance(grad, IndexedSlices):
        return tf.IndexedSlices(grad.values * tf.cast(factor, grad.values.dtype), grad.indices, grad.dense_shape)
    return grad * tf.cast(factor, grad.dtype)


def _noisy(pairs, scale):
    """Adds noise of a normal distribution, truncated at two standard deviations, to gradients."""
    made = []
    for grad, var in pairs:
        if grad is not None:
            shape = grad.dense_shape if isinstance(grad, IndexedSlices) else grad.shape.as_list()
            grad = tf.convert_to_tensor(grad) + tf.truncated_normal(shape) * scale
        made.append((grad, var))
    return made


def _multiplied(pairs, multipliers):
    made = []
    for grad, var in pairs:
        key = var if var in multipliers else var.name if var.name in multipliers else None
        made.append((grad if grad is None or key is None else _scaled(grad, multipliers[key]), var))
    return made


def _norm(pairs):
    return tf.global_norm([g for g, _ in pairs])


def _clipped(pairs, clip_gradients):
    if isinstance(clip_gradients, float):
        grads, _ = tf.clip_by_global_norm([g for g, _ in pairs], clip_gradients)
        return list(zip(grads, [v for _, v in pairs]))
    if callable(clip_gradients):
        return clip_gradients(pairs)
    if clip_gradients is not None:
        raise ValueError("Unknown type %s for clip_gradients" % type(clip_gradients))
    return pairs


def _summarize(pairs, summaries, clipped):
    """Adds summaries of each gradient, and of the global norm if gradients are clipped."""
    for grad, var in pairs:
        values = grad.values if isinstance(grad, IndexedSlices) else grad
        if values is None:
            continue
        name = var.name.replace(":", "_")
        if "gradients" in summaries:
            tf.summary.histogram("gradients/%s" % name, values)
        if "gradient_norm" in summaries:
            tf.summary.scalar("gradient_norm/%s" % name, tf.global_norm([values]))
    if clipped and ("global_gradient_norm" in summaries or "gradient_norm" in summaries):
        tf.summary.scalar("global_norm/clipped_gradient_norm", _norm(pairs))


def _checked_summaries(summaries):
    if summaries is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for s in summaries:
        if s not in OPTIMIZER_SUMMARIES:
            raise ValueError("Summaries should be one of [%s], you provided %s." % (", ".join(OPTIMIZER_SUMMARIES), s))
    return summaries


def _rate_of_step(learning_rate, decay_fn, global_step, summaries):
    lr = _learning_rate(learning_rate)
    if learning_rate is None or decay_fn is None:
        return lr
    if global_step is None:
        raise ValueError("global_step is required for learning_rate_decay_fn.")
    lr = decay_fn(lr, global_step)
    if "learning_rate" in summaries:
        tf.summary.scalar("learning_rate", lr)
    return lr


def optimize_loss(loss, global_step, learning_rate, optimizer, gradient_noise_scale=None, gradient_multipliers=None,
                  clip_gradients=None, learning_rate_decay_fn=None, update_ops=None, variables=None, name=None, summaries=None,
                  colocate_gradients_with_ops=False, increment_global_step=True):
    """Returns the loss as a tensor whose evaluation trains; optimizer is a name, a class, an object or a function of
    the rate.
    """
    loss = tf.convert_to_tensor(loss)
    if loss.shape.ndims not in (None, 0):
        raise ValueError("Expected scalar shape for %s, saw shape: %s." % (loss.name, loss.shape))
    if global_step is None:
        global_step = tf.train.get_global_step()
    else:
        tf.train.assert_global_step(global_step)
    with tf.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        if update_ops is None:
            update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        if update_ops:
            with tf.control_dependencies(list(dict.fromkeys(update_ops))):
                loss = tf.identity(loss)
        summaries = _checked_summaries(summaries)
        lr = _rate_of_step(learning_rate, learning_rate_decay_fn, global_step, summaries)
        opt = _optimizer(optimizer, lr)
        pairs = opt.compute_gradients(loss, tf.trainable_variables() if variables is None else variables,
                                      colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gradient_noise_scale is not None:
            pairs = _noisy(pairs, gradient_noise_scale)
        if gradient_multipliers is not None:
            pairs = _multiplied(pairs, gradient_multipliers)
        if "global_gradient_norm" in summaries or "gradient_norm" in summaries:
            tf.summary.scalar("global_norm/gradient_norm", _norm(pairs))
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in summaries:
            tf.summary.scalar("loss", loss)
        _summarize(pairs, summaries, clip_gradients is not None)
        train = opt.apply_gradients(pairs, global_step=global_step if increment_global_step else None, name="train")
        with tf.control_dependencies([train]):
            return tf.identity(loss)


def adaptive_clipping_fn(std_factor=2.0, decay=0.95, static_max_norm=None, global_step=None, report_summary=False,
                         epsilon=1e-8, name=None):
    """Returns a function for clip_gradients: it clips by the mean and deviation of the logarithms of the norms so far.
    """
    def clip(grads_and_vars):
        pairs = list(grads_and_vars)
        norm = _norm(pairs)
        limit, mean = _adaptive_limit(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            tf.summary.scalar("global_norm/adaptive_max_gradient_norm", limit)
        factor = tf.where(norm < limit, tf.ones_like(norm), tf.exp(mean) / norm)
        if static_max_norm is not None:
            factor = tf.minimum(static_max_norm / norm, factor)
        return [(g if g is None else _scaled(g, factor), v) for g, v in pairs]
    return clip


def _adaptive_limit(norm, std_factor, decay, global_step, epsilon, name):
    with tf.variable_scope(name, "AdaptiveMaxNorm", [norm]):
        log_norm = tf.log(norm + epsilon)
        if global_step is not None:
            n = tf.cast(global_step, tf.float32)
            decay = tf.minimum(tf.cast(decay, tf.float32), n / (n + 1.0))

        def average(name, value):
            v = tf.get_variable(name, shape=value.shape, dtype=value.dtype, initializer=tf.zeros_initializer(), trainable=False)
            return v.assign_sub((v - value) * (1.0 - decay))
        mean, squares = average("mean", log_norm), average("sq_mean", tf.square(log_norm))
        std = tf.sqrt(tf.maximum(epsilon, squares - tf.square(mean)))
        return tf.exp(mean + std_factor * std), mean
