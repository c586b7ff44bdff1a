"""tf.losses: the library's losses under TensorFlow's names."""
from weft import _weft
from weft._core.framework import dtypes, errors, library
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor, either
from weft._core.framework.graph import GraphKeys, get_collection, get_default_graph, name_scope
from weft._core.nn.metric_parts import broadcastable_in_steps, check_broadcastable, without_last
from weft._core.ops.math_ops import cast, reduce_sum


class Reduction(metaclass=Named):
    NONE, SUM, MEAN = "none", "weighted_sum", "weighted_mean"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"

    @classmethod
    def all(cls):
        """Returns all kinds of reduction."""
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
    # What is not a tensor yet becomes one inside the scope, so that it takes no name from the program's own nodes.
    with name_scope(scope, kind + "_loss" if kind.endswith(("entropy", "distance")) else kind, [predictions, labels, weights]) as inner:
        predictions = convert_to_tensor(predictions)
        _check_logits(kind, predictions)
        labels = _like(labels, predictions) if kind in ("sigmoid_cross_entropy", "softmax_cross_entropy") else convert_to_tensor(labels)
        if not kind.startswith("sparse"):
            predictions.shape.assert_is_compatible_with(labels.shape)
        return _made(kind, labels, predictions, weights, inner, collection, reduction, smoothing, delta, epsilon, axis)


_LEAST = 5e-324  # This value replaces 0 where 0 asks the library for its default; as a float32 it is 0.


def _made(kind, labels, predictions, weights, scope, collection, reduction, smoothing=0.0, delta=0.0, epsilon=0.0, axis=0):
    if weights is None:
        raise ValueError("weights must not be None.")
    Reduction.validate(reduction)
    graph = get_default_graph()
    one = isinstance(weights, (int, float)) and weights == 1
    given = [labels, predictions] + ([] if one else [_fitting(_weights(weights), kind, labels, predictions, axis)])
    labels, predictions, given = (library.outs(graph, given) + [-1])[:3]
    graph._check_not_finalized()
    graph._last_loss_reduction = reduction
    try:
        with graph._made_by_library():
            out = _weft.loss(graph._c, kind, labels, predictions, given, _REDUCTIONS[reduction],
                             "" if collection is None else collection, scope, float(smoothing), float(delta) or _LEAST,
                             float(epsilon) or _LEAST, axis)
    except errors.InvalidArgumentError as e:  # TensorFlow raises ValueError here.
        raise ValueError(e.message) from None
    return graph._result(out)


def _values(kind, predictions, axis):
    """Returns a tensor with the shape of the losses that are weighted."""
    if "softmax" in kind:
        return predictions[..., 0]
    return reduce_sum(predictions, axis, keepdims=True) if kind == "cosine_distance" else predictions


def _decided(weights, kind, values, axis):
    """Returns True if the static shapes say whether the weights fit: each dimension is 1, or known like that of the losses."""
    if "softmax" in kind:
        values = values[:-1]
    elif kind == "cosine_distance":
        values[axis] = 1
    if kind.startswith("sparse") and len(weights) > len(values):
        weights = weights[:-1]
    if len(weights) != len(values):
        return True
    return all(w == 1 or None not in (w, v) for w, v in zip(weights, values))


def _fitting(weights, kind, labels, predictions, axis):
    """Returns the weights. The library checks known shapes; if a dimension is unknown, each step checks."""
    if kind == "mean_pairwise_squared_error" and None not in (weights.shape.ndims, labels.shape.ndims):
        check_broadcastable(weights, labels)
    if weights.shape.ndims == 0 or None not in (weights.shape.ndims, predictions.shape.ndims) and _decided(
            weights.shape.as_list(), kind, predictions.shape.as_list(), axis):
        return weights
    with name_scope("fitting_weights"):
        values = _values(kind, predictions, axis)
        weights = without_last(weights, values) if kind.startswith("sparse") else weights
        return broadcastable_in_steps(weights, values)


def _weights(weights):
    """Returns the weights as float32, the type in which losses are weighted."""
    return cast(weights, dtypes.float32)


_LOGITS = {"softmax_cross_entropy": ("features", "float16, bfloat16, float32, float64"),
           "sparse_softmax_cross_entropy": ("features", "float16, bfloat16, float32, float64"),
           "sigmoid_cross_entropy": ("x", "bfloat16, float16, float32, float64, complex64, complex128")}


def _check_logits(kind, logits):
    if kind in _LOGITS and not logits.dtype.is_floating:
        raise TypeError("Value passed to parameter '%s' has DataType %s not in list of allowed values: %s" % (
            _LOGITS[kind][0], logits.dtype.base_dtype.name, _LOGITS[kind][1]))


def _like(labels, predictions):
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
    """Returns the reduction of the losses of a batch, each multiplied by its weight."""
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", [losses, weights]) as inner:
        losses = convert_to_tensor(losses)
        return _made("weighted_loss", losses, losses, weights, inner, loss_collection, reduction)


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
