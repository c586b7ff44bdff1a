"""tf.keras.losses: functions that return the loss of each example, and objects that weight and reduce them."""
import weft as tf
from weft._core.framework.absent import Named
from weft._core.keras import backend as K, serialization as saving
from weft._core.keras.session import epsilon
from weft._core.nn.metric_parts import with_last, without_last

AUTO, NONE, SUM, SUM_OVER_BATCH_SIZE = "auto", "none", "sum", "sum_over_batch_size"


# ---- weighting and reducing ----

def squeezed(y_true, y_pred):
    """Returns labels and predictions with the same rank; a last axis of one element is removed from the one with more
    axes.
    """
    true_rank, rank = y_true.shape.ndims, y_pred.shape.ndims
    if true_rank is None or rank is None:
        return y_true, y_pred
    if rank - true_rank == 1 and y_pred.shape[-1] in (1, None):
        y_pred = tf.squeeze(y_pred, [-1])
    elif true_rank - rank == 1 and y_true.shape[-1] in (1, None):
        y_true = tf.squeeze(y_true, [-1])
    return y_true, y_pred


def fitting_weight(weight, values):
    """Returns a weight with a rank that broadcasts against the values."""
    rank, weight_rank = values.shape.ndims, weight.shape.ndims
    if weight_rank == 0:
        return weight
    if rank is None or weight_rank is None:  # Each step decides.
        return with_last(without_last(weight, values), values)
    if weight_rank - rank == 1:
        return tf.squeeze(weight, [-1])
    if rank - weight_rank == 1:
        return tf.expand_dims(weight, [-1])
    return weight


def reduce_weighted_loss(losses, reduction=SUM_OVER_BATCH_SIZE):
    if reduction == NONE:
        return losses
    total = tf.reduce_sum(losses)
    if reduction == SUM_OVER_BATCH_SIZE:
        with tf.name_scope("num_elements") as scope:
            count = tf.cast(tf.size(losses, name=scope), dtype=losses.dtype)
        total = tf.div_no_nan(tf.reduce_sum(total), count, name="value")
    return total


def compute_weighted_loss(losses, sample_weight=None, reduction=SUM_OVER_BATCH_SIZE, name=None):
    """Returns losses times weights, reduced."""
    if reduction == AUTO:
        reduction = SUM_OVER_BATCH_SIZE
    with K.name_scope(name or "weighted_loss"):
        losses = tf.convert_to_tensor(losses)
        given = losses.dtype
        losses = losses if given.is_floating else tf.cast(losses, "float32")
        weight = tf.cast(tf.convert_to_tensor(1.0 if sample_weight is None else sample_weight), losses.dtype)
        weight = fitting_weight(weight, losses)
        made = reduce_weighted_loss(tf.multiply(losses, weight), reduction)
        return made if made.dtype == given else tf.cast(made, given)


# ---- functions ----

def _pair(y_true, y_pred):
    y_pred = tf.convert_to_tensor(y_pred)
    return tf.cast(y_true, y_pred.dtype), y_pred


def mean_squared_error(y_true, y_pred):
    y_true, y_pred = _pair(y_true, y_pred)
    return K.mean(tf.squared_difference(y_pred, y_true), axis=-1)


def mean_absolute_error(y_true, y_pred):
    y_true, y_pred = _pair(y_true, y_pred)
    return K.mean(tf.abs(y_pred - y_true), axis=-1)


def mean_absolute_percentage_error(y_true, y_pred):
    y_true, y_pred = _pair(y_true, y_pred)
    diff = tf.abs((y_true - y_pred) / tf.maximum(tf.abs(y_true), epsilon()))
    return 100.0 * K.mean(diff, axis=-1)


def mean_squared_logarithmic_error(y_true, y_pred):
    y_true, y_pred = _pair(y_true, y_pred)
    first = tf.log(tf.maximum(y_pred, epsilon()) + 1.0)
    second = tf.log(tf.maximum(y_true, epsilon()) + 1.0)
    return K.mean(tf.squared_difference(first, second), axis=-1)


def _signs(y_true):
    """Returns labels that are all 0 or 1 as -1 and 1."""
    binary = tf.reduce_all(tf.logical_or(tf.equal(y_true, 0), tf.equal(y_true, 1)))
    return tf.cond(binary, lambda: 2.0 * y_true - 1.0, lambda: tf.identity(y_true))


