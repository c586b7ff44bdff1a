"""tf.keras.metrics: objects that compute a metric over batches, and functions that return a metric of each example."""
import weft as tf
from weft._core.framework.absent import Named
from weft._core.keras import backend as K, losses, serialization as saving
from weft._core.nn.base_layer import snake_case, unique_name
from weft._core.ops.resource_variables import ResourceVariable

SUM, MEAN, WEIGHTED_MEAN = "sum", "sum_over_batch_size", "weighted_mean"


class Metric(metaclass=Named):
    """The base of metrics: update_state adds a batch, result returns the current value, and reset_state starts again.
    """

    stateful, trainable, built = True, True, True

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        made._weights, made._updates = [], []
        return made

    def __init__(self, name=None, dtype=None, **kwargs):
        if kwargs:
            raise TypeError("Keyword argument not understood: %s" % ", ".join(sorted(kwargs)))
        self._name = name or unique_name(snake_case(type(self).__name__), from_zero=True)
        self._dtype = K.floatx() if dtype is None else tf.as_dtype(dtype).name

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    updates = property(lambda self: list(self._updates))
    weights = variables = non_trainable_weights = non_trainable_variables = property(lambda self: list(self._weights))
    trainable_weights = trainable_variables = property(lambda self: [])

    def add_weight(self, name, shape=(), aggregation=None, synchronization=None, initializer=None, dtype=None):
        """Returns a variable of the metric, which is in none of the graph's collections."""
        from weft._core.keras import initializers
        kind = tf.as_dtype(self._dtype if dtype is None else dtype)
        start = initializers.get("zeros" if initializer is None else initializer)
        with tf.init_scope() if hasattr(tf, "init_scope") else tf.control_dependencies(None):
            made = ResourceVariable(lambda: start(tf.TensorShape(shape), dtype=kind), trainable=False, collections=[], name=name)
        K.track_variable(made)
        self._weights.append(made)
        return made

    def update_state(self, *args, **kwargs):
        raise NotImplementedError("Must be implemented in subclasses.")

    def result(self):
        raise NotImplementedError("Must be implemented in subclasses.")

    def reset_state(self):
        """Sets every variable to zero."""
        K.batch_set_value([(v, 0 * K.get_value(v) if v.shape.ndims else 0) for v in self._weights])

    def reset_states(self):
        return self.reset_state()

    def merge_state(self, metrics):
        """Adds the variables of other metrics of this kind."""
        updates = []
        for metric in metrics:
            if len(self.weights) != len(metric.weights):
                raise ValueError("Metric %s is not compatible with %s" % (metric, self))
            updates += [mine.assign_add(other) for mine, other in zip(self.weights, metric.weights)]
        return updates

    def get_config(self):
        return {"name": self.name, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def get_weights(self):
        return K.batch_get_value(self.weights)

    def set_weights(self, weights):
        K.batch_set_value(list(zip(self.weights, weights)))

    def __call__(self, *args, **kwargs):
        """Adds a batch, and returns the value after it."""
        update = self.update_state(*args, **kwargs)
        with tf.control_dependencies([update] if update is not None else []):
            made = self.result()
        made._metric_obj = self
        return made

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        for name in ("update_state", "result", "reset_states"):
            if name in vars(cls):
                setattr(cls, name, _METHODS[name](vars(cls)[name]))

    def __deepcopy__(self, memo):
        return type(self).from_config(self.get_config())


def _updating(method):
    """Makes update_state return one op for all its updates, and records it in the metric."""
    def update_state(self, *args, **kwargs):
        made = method(self, *args, **kwargs)
        if isinstance(made, (list, tuple)):
            made = tf.group(*[m for m in made if m is not None]) if made else None
        if made is not None and not isinstance(made, tf.Operation):
            made = made.op if isinstance(made, tf.Tensor) else getattr(made, "_as_graph_element", lambda: made)().op
        if made is not None and made not in self._updates:
            self._updates.append(made)
        return made
    update_state.__wrapped__, update_state.__doc__ = method, method.__doc__
    return update_state


def _resulting(method):
    def result(self):
        made = method(self)
        if isinstance(made, dict):
            return made
        return tf.identity(made)
    result.__wrapped__, result.__doc__ = method, method.__doc__
    return result


def _resetting(method):
    return method


_METHODS = {"update_state": _updating, "result": _resulting, "reset_states": _resetting}


def _broadcast(weight, values):
    """Returns a weight with the rank of the values if its axes match, or None if the values must be reduced to it."""
    rank, weight_rank = values.shape.ndims, weight.shape.ndims
    if rank is None or weight_rank is None or weight_rank in (0, rank):
        return weight
    return None


class Reduce(Metric):
    """Computes the sum or the mean of values."""

    def __init__(self, reduction, name, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.reduction = reduction
        self.total = self.add_weight("total", initializer="zeros")
        if reduction in (MEAN, WEIGHTED_MEAN):
            self.count = self.add_weight("count", initializer="zeros")

    def update_state(self, values, sample_weight=None):
        values = tf.cast(values, self._dtype)
        if sample_weight is not None:
            sample_weight = losses.fitting_weight(tf.cast(sample_weight, self._dtype), values)
            fits = _broadcast(sample_weight, values) is not None
            if not fits:
                axes = list(range(sample_weight.shape.ndims, values.shape.ndims))
                values = tf.reduce_sum(values, axis=axes) if self.reduction == SUM else tf.reduce_mean(values, axis=axes)
            values = tf.multiply(values, sample_weight)
        total = tf.reduce_sum(values)
        with tf.control_dependencies([total]):
            update = self.total.assign_add(total)
        if self.reduction == SUM:
            return update
        if self.reduction == MEAN or sample_weight is None:
            count = tf.cast(tf.size(values), self._dtype)
        elif sample_weight.shape.ndims != 0 and not fits:
            count = tf.reduce_sum(sample_weight)
        elif sample_weight.shape.ndims in (0, None) or sample_weight.shape.as_list() != values.shape.as_list():
            count = tf.reduce_sum(sample_weight * tf.ones_like(values)) if sample_weight.shape.ndims != 0 else tf.reduce_sum(
                tf.fill(tf.shape(values), sample_weight))
        else:
            count = tf.reduce_sum(sample_weight)
        with tf.control_dependencies([update.op]):
            return self.count.assign_add(count)

    def result(self):
        if self.reduction == SUM:
            return tf.identity(self.total)
        return tf.div_no_nan(self.total, self.count)


class Sum(Reduce):
    def __init__(self, name="sum", dtype=None):
        super().__init__(SUM, name, dtype=dtype)


class Mean(Reduce):
    def __init__(self, name="mean", dtype=None):
        super().__init__(WEIGHTED_MEAN, name, dtype=dtype)


class MeanMetricWrapper(Mean):
    """Computes the mean of a function over examples."""

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype)
        self._fn, self._fn_kwargs = fn, kwargs

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype)
        y_true, y_pred = losses.squeezed(y_true, y_pred)
        found = self._fn(y_true, y_pred, **self._fn_kwargs)
        sample_weight = losses.masked_weight(sample_weight, getattr(found, "_keras_mask", None), found)
        return super().update_state.__wrapped__(self, found, sample_weight)

    def get_config(self):
        given = {k: K.eval(v) if isinstance(v, (tf.Tensor, tf.Variable)) else v for k, v in self._fn_kwargs.items()}
        if type(self) is MeanMetricWrapper:
            given["fn"] = self._fn
        return {**super().get_config(), **given}

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        fn = config.pop("fn", None)
        return cls(get(fn), **config) if cls is MeanMetricWrapper else cls(**config)


