"""The outputs of a compiled model, each with its loss, target, weights and metrics."""
import collections
import logging

import weft as tf
from weft._core.keras import backend as K, losses, metrics as metrics_module

Entry = collections.namedtuple("Entry", "name metric weighted")


class Endpoint:
    """One output of a model."""

    def __init__(self, output, name, loss):
        self.output, self.name, self.loss = output, name, loss
        self.target = self.sample_weight = self.result = None
        self.feed_target, self.weight_mode, self.loss_weight = False, None, 1.0
        self.metrics = []

    skipped = property(lambda self: self.loss is None)
    shape = property(lambda self: K.int_shape(self.output))

    def make_target(self, given=None):
        """Makes the tensor with which the loss compares: a placeholder unless one is given."""
        if self.skipped:
            return
        if given is not None and not _is_placeholder(given):
            self.target, self.feed_target = given, False
            return
        if given is None:
            rank = self.output.shape.ndims
            given = tf.placeholder(self.target_type(), None if rank is None else [None] * rank, name=self.name + "_target")
        self.target, self.feed_target = given, True

    def target_type(self):
        fn = getattr(self.loss, "fn", self.loss)
        if fn is tf.losses.sparse_softmax_cross_entropy:
            return tf.int64
        return self.output.dtype.base_dtype

    def make_weight(self, mode):
        """Makes the placeholder of the weights of examples, or of time steps."""
        self.weight_mode = mode
        start, shape = ([[1.0]], [None, None]) if mode == "temporal" else ([1.0], [None])
        self.sample_weight = tf.placeholder_with_default(tf.constant(start, dtype=K.floatx()), shape=shape,
                                                         name=self.name + "_sample_weights")

    def loss_name(self):
        return self.name + "_loss"

    def fed_shape(self):
        """Returns the shape of target arrays, or None if any shape is accepted."""
        fn = getattr(self.loss, "fn", self.loss)
        if fn is losses.sparse_categorical_crossentropy or isinstance(self.loss, losses.SparseCategoricalCrossentropy):
            return (*self.shape[:-1], 1)
        if not isinstance(self.loss, losses.Loss) or (isinstance(self.loss, losses.LossFunctionWrapper)
                                                      and getattr(losses, getattr(fn, "__name__", ""), None) is None):
            return None
        return self.shape

    def make_loss(self):
        """Returns the reduced loss of this output, before it is multiplied by its loss weight."""
        target, output, weight = self.target, self.output, self.sample_weight
        if hasattr(self.loss, "call") and hasattr(self.loss, "reduction"):
            found = self.loss.call(target, output)
            weight = self._masked(weight, output, self.loss.reduction in (losses.AUTO, losses.SUM_OVER_BATCH_SIZE))
            found = losses.compute_weighted_loss(found, weight, losses.NONE)
            reduction = losses.SUM_OVER_BATCH_SIZE if self.loss.reduction == losses.AUTO else self.loss.reduction
            self.result = losses.reduce_weighted_loss(found, reduction)
        else:
            self.result = self.loss(target, output, sample_weight=self._masked(weight, output))
        if self.result.shape.ndims not in (0, None):
            self.result = tf.reduce_mean(self.result)
        return self.result

    @staticmethod
    def _masked(weight, output, mean=False):
        """Returns the weight times the output's mask. With mean, losses are averaged over the unmasked elements."""
        mask = getattr(output, "_keras_mask", None)
        if mask is None:
            return weight
        mask = tf.cast(mask, output.dtype.base_dtype)
        if mean:
            mask = mask * (tf.cast(tf.size(mask), mask.dtype) / tf.reduce_sum(mask))
        if weight is None:
            return mask
        return losses.fitting_weight(weight, mask) * mask


def _is_placeholder(tensor):
    return isinstance(tensor, tf.Tensor) and tensor.op.type == "Placeholder"


# ---- arguments of compile() ----

def per_output(given, names, what):
    """Returns one value for each output, from a single value, a list or a dictionary."""
    if isinstance(given, dict):
        unknown = [k for k in given if k not in names]
        if unknown:
            raise ValueError("Unknown entries in %s dictionary: %s. Only expected following keys: %s" % (what, unknown, names))
        return [given.get(name) for name in names]
    if isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError("When passing a list as %s, it should have one entry per model output. The model has %d outputs, but you "
                             "passed %s=%s" % (what, len(names), what, given))
        return list(given)
    return [given for _ in names]


