"""Arrays for a model: brought into the order of its inputs and outputs, checked, and weighted."""
import numpy as np

import weft as tf
from weft._core.keras import losses


def per_name(given, names, what):
    """Returns one value for each name, of None, one value, a list or a dictionary."""
    if given is None:
        return [None] * len(names)
    if isinstance(given, dict):
        unknown = [k for k in given if k not in names]
        if unknown:
            raise ValueError("Unknown entry in `%s` dictionary: %s. Only expected following keys: %s" % (what, unknown, names))
        return [given.get(name) for name in names]
    if isinstance(given, (list, tuple)) and (len(names) > 1 or (len(given) == 1 and np.ndim(given[0]) > 0)):
        if len(given) != len(names):
            raise ValueError("Provided `%s` was a list of %d elements, but model has %d outputs. You should provide one `%s` array per "
                             "model output." % (what, len(given), len(names), what))
        return list(given)
    return [np.asarray(given) if isinstance(given, (list, tuple)) else given] if len(names) == 1 else [given] * len(names)


def _is_tensor(x):
    return isinstance(x, (tf.Tensor, tf.Variable, tf.SparseTensor))


def _array(x):
    if _is_tensor(x) or isinstance(x, tf.SparseTensorValue) or hasattr(x, "tocoo"):
        return _sparse(x) if hasattr(x, "tocoo") else x
    if hasattr(x, "values") and hasattr(x, "iloc"):  # of pandas
        x = x.values
    return np.asarray(x)


def _sparse(x):
    x = x.tocoo()
    return tf.SparseTensorValue(np.stack([x.row, x.col], 1).astype(np.int64), x.data, x.shape)


def _column(x):
    """Returns numbers in one row as a column."""
    if isinstance(x, np.ndarray) and x.ndim == 1:
        return np.expand_dims(x, -1)
    if isinstance(x, tf.Tensor) and x.shape.ndims == 1:
        return tf.expand_dims(x, axis=-1)
    return x


def arrays(data, names, shapes, prefix, check=True):
    """Returns data as a list of arrays in the order of names. shapes: with the batch, or None for any."""
    if not names:
        if data is not None and len(np.atleast_1d(data)):
            raise ValueError("Error when checking model %s: expected no data, but got: %s" % (prefix, data))
        return []
    if data is None:
        return [None] * len(names)
    if isinstance(data, dict):
        for name in names:
            if name not in data:
                raise ValueError('No data provided for "%s". Need data for each key in: %s' % (name, names))
        found = [data[name] for name in names]
    elif isinstance(data, (list, tuple)):
        found = list(data) if len(names) > 1 or not _is_row(data) else [np.asarray(data)]
    else:
        found = [data]
    found = [_array(x) for x in found]
    found = [_column(x) if shape is None or len(shape) != 1 else x for x, shape in zip(found, (shapes or [None] * len(found)))] \
        if len(found) == len(names) else [_column(x) for x in found]
    _check_count(found, names, prefix)
    if check and shapes:
        _check_shapes(found, names, shapes, prefix)
    return found


def _is_row(data):
    """Returns a list of numbers or of rows, which is one array and not a list of arrays."""
    return len(data) > 0 and not any(isinstance(x, np.ndarray) or _is_tensor(x) for x in data)


def _check_count(found, names, prefix):
    if len(found) == len(names):
        return
    if found and hasattr(found[0], "shape"):
        raise ValueError("Error when checking model %s: the list of Numpy arrays that you are passing to your model is not the size the "
                         "model expected. Expected to see %d array(s), for inputs %s but instead got the following list of %d arrays: %s..."
                         % (prefix, len(names), names, len(found), str(found)[:200]))
    raise ValueError("Error when checking model %s: data should be a Numpy array, or list/dict of Numpy arrays. Found: %s..." % (
        prefix, str(found)[:200]))


def _check_shapes(found, names, shapes, prefix):
    for x, name, shape in zip(found, names, shapes):
        if shape is None or not isinstance(x, np.ndarray):
            continue
        if x.ndim != len(shape):
            raise ValueError("Error when checking %s: expected %s to have %d dimensions, but got array with shape %s" % (
                prefix, name, len(shape), x.shape))
        for dim, wanted in zip(x.shape[1:], shape[1:]):
            if wanted is not None and wanted != dim and wanted >= 0:
                raise ValueError("Error when checking %s: expected %s to have shape %s but got array with shape %s" % (
                    prefix, name, shape[1:], x.shape[1:]))