def squared_hinge(y_true, y_pred):
    y_true, y_pred = _pair(y_true, y_pred)
    return K.mean(tf.square(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0)), axis=-1)


def hinge(y_true, y_pred):
    y_true, y_pred = _pair(y_true, y_pred)
    return K.mean(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0), axis=-1)


def categorical_hinge(y_true, y_pred):
    y_true, y_pred = _pair(y_true, y_pred)
    right = tf.reduce_sum(y_true * y_pred, axis=-1)
    wrong = tf.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return tf.maximum(wrong - right + 1.0, tf.cast(0.0, y_pred.dtype))


def huber(y_true, y_pred, delta=1.0):
    y_pred = tf.cast(y_pred, dtype=K.floatx())
    y_true, delta = tf.cast(y_true, dtype=K.floatx()), tf.cast(delta, dtype=K.floatx())
    error = y_pred - y_true
    size, half = tf.abs(error), tf.convert_to_tensor(0.5, dtype=error.dtype)
    return K.mean(tf.where(size <= delta, half * tf.square(error), delta * size - half * tf.square(delta)), axis=-1)


def log_cosh(y_true, y_pred):
    y_true, y_pred = _pair(y_true, y_pred)
    x = y_pred - y_true
    return K.mean(x + tf.nn.softplus(-2.0 * x) - tf.cast(tf.log(2.0), x.dtype), axis=-1)


def _smoothed(y_true, label_smoothing, classes):
    """Moves labels by label_smoothing towards the mean of the classes. The amount may be a tensor."""
    if isinstance(label_smoothing, (int, float)):
        return y_true * (1.0 - label_smoothing) + label_smoothing / classes() if label_smoothing else y_true
    smoothing = tf.convert_to_tensor(label_smoothing, dtype=y_true.dtype)
    return y_true * (1.0 - smoothing) + smoothing / classes()


def _count(y_true, axis):
    return lambda: tf.cast(tf.shape(y_true)[axis], y_true.dtype)


def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    if isinstance(axis, bool):
        raise ValueError("`axis` must be of type `int`. Received: axis=%s of type %s" % (axis, type(axis)))
    y_true, y_pred = _pair(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, _count(y_true, axis))
    return K.categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis)


def categorical_focal_crossentropy(y_true, y_pred, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, axis=-1):
    if isinstance(axis, bool):
        raise ValueError("`axis` must be of type `int`. Received: axis=%s of type %s" % (axis, type(axis)))
    y_true, y_pred = _pair(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, _count(y_true, axis))
    return K.categorical_focal_crossentropy(y_true, y_pred, alpha=alpha, gamma=gamma, from_logits=from_logits, axis=axis)


def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, axis=-1, ignore_class=None):
    return K.sparse_categorical_crossentropy(y_true, y_pred, from_logits=from_logits, ignore_class=ignore_class, axis=axis)


def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    y_true, y_pred = _pair(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, lambda: 2.0)
    return K.mean(K.binary_crossentropy(y_true, y_pred, from_logits=from_logits), axis=axis)


def binary_focal_crossentropy(y_true, y_pred, apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False,
                              label_smoothing=0.0, axis=-1):
    y_true, y_pred = _pair(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, lambda: 2.0)
    return K.mean(K.binary_focal_crossentropy(y_true, y_pred, apply_class_balancing=apply_class_balancing, alpha=alpha, gamma=gamma,
                                              from_logits=from_logits), axis=axis)


def kl_divergence(y_true, y_pred):
    y_true, y_pred = _pair(y_true, y_pred)
    y_true, y_pred = K.clip(y_true, epsilon(), 1), K.clip(y_pred, epsilon(), 1)
    return tf.reduce_sum(y_true * tf.log(y_true / y_pred), axis=-1)


def poisson(y_true, y_pred):
    y_true, y_pred = _pair(y_true, y_pred)
    return K.mean(y_pred - y_true * tf.log(y_pred + epsilon()), axis=-1)


def cosine_similarity(y_true, y_pred, axis=-1):
    """Returns the negative cosine between labels and predictions."""
    y_true, y_pred = tf.nn.l2_normalize(y_true, axis=axis), tf.nn.l2_normalize(y_pred, axis=axis)
    return -tf.reduce_sum(y_true * y_pred, axis=axis)