class MeanTensor(Metric):
    """Computes the mean of tensors element by element."""

    def __init__(self, name="mean_tensor", dtype=None, shape=None):
        super().__init__(name=name, dtype=dtype)
        self._shape, self._total, self._count, self._made = None, None, None, False
        if shape is not None:
            self._build(shape)

    total, count = property(lambda self: self._total), property(lambda self: self._count)

    def _build(self, shape):
        self._shape = tf.TensorShape(shape)
        self._total = self.add_weight("total", shape=self._shape, initializer="zeros")
        self._count = self.add_weight("count", shape=self._shape, initializer="zeros")
        self._made = True

    def update_state(self, values, sample_weight=None):
        values = tf.cast(values, self._dtype)
        if not self._made:
            self._build(values.shape)
        elif values.shape.as_list() != self._shape.as_list():
            raise ValueError("MeanTensor input values must always have the same shape. Expected shape (set during the first call): "
                             "%s. Got: %s." % (self._shape, values.shape))
        count = tf.ones_like(values)
        if sample_weight is not None:
            sample_weight = losses.fitting_weight(tf.cast(sample_weight, self._dtype), values)
            if _broadcast(sample_weight, values) is None:
                values = tf.reduce_mean(values, axis=list(range(sample_weight.shape.ndims, values.shape.ndims)))
            count, values = tf.multiply(count, sample_weight), tf.multiply(values, sample_weight)
        update = self._total.assign_add(values)
        with tf.control_dependencies([update.op]):
            return self._count.assign_add(count)

    def result(self):
        if not self._made:
            raise ValueError("MeanTensor does not have any value yet. Please call the MeanTensor instance or use "
                             "`.update_state(value)` before retrieving the result.")
        return tf.div_no_nan(self._total, self._count)