def loss_objects(loss, names):
    """Returns the loss of each output as an object, or None for an output without one."""
    found = per_output(loss, names, "loss")
    if isinstance(loss, dict):
        for name in names:
            if name not in loss:
                logging.getLogger("tensorflow").warning(
                    'Output %s missing from loss dictionary. We assume this was done on purpose. The fit and evaluate APIs will not be '
                    "expecting any data to be passed to %s.", name, name)
    return [loss_object(x) for x in found]


def loss_object(given):
    if given is None or isinstance(given, losses.Loss):
        return given
    if hasattr(given, "call") and hasattr(given, "reduction"):
        return given
    fn = losses.get(given)
    if isinstance(fn, losses.Loss) or (not hasattr(fn, "__name__") and hasattr(fn, "call")):
        return fn
    name = getattr(fn, "__name__", type(fn).__name__)
    return losses.LossFunctionWrapper(fn, reduction=losses.SUM_OVER_BATCH_SIZE, name=name)


def metrics_per_output(given, names):
    """Returns a list of metrics for each output."""
    if not given:
        return [[] for _ in names]
    if isinstance(given, (list, tuple)):
        nested = [isinstance(m, (list, tuple)) for m in given]
        if any(nested):
            if not all(nested) or len(given) != len(names):
                raise ValueError("When passing a list of lists as `metrics`, it should have one entry per model output. The model has %d "
                                 "outputs, but you passed metrics=%s" % (len(names), given))
            return [list(m) for m in given]
        if len(names) > 1:
            return [[_fresh(m) if i else m for m in given] for i in range(len(names))]
        return [list(given)]
    if isinstance(given, dict):
        unknown = [k for k in given if k not in names]
        if unknown:
            raise ValueError("Unknown entries in metrics dictionary: %s. Only expected following keys: %s" % (unknown, names))
        found = [given.get(name, []) for name in names]
        return [list(m) if isinstance(m, (list, tuple)) else [m] for m in found]
    raise TypeError("Type of `metrics` argument not understood. Expected a list or dictionary, found: %s" % (given,))


def _fresh(metric):
    """Returns a new metric of the same kind, because outputs must not share the state of one."""
    return type(metric).from_config(metric.get_config()) if isinstance(metric, metrics_module.Metric) else metric


def _is(loss, cls, fn):
    return isinstance(loss, cls) or getattr(loss, "fn", None) is fn


def metric_function(metric, endpoint):
    """Returns the function or object of a metric. accuracy and crossentropy depend on the loss and the output's shape.
    """
    if metric not in ("accuracy", "acc", "crossentropy", "ce"):
        return metrics_module.get(metric)
    last = endpoint.shape[-1] if endpoint.shape else None
    binary = last == 1 or _is(endpoint.loss, losses.BinaryCrossentropy, losses.binary_crossentropy)
    sparse = _is(endpoint.loss, losses.SparseCategoricalCrossentropy, losses.sparse_categorical_crossentropy)
    if metric in ("accuracy", "acc"):
        return metrics_module.binary_accuracy if binary else metrics_module.sparse_categorical_accuracy if sparse else \
            metrics_module.categorical_accuracy
    return losses.binary_crossentropy if binary else losses.sparse_categorical_crossentropy if sparse else losses.categorical_crossentropy


def metric_name(metric, weighted):
    if metric in ("accuracy", "acc", "crossentropy", "ce") and isinstance(metric, str):
        short = "acc" if metric in ("accuracy", "acc") else "ce"
        return "weighted_" + short if weighted else short
    found = metrics_module.get(metric)
    name = found.name if hasattr(found, "name") else getattr(found, "__name__", type(found).__name__)
    return "weighted_" + name if weighted and not isinstance(found, metrics_module.Metric) else name


def entries(endpoint, plain, weighted):
    """Returns the metrics of an output as objects, with the requested names."""
    found = []
    for given, is_weighted in [(m, False) for m in plain] + [(m, True) for m in weighted]:
        name, fn = metric_name(given, is_weighted), metric_function(given, endpoint)
        if not isinstance(fn, metrics_module.Metric):
            fn = metrics_module.MeanMetricWrapper(fn, name=name)
        found.append(Entry(name, fn, is_weighted))
    return found