MSE = mse = mean_squared_error
MAE = mae = mean_absolute_error
MAPE = mape = mean_absolute_percentage_error
MSLE = msle = mean_squared_logarithmic_error
KLD = kld = kullback_leibler_divergence = kl_divergence
logcosh = log_cosh
cosine = cosine_proximity = cosine_similarity


# ---- objects ----

class Loss(metaclass=Named):
    """The base of losses: call(y_true, y_pred) returns the losses of examples, which are weighted and reduced."""

    def __init__(self, reduction=AUTO, name=None):
        if reduction not in (AUTO, NONE, SUM, SUM_OVER_BATCH_SIZE):
            raise ValueError('Invalid Reduction Key: %s. Expected keys are "%s"' % (reduction, (AUTO, NONE, SUM, SUM_OVER_BATCH_SIZE)))
        self.reduction, self.name = reduction, name

    def _scope(self):
        name = self.name or type(self).__name__
        return "lambda" if name == "<lambda>" else name.strip("_")

    def __call__(self, y_true, y_pred, sample_weight=None):
        with K.name_scope(self._scope()):
            losses = self.call(y_true, y_pred)
            mask = getattr(losses, "_keras_mask", None)
            mask = getattr(y_pred, "_keras_mask", None) if mask is None else mask
            # The mean is over the unmasked elements.
            if mask is not None and self.reduction in (AUTO, SUM_OVER_BATCH_SIZE):
                mask = tf.cast(mask, losses.dtype)
                mask = mask * (tf.cast(tf.size(mask), mask.dtype) / tf.reduce_sum(mask))
            return compute_weighted_loss(losses, masked_weight(sample_weight, mask, losses), self.reduction)

    def call(self, y_true, y_pred):
        raise NotImplementedError("Must be implemented in subclasses.")

    def get_config(self):
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def masked_weight(weight, mask, losses):
    """Returns a weight that is zero where the mask is false."""
    if mask is None:
        return weight
    mask = tf.cast(mask, losses.dtype)
    if weight is None:
        return mask
    weight = fitting_weight(tf.cast(weight, losses.dtype), mask)
    return weight * mask


class LossFunctionWrapper(Loss):
    """Computes a loss with a function."""

    def __init__(self, fn, reduction=AUTO, name=None, **kwargs):
        super().__init__(reduction=reduction, name=name)
        self.fn, self._fn_kwargs = fn, kwargs

    def call(self, y_true, y_pred):
        if isinstance(y_true, (tf.Tensor, tf.Variable)) and isinstance(y_pred, (tf.Tensor, tf.Variable)):
            y_true, y_pred = squeezed(y_true, y_pred)
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self):
        given = {k: K.eval(v) if isinstance(v, (tf.Tensor, tf.Variable)) else v for k, v in self._fn_kwargs.items()}
        return {**super().get_config(), **given, "fn": saving.serialize_keras_object(self.fn)}

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        fn = config.pop("fn", None)
        if fn is not None and cls is LossFunctionWrapper:
            config["fn"] = get(fn)
        return cls(**config)


class MeanSquaredError(LossFunctionWrapper):
    def __init__(self, reduction=AUTO, name="mean_squared_error"):
        super().__init__(mean_squared_error, name=name, reduction=reduction)


class MeanAbsoluteError(LossFunctionWrapper):
    def __init__(self, reduction=AUTO, name="mean_absolute_error"):
        super().__init__(mean_absolute_error, name=name, reduction=reduction)


class MeanAbsolutePercentageError(LossFunctionWrapper):
    def __init__(self, reduction=AUTO, name="mean_absolute_percentage_error"):
        super().__init__(mean_absolute_percentage_error, name=name, reduction=reduction)


class MeanSquaredLogarithmicError(LossFunctionWrapper):
    def __init__(self, reduction=AUTO, name="mean_squared_logarithmic_error"):
        super().__init__(mean_squared_logarithmic_error, name=name, reduction=reduction)


class BinaryCrossentropy(LossFunctionWrapper):
    def __init__(self, from_logits=False, label_smoothing=0.0, axis=-1, reduction=AUTO, name="binary_crossentropy"):
        super().__init__(binary_crossentropy, name=name, reduction=reduction, from_logits=from_logits,
                         label_smoothing=label_smoothing, axis=axis)
        self.from_logits = from_logits