# ---- functions ----

def accuracy(y_true, y_pred):
    y_true, y_pred = losses.squeezed(tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred))
    y_true.shape.assert_is_compatible_with(y_pred.shape)
    if y_true.dtype != y_pred.dtype:
        y_pred = tf.cast(y_pred, y_true.dtype)
    return tf.cast(tf.equal(y_true, y_pred), K.floatx())


def binary_matches(y_true, y_pred, threshold=0.5):
    """Returns 1 for each prediction that is on the same side of the threshold as the label."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_pred = tf.cast(y_pred > tf.cast(threshold, y_pred.dtype), y_pred.dtype)
    y_true = tf.cast(y_true, y_pred.dtype) if not isinstance(y_true, tf.Tensor) or y_true.dtype != y_pred.dtype else y_true
    return tf.cast(tf.equal(y_true, y_pred), K.floatx())


def binary_accuracy(y_true, y_pred, threshold=0.5):
    return K.mean(binary_matches(y_true, y_pred, threshold), axis=-1)


def _as_rows(y_true, y_pred):
    """Returns (labels as a vector, predictions as rows, the original shape) for predictions with more than two axes."""
    rank, true_rank = y_pred.shape.ndims, y_true.shape.ndims
    shape, back = tf.shape(y_true), False
    if true_rank is not None and rank is not None and rank > 2 and true_rank > 1:
        y_pred, y_true, back = tf.reshape(y_pred, [-1, tf.shape(y_pred)[-1]]), tf.reshape(y_true, [-1]), True
    return y_true, y_pred, shape if back else None


def categorical_accuracy(y_true, y_pred):
    return sparse_categorical_accuracy(tf.argmax(y_true, axis=-1), y_pred)


def _column_removed(y_true, y_pred):
    rank, true_rank = y_pred.shape.ndims, y_true.shape.ndims
    if true_rank is not None and rank is not None and len(y_true.shape.as_list()) == len(y_pred.shape.as_list()):
        return tf.squeeze(y_true, [-1])
    return y_true


def sparse_categorical_accuracy(y_true, y_pred):
    y_true, y_pred = tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred)
    y_true = _column_removed(y_true, y_pred)
    y_pred = tf.argmax(y_pred, axis=-1)
    if y_pred.dtype != y_true.dtype:
        y_pred = tf.cast(y_pred, y_true.dtype)
    return tf.cast(tf.equal(y_true, y_pred), K.floatx())


def top_k_categorical_accuracy(y_true, y_pred, k=5):
    return sparse_top_k_categorical_accuracy(tf.argmax(y_true, axis=-1), y_pred, k=k)


def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5):
    y_true, y_pred = tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred)
    y_true, y_pred, shape = _as_rows(_column_removed(y_true, y_pred), y_pred)
    found = tf.cast(tf.nn.in_top_k(y_pred, tf.cast(y_true, "int32"), k), K.floatx())
    return found if shape is None else tf.reshape(found, shape)


def cosine_similarity(y_true, y_pred, axis=-1):
    """Returns the cosine between labels and predictions."""
    y_true, y_pred = tf.nn.l2_normalize(y_true, axis=axis), tf.nn.l2_normalize(y_pred, axis=axis)
    return tf.reduce_sum(y_true * y_pred, axis=axis)


def serialize(metric, use_legacy_format=False):
    return saving.serialize_keras_object(metric)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    from weft._core.keras import confusion_metrics, metric_classes
    known = {**vars(losses), **globals(), **vars(metric_classes), **vars(confusion_metrics), "acc": accuracy, "ACC": accuracy,
             "bce": losses.binary_crossentropy, "BCE": losses.binary_crossentropy,
             "cosine_proximity": cosine_similarity}
    return saving.deserialize_keras_object(config, custom_objects=custom_objects, module_objects=known,
                                           printable_module_name="metric function")


def get(identifier):
    """Returns the metric for a name, a serialized dictionary or a callable."""
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    if callable(identifier) or isinstance(identifier, Metric):
        return identifier
    raise ValueError("Could not interpret metric identifier: %s" % (identifier,))