def _check_lengths(inputs, targets, weights):
    def lengths(values):
        return {x.shape[0] for x in values if isinstance(x, np.ndarray) and x.ndim}
    xs, ys, ws = lengths(inputs), lengths(targets), lengths(weights)
    for found, values, what in ((xs, inputs, "input arrays (x)"), (ys, targets, "target arrays (y)"),
                                (ws, weights, "sample_weight arrays")):
        if len(found) > 1:
            raise ValueError("All %s should have the same number of samples. Got array shapes: %s" % (
                what, [x.shape for x in values if x is not None]))
    if xs and ys and xs != ys:
        raise ValueError("Input arrays should have the same number of samples as target arrays. Found %d input samples and %d target "
                         "samples." % (list(xs)[0], list(ys)[0]))
    if ys and ws and ys != ws:
        raise ValueError("Sample_weight arrays should have the same number of samples as target arrays. Got %d input samples and %d target "
                         "samples." % (list(ws)[0], list(ys)[0]))


_SAME_SHAPE = (losses.mean_squared_error, losses.binary_crossentropy, losses.categorical_crossentropy)


def _check_targets(targets, endpoints):
    """Raises an error unless targets have the shape that the loss needs."""
    for y, endpoint in zip(targets, endpoints):
        if not isinstance(y, np.ndarray) or endpoint.shape is None:
            continue
        fn = getattr(endpoint.loss, "fn", None)
        if losses.is_categorical_crossentropy(endpoint.loss) and y.shape[-1] == 1:
            raise ValueError(
                "You are passing a target array of shape %s while using as loss `categorical_crossentropy`. `categorical_crossentropy` "
                "expects targets to be binary matrices (1s and 0s) of shape (samples, classes). If your targets are integer classes, you "
                "can convert them to the expected format via:\n```\nfrom keras.utils import to_categorical\ny_binary = "
                "to_categorical(y_int)\n```\n\nAlternatively, you can use the loss function `sparse_categorical_crossentropy` instead, "
                "which does expect integer targets." % (y.shape,))
        if fn in _SAME_SHAPE and any(b is not None and a != b for a, b in zip(y.shape[1:], endpoint.shape[1:])):
            raise ValueError("A target array with shape %s was passed for an output of shape %s while using as loss `%s`. This loss "
                             "expects targets to have the same shape as the output." % (y.shape, endpoint.shape, fn.__name__))


def standardized(model, x, y, sample_weight, class_weight, check=True):
    """Returns (inputs, targets, weights) as lists of the values to feed."""
    state = model._training_state
    shapes = [tuple(t.shape.as_list()) if t.shape.ndims is not None else None for t in model._feed_inputs]
    names = model._feed_input_names
    inputs = [] if x is None and not names else arrays(x, names, shapes, "input")
    targets, weights = [], []
    if y is not None or any(e.sample_weight is not None for e in state.endpoints):
        fed = [e for e in state.endpoints if e.feed_target]
        named = [e.name for e in fed]
        given = {k: v for k, v in y.items() if k in named} if isinstance(y, dict) else y
        if y is not None:
            targets = _prefixed(given, named, fed)
            _check_targets(targets, fed)
        weights = _weights(state.endpoints, targets, sample_weight, class_weight, inputs)
    if check:
        _check_lengths(inputs, targets, weights)
    return inputs, targets, weights


def _prefixed(y, names, fed):
    shapes = [e.fed_shape() for e in fed]
    found = arrays(y, names, None, "target")
    return [x if not isinstance(x, np.ndarray) or s is None or x.ndim == len(s) or x.ndim + 1 != len(s) else np.expand_dims(x, -1)
            for x, s in zip(found, shapes)]