class BinaryFocalCrossentropy(LossFunctionWrapper):
    def __init__(self, apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, axis=-1,
                 reduction=AUTO, name="binary_focal_crossentropy"):
        super().__init__(binary_focal_crossentropy, apply_class_balancing=apply_class_balancing, alpha=alpha, gamma=gamma,
                         name=name, reduction=reduction, from_logits=from_logits, label_smoothing=label_smoothing, axis=axis)
        self.from_logits, self.apply_class_balancing, self.alpha, self.gamma = from_logits, apply_class_balancing, alpha, gamma

    def get_config(self):
        given = super().get_config()
        fn = given.pop("fn")
        return {**given, "apply_class_balancing": self.apply_class_balancing, "gamma": self.gamma, "alpha": self.alpha, "fn": fn}


class CategoricalCrossentropy(LossFunctionWrapper):
    def __init__(self, from_logits=False, label_smoothing=0.0, axis=-1, reduction=AUTO, name="categorical_crossentropy"):
        super().__init__(categorical_crossentropy, name=name, reduction=reduction, from_logits=from_logits,
                         label_smoothing=label_smoothing, axis=axis)


class CategoricalFocalCrossentropy(LossFunctionWrapper):
    def __init__(self, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, axis=-1, reduction=AUTO,
                 name="categorical_focal_crossentropy"):
        super().__init__(categorical_focal_crossentropy, alpha=alpha, gamma=gamma, name=name, reduction=reduction,
                         from_logits=from_logits, label_smoothing=label_smoothing, axis=axis)
        self.from_logits, self.alpha, self.gamma = from_logits, alpha, gamma


class SparseCategoricalCrossentropy(LossFunctionWrapper):
    def __init__(self, from_logits=False, ignore_class=None, reduction=AUTO, name="sparse_categorical_crossentropy"):
        super().__init__(sparse_categorical_crossentropy, name=name, reduction=reduction, from_logits=from_logits,
                         ignore_class=ignore_class)


class Hinge(LossFunctionWrapper):
    def __init__(self, reduction=AUTO, name="hinge"):
        super().__init__(hinge, name=name, reduction=reduction)


class SquaredHinge(LossFunctionWrapper):
    def __init__(self, reduction=AUTO, name="squared_hinge"):
        super().__init__(squared_hinge, name=name, reduction=reduction)


class CategoricalHinge(LossFunctionWrapper):
    def __init__(self, reduction=AUTO, name="categorical_hinge"):
        super().__init__(categorical_hinge, name=name, reduction=reduction)


class Poisson(LossFunctionWrapper):
    def __init__(self, reduction=AUTO, name="poisson"):
        super().__init__(poisson, name=name, reduction=reduction)


class LogCosh(LossFunctionWrapper):
    def __init__(self, reduction=AUTO, name="log_cosh"):
        super().__init__(log_cosh, name=name, reduction=reduction)


class KLDivergence(LossFunctionWrapper):
    def __init__(self, reduction=AUTO, name="kl_divergence"):
        super().__init__(kl_divergence, name=name, reduction=reduction)


class Huber(LossFunctionWrapper):
    def __init__(self, delta=1.0, reduction=AUTO, name="huber_loss"):
        super().__init__(huber, name=name, reduction=reduction, delta=delta)


class CosineSimilarity(LossFunctionWrapper):
    def __init__(self, axis=-1, reduction=AUTO, name="cosine_similarity"):
        super().__init__(cosine_similarity, reduction=reduction, name=name, axis=axis)


def serialize(loss, use_legacy_format=False):
    return saving.serialize_keras_object(loss)


def deserialize(name, custom_objects=None, use_legacy_format=False):
    return saving.deserialize_keras_object(name, custom_objects=custom_objects, module_objects=globals(),
                                           printable_module_name="loss function")


def get(identifier):
    """Returns the loss for a name, a serialized dictionary or a callable."""
    if identifier is None:
        return None
    if isinstance(identifier, (str, dict)):
        return deserialize(str(identifier) if isinstance(identifier, str) else identifier)
    if callable(identifier):
        return identifier
    raise ValueError("Could not interpret loss function identifier: %s" % (identifier,))


def is_categorical_crossentropy(loss):
    return isinstance(loss, CategoricalCrossentropy) or getattr(loss, "fn", loss) is categorical_crossentropy or \
        getattr(loss, "__name__", None) == "categorical_crossentropy" or loss == "categorical_crossentropy"
