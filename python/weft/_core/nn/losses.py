"""tf.losses: the library's losses under TensorFlow's names."""
from weft import _weft
from weft._core.framework import errors
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor, either
from weft._core.framework.graph import GraphKeys, get_collection, get_default_graph, name_scope


class Reduction(metaclass=Named):
    NONE, SUM, MEAN = "none", "weighted_sum", "weighted_mean"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"

    @classmethod
    def all(cls):
        """All kinds of reduction."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key):
        """Raises ValueError if key is not one of all()."""
        if key not in cls.all():
            raise ValueError("Invalid Reduction Key %s." % key)


_REDUCTIONS = {Reduction.SUM_BY_NONZERO_WEIGHTS: 0, Reduction.NONE: 1, Reduction.SUM: 2, Reduction.MEAN: 3,
               Reduction.SUM_OVER_BATCH_SIZE: 4}


def _loss(kind, labels, predictions, weights, scope, collection, reduction, smoothing=0.0, delta=0.0, epsilon=0.0, axis=0):
    if labels is None:
        raise ValueError("labels must not be None.")
    if predictions is None:
        raise ValueError("predictions must not be None.")
    graph = get_default_graph()
    predictions = convert_to_tensor(predictions)
    labels = convert_to_tensor(labels) if kind.startswith("sparse") else _like(labels, predictions)
    one = isinstance(weights, (int, float)) and weights == 1
    given = -1 if one else convert_to_tensor(weights, predictions.dtype.base_dtype)._out
    graph._last_loss_reduction = reduction
    try:
        with graph._made_by_library():
            out = _weft.loss(graph._c, kind, labels._out, predictions._out, given, _REDUCTIONS[reduction],
                             "" if collection is None else collection, scope, float(smoothing), float(delta), float(epsilon), axis)
    except errors.InvalidArgumentError as e:  # TensorFlow's builders say so with Python's own class
        raise ValueError(e.message) from None
    return graph._tensor(out)


def _like(labels, predictions):
    from weft._core.ops.math_ops import cast
    return cast(convert_to_tensor(labels), predictions.dtype.base_dtype)


_BY, _LOSSES = Reduction.SUM_BY_NONZERO_WEIGHTS, GraphKeys.LOSSES


def absolute_difference(labels, predictions, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_BY):
    return _loss("absolute_difference", labels, predictions, weights, scope, loss_collection, reduction)


def mean_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_BY):
    return _loss("mean_squared_error", labels, predictions, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=_LOSSES):
    return _loss("mean_pairwise_squared_error", labels, predictions, weights, scope, loss_collection, _BY)


def hinge_loss(labels, logits, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_BY):
    return _loss("hinge_loss", labels, logits, weights, scope, loss_collection, reduction)


def huber_loss(labels, predictions, weights=1.0, delta=1.0, scope=None, loss_collection=_LOSSES, reduction=_BY):
    return _loss("huber_loss", labels, predictions, weights, scope, loss_collection, reduction, delta=delta)


def log_loss(labels, predictions, weights=1.0, epsilon=1e-7, scope=None, loss_collection=_LOSSES, reduction=_BY):
    return _loss("log_loss", labels, predictions, weights, scope, loss_collection, reduction, epsilon=epsilon)


def cosine_distance(labels, predictions, axis=None, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_BY, dim=None):
    axis = either("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    return _loss("cosine_distance", labels, predictions, weights, scope, loss_collection, reduction, axis=axis)


def sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=_LOSSES, reduction=_BY):
    return _loss("sigmoid_cross_entropy", multi_class_labels, logits, weights, scope, loss_collection, reduction, label_smoothing)


def softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None, loss_collection=_LOSSES,
                          reduction=_BY):
    return _loss("softmax_cross_entropy", onehot_labels, logits, weights, scope, loss_collection, reduction, label_smoothing)


def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_BY):
    return _loss("sparse_softmax_cross_entropy", labels, logits, weights, scope, loss_collection, reduction)


def compute_weighted_loss(losses, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_BY):
    """One number of the losses of a batch, each times its weight."""
    from weft._core.ops import array_ops, math_ops
    get_default_graph()._last_loss_reduction = reduction
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        weights = math_ops.cast(convert_to_tensor(weights), losses.dtype.base_dtype)
        each = losses * weights
        total = math_ops.reduce_sum(each)
        wide = weights * array_ops.ones_like(losses)
        if reduction == Reduction.NONE:
            made = each
        elif reduction == Reduction.SUM:
            made = total
        elif reduction == Reduction.MEAN:
            made = math_ops.div_no_nan(total, math_ops.reduce_sum(wide))
        elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
            made = math_ops.div_no_nan(total, math_ops.cast(array_ops.size(losses), losses.dtype.base_dtype))
        else:
            counted = math_ops.cast(math_ops.not_equal(wide, array_ops.zeros_like(wide)), losses.dtype.base_dtype)
            made = math_ops.div_no_nan(total, math_ops.reduce_sum(counted))
        add_loss(made, loss_collection)
        return made


def add_loss(loss, loss_collection=_LOSSES):
    if loss_collection:
        get_default_graph().add_to_collection(loss_collection, loss)


def get_losses(scope=None, loss_collection=_LOSSES):
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    from weft._core.framework.build import constant
    from weft._core.ops.math_ops import add_n
    found = get_regularization_losses(scope)
    return add_n(found, name=name) if found else constant(0.0)


def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    from weft._core.ops.math_ops import add_n
    found = get_losses(scope) + (get_regularization_losses(scope) if add_regularization_losses else [])
    return add_n(found, name=name)