def _weights(endpoints, targets, sample_weight, class_weight, inputs):
    active = [e for e in endpoints if not e.skipped]
    names = [e.name for e in active]
    given = per_name(sample_weight, names, "sample_weight")
    classes = class_weight_per(class_weight, names)
    found = []
    for endpoint, weight, by_class in zip(active, given, classes):
        if endpoint.sample_weight is None:
            continue
        at = [e.name for e in active if e.feed_target].index(endpoint.name) if endpoint.feed_target and targets else None
        found.append(weights_of(targets[at] if at is not None else None, weight, by_class, endpoint.weight_mode, inputs))
    return found


def class_weight_per(class_weight, names):
    if class_weight is None:
        return [None] * len(names)
    if isinstance(class_weight, dict) and all(k in names for k in class_weight):
        return [class_weight.get(n) for n in names]
    return [class_weight] * len(names)


def weights_of(y, sample_weight, class_weight, mode=None, inputs=()):
    """Returns the weight of each example: the given weight times that of its class."""
    if mode is not None and mode not in ("samplewise", "temporal"):
        raise ValueError('sample_weight_mode must be None or "temporal". Received: %s' % mode)
    if sample_weight is not None:
        sample_weight = _array(sample_weight)
        if mode != "temporal" and isinstance(sample_weight, np.ndarray) and sample_weight.ndim != 1 and not _one_column(sample_weight):
            raise ValueError("Found a sample_weight array with shape %s. In order to use timestep-wise sample weights, you should specify "
                             'sample_weight_mode="temporal" in compile(); founssd "%s" instead. If you just mean to use sample-wise '
                             "weights, make sure your sample_weight array is 1D." % (sample_weight.shape, mode))
        if isinstance(sample_weight, np.ndarray) and mode != "temporal":
            sample_weight = sample_weight.reshape(-1)
    by_class = None if class_weight is None or y is None else _class_weights(y, class_weight)
    if sample_weight is not None:
        return sample_weight if by_class is None else sample_weight * by_class
    if by_class is not None:
        return by_class
    if isinstance(y, np.ndarray):
        return np.ones((y.shape[0],) if mode != "temporal" else y.shape[:2], dtype="float32")
    return np.ones((len(inputs[0]),), dtype="float32") if inputs and isinstance(inputs[0], np.ndarray) else None


def _one_column(x):
    return x.ndim == 2 and x.shape[1] == 1


def _class_weights(y, class_weight):
    if isinstance(y, np.ndarray) and y.ndim > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    if isinstance(y, tf.Tensor):
        table = tf.constant([class_weight[k] for k in sorted(class_weight)], tf.float32)
        classes = tf.argmax(y, axis=1) if (y.shape.as_list()[-1] or 1) > 1 else tf.cast(tf.reshape(y, [-1]), tf.int64)
        return tf.gather(table, classes)
    classes = np.argmax(y, axis=1) if y.ndim == 2 and y.shape[1] > 1 else np.reshape(y, [-1])
    missing = set(np.unique(classes)) - set(class_weight)
    if missing:
        raise ValueError("`class_weight` must contain all classes in the data. The classes %s exist in the data but not in "
                         "`class_weight`." % missing)
    return np.asarray([class_weight[c] for c in classes], dtype="float32")


def split(arrays_given, fraction):
    """Returns (the first part, the last part) of arrays for training and validation."""
    length = next((len(a) for a in arrays_given if a is not None), 0)
    at = int(length * (1.0 - fraction))
    if at == 0 or at == length:
        raise ValueError("Empty training data. The data has %d examples, and validation_split=%s leaves no example for one of the two "
                         "parts: give more data, or another validation_split." % (length, fraction))
    return [None if a is None else a[:at] for a in arrays_given], [None if a is None else a[at:] for a in arrays_given]


def sliced(values, index):
    """Returns the rows of arrays; tensors stay whole."""
    return [v if v is None or _is_tensor(v) else _rows(v, index) for v in values]


def _rows(value, index):
    if isinstance(value, tf.SparseTensorValue):
        kept = np.isin(value.indices[:, 0], index)
        moved = {old: new for new, old in enumerate(index)}
        where = value.indices[kept].copy()
        where[:, 0] = [moved[i] for i in where[:, 0]]
        return tf.SparseTensorValue(where, value.values[kept], (len(index), *value.dense_shape[1:]))
    return value[index]
