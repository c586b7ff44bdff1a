"""tf.keras.backend: variables, shapes, arithmetic and reductions."""
import numpy as np

import weft as tf
from weft._core.keras.session import floatx, track_variable
from weft._core.ops.resource_variables import ResourceVariable


def _type(dtype):
    return tf.as_dtype(dtype or floatx())


# ---- variables and constants ----

def variable(value, dtype=None, name=None, constraint=None):
    """Returns a variable that Keras initializes."""
    if hasattr(value, "tocoo"):
        value = value.tocoo()
        order = np.concatenate((value.row[:, None], value.col[:, None]), 1)
        return tf.SparseTensor(indices=order, values=value.data, dense_shape=value.shape)
    made = ResourceVariable(value, dtype=_type(dtype), name=name, constraint=constraint)
    track_variable(made)
    return made


def constant(value, dtype=None, shape=None, name=None):
    return tf.constant(value, dtype=_type(dtype), shape=shape, name=name)


def placeholder(shape=None, ndim=None, dtype=None, sparse=False, name=None, ragged=False):
    """Returns an input placeholder."""
    if sparse and ragged:
        raise ValueError("Cannot set both sparse and ragged to True when creating a placeholder.")
    if ragged:
        raise NotImplementedError("tf.keras.backend.placeholder(ragged=True) is not in Weft: pad the rows and use a mask")
    dtype = _type(dtype)
    if not shape and ndim:
        shape = (None,) * ndim
    if sparse:
        return tf.sparse_placeholder(dtype, shape=shape, name=name)
    return tf.placeholder(dtype, shape=shape, name=name)


def is_sparse(tensor):
    return isinstance(tensor, (tf.SparseTensor, tf.SparseTensorValue))


def to_dense(tensor):
    """Returns a sparse tensor as a dense one; a dense tensor is returned unchanged."""
    return tf.sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


def is_keras_tensor(x):
    """Returns True for an output of a Keras layer or of Input."""
    if not isinstance(x, (tf.Tensor, tf.Variable, tf.SparseTensor)):
        raise ValueError("Unexpectedly found an instance of type `%s`. Expected a symbolic tensor instance." % type(x))
    return hasattr(x, "_keras_history")


def shape(x):
    return tf.shape(x)


def int_shape(x):
    """Returns the shape as a tuple with None for unknown sizes, or None if the rank is unknown."""
    try:
        found = x.shape
        return tuple(found) if isinstance(found, tuple) else tuple(found.as_list())
    except ValueError:
        return None


def ndim(x):
    return x.shape.ndims


def dtype(x):
    return x.dtype.base_dtype.name


def count_params(x):
    return np.prod(x.shape.as_list())


def _variable_or_tensor(made, name, dtype):
    if made.shape.is_fully_defined():
        return variable(made, dtype=dtype, name=name)
    return made


def zeros(shape, dtype=None, name=None):
    """Returns a variable of zeros, or a tensor if the shape is not known."""
    return _variable_or_tensor(tf.zeros(shape=shape, dtype=_type(dtype), name=name), name, _type(dtype))


def ones(shape, dtype=None, name=None):
    """Returns a variable of ones, or a tensor if the shape is not known."""
    return _variable_or_tensor(tf.ones(shape=shape, dtype=_type(dtype), name=name), name, _type(dtype))


def eye(size, dtype=None, name=None):
    """Returns a variable that is the identity matrix."""
    return variable(tf.eye(size, dtype=_type(dtype)), _type(dtype), name)


def zeros_like(x, dtype=None, name=None):
    return tf.zeros_like(x, dtype=dtype, name=name)


def ones_like(x, dtype=None, name=None):
    return tf.ones_like(x, dtype=dtype, name=name)


def _seed(seed):
    return np.random.randint(10000000) if seed is None else seed


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """Returns a variable with random numbers between low and high."""
    made = tf.random_uniform_initializer(low, high, dtype=_type(dtype), seed=_seed(seed))(shape)
    return variable(made, dtype=_type(dtype), name=name)


def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    """Returns a variable with normally distributed random numbers."""
    made = tf.random_normal_initializer(mean, scale, dtype=_type(dtype), seed=_seed(seed))(shape)
    return variable(made, dtype=_type(dtype), name=name)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    return tf.random_normal(shape, mean=mean, stddev=stddev, dtype=_type(dtype), seed=_seed(seed))


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    return tf.random_uniform(shape, minval=minval, maxval=maxval, dtype=_type(dtype), seed=_seed(seed))


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    return tf.truncated_normal(shape, mean, stddev, dtype=_type(dtype), seed=_seed(seed))


def random_bernoulli(shape, p=0.0, dtype=None, seed=None):
    """Returns ones with the probability p, and zeros otherwise."""
    drawn = tf.random_uniform(shape, dtype=_type(dtype), seed=_seed(seed))
    return tf.where_v2(drawn <= p, tf.ones(shape, dtype=_type(dtype)), tf.zeros(shape, dtype=_type(dtype)))


def random_binomial(shape, p=0.0, dtype=None, seed=None):
    """Returns ones with the probability p, and zeros otherwise."""
    return random_bernoulli(shape, p, dtype, seed)


def update(x, new_x):
    return tf.assign(x, new_x)


def update_add(x, increment):
    return tf.assign_add(x, increment)


def update_sub(x, decrement):
    return tf.assign_sub(x, decrement)


def moving_average_update(x, value, momentum):
    """Moves a variable towards a value by the fraction 1 - momentum.

    As in TensorFlow 1's mode, zeros at the start do not count: variables called biased and local_step beside x correct
    for them.
    """
    dtype, graph = x.dtype.base_dtype, tf.get_default_graph()
    with tf.name_scope(None, "AssignMovingAvg", [x, value, momentum]) as scope, graph.colocate_with(x):
        decay, value = tf.convert_to_tensor(1.0 - momentum, dtype, name="decay"), tf.cast(value, dtype)
        with tf.variable_scope(x.op.name, values=[x, value, decay]):
            biased = tf.get_variable("biased", initializer=tf.zeros(x.shape, dtype), trainable=False)
            step = tf.get_variable("local_step", initializer=tf.zeros([], dtype), trainable=False)
            moved = tf.assign_sub(biased, (biased - value) * decay)
            counted = tf.assign_add(step, tf.ones([], dtype))
            with tf.control_dependencies([moved, counted]):
                whole = tf.identity(biased) / (1 - tf.pow(1.0 - decay, tf.identity(step)))
            delta = x - whole
        return tf.assign_sub(x, delta, name=scope)


# ---- arithmetic ----

def dot(x, y):
    """Returns the product over the last axis of x and the second-to-last of y; x may be sparse."""
    if is_sparse(x):
        return tf.sparse_tensor_dense_matmul(x, y)
    if ndim(x) is not None and (ndim(x) > 2 or ndim(y) > 2):
        return _wide_dot(x, y)
    return tf.matmul(x, y)


def _known(x):
    """Returns the shape as a tuple, with tensors for unknown sizes."""
    parts = tf.unstack(tf.shape(x))
    return tuple(part if known is None else known for known, part in zip(x.shape.as_list(), parts))


def _wide_dot(x, y):
    x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
    x_shape, y_shape = _known(x), _known(y)
    order = list(range(ndim(y)))
    order = [order.pop(-2)] + order
    left = tf.reshape(x, [-1, x_shape[-1]])
    right = tf.reshape(tf.transpose(y, perm=order), [y_shape[-2], -1])
    return tf.reshape(tf.matmul(left, right), x_shape[:-1] + y_shape[:-2] + y_shape[-1:])


def batch_dot(x, y, axes=None):
    """Returns the product of the examples of two batches over one axis of each."""
    x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
    x_rank, y_rank = ndim(x), ndim(y)
    if x_rank < 2 or y_rank < 2:
        raise ValueError("Cannot do batch_dot on inputs with rank < 2. Received inputs with tf.shapes %s and %s." % (x.shape, y.shape))
    a, b = _dot_axes(x, y, axes)
    for axis in (a, b):
        if axis == 0:
            raise ValueError("Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy batch dimension to "
                             "your inputs using K.expand_dims(x, 0)")
    if None not in (x.shape.as_list()[a], y.shape.as_list()[b]) and x.shape.as_list()[a] != y.shape.as_list()[b]:
        raise ValueError("Cannot do batch_dot on inputs with tf.shapes %s and %s with axes=%s. x.shape[%d] != y.shape[%d] (%d != %d)." % (
            x.shape, y.shape, axes, a, b, x.shape.as_list()[a], y.shape.as_list()[b]))
    return _batch_product(x, y, a, b)


def _dot_axes(x, y, axes):
    if axes is None:
        axes = [ndim(x) - 1, ndim(y) - 1 if ndim(y) == 2 else ndim(y) - 2]
    axes = [axes, axes] if isinstance(axes, int) else [axes[0], axes[1]]
    if [a for a in axes if isinstance(a, (list, tuple))]:
        raise ValueError("Multiple target dimensions are not supported. Expected: None, int, (int, int), Provided: %s" % (axes,))
    return [a + rank if a < 0 else a for a, rank in zip(axes, (ndim(x), ndim(y)))]


def _batch_product(x, y, a, b):
    x_shape, y_shape = _known(x), _known(y)
    x_rest = [i for i in range(1, ndim(x)) if i != a]
    y_rest = [i for i in range(1, ndim(y)) if i != b]
    left = tf.reshape(tf.transpose(x, [0] + x_rest + [a]), tf.stack([x_shape[0], -1, x_shape[a]]))
    right = tf.reshape(tf.transpose(y, [0, b] + y_rest), tf.stack([y_shape[0], y_shape[b], -1]))
    whole = [x_shape[0]] + [x_shape[i] for i in x_rest] + [y_shape[i] for i in y_rest]
    if len(whole) == 1:
        whole.append(1)
    made = tf.reshape(tf.matmul(left, right), tf.stack(whole))
    known = [x.shape.as_list()[0] or y.shape.as_list()[0]] + [x.shape.as_list()[i] for i in x_rest] + [y.shape.as_list()[i] for i in y_rest]
    made.set_shape(known if len(known) > 1 else known + [1])
    return made


def transpose(x):
    return tf.transpose(x)


def gather(reference, indices):
    return tf.gather(reference, indices)


def max(x, axis=None, keepdims=False):
    return tf.reduce_max(x, axis, keepdims)


def min(x, axis=None, keepdims=False):
    return tf.reduce_min(x, axis, keepdims)


def sum(x, axis=None, keepdims=False):
    return tf.reduce_sum(x, axis, keepdims)


def prod(x, axis=None, keepdims=False):
    return tf.reduce_prod(x, axis, keepdims)


def cumsum(x, axis=0):
    return tf.cumsum(x, axis=axis)


def cumprod(x, axis=0):
    return tf.cumprod(x, axis=axis)


def _numbers(x):
    x = tf.convert_to_tensor(x)
    return tf.cast(x, floatx()) if x.dtype.base_dtype == tf.bool else x


def var(x, axis=None, keepdims=False):
    """Returns the variance over an axis."""
    return tf.math.reduce_variance(_numbers(x), axis=axis, keepdims=keepdims)


def std(x, axis=None, keepdims=False):
    """Returns the standard deviation over an axis."""
    return tf.math.reduce_std(_numbers(x), axis=axis, keepdims=keepdims)


def mean(x, axis=None, keepdims=False):
    """Returns the mean over an axis; for booleans, the fraction that is true."""
    return tf.reduce_mean(_numbers(x), axis, keepdims)


def any(x, axis=None, keepdims=False):
    return tf.reduce_any(tf.cast(x, tf.bool), axis, keepdims)


def all(x, axis=None, keepdims=False):
    return tf.reduce_all(tf.cast(x, tf.bool), axis, keepdims)


def argmax(x, axis=-1):
    return tf.argmax(x, axis)


def argmin(x, axis=-1):
    return tf.argmin(x, axis)


def square(x):
    return tf.square(x)


def abs(x):
    return tf.abs(x)


def sqrt(x):
    """Returns the square root of x, with 0 for negative values."""
    x = tf.convert_to_tensor(x)
    zero = tf.convert_to_tensor(0.0, x.dtype.base_dtype)
    return tf.sqrt(tf.maximum(x, zero))


def exp(x):
    return tf.exp(x)


def log(x):
    return tf.log(x)


def round(x):
    return tf.round(x)


def sign(x):
    return tf.sign(x)


def pow(x, a):
    return tf.pow(x, a)


def sin(x):
    return tf.sin(x)


def cos(x):
    return tf.cos(x)


def clip(x, min_value, max_value):
    """Returns x limited to an interval."""
    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)) and max_value < min_value:
        max_value = min_value
    low = -np.inf if min_value is None else min_value
    high = np.inf if max_value is None else max_value
    return tf.clip_by_value(x, low, high)


def equal(x, y):
    return tf.equal(x, y)


def not_equal(x, y):
    return tf.not_equal(x, y)


def greater(x, y):
    return tf.greater(x, y)


def greater_equal(x, y):
    return tf.greater_equal(x, y)


def less(x, y):
    return tf.less(x, y)


def less_equal(x, y):
    return tf.less_equal(x, y)


def maximum(x, y):
    return tf.maximum(x, y)


def minimum(x, y):
    return tf.minimum(x, y)


# ---- shapes ----

def cast(x, dtype):
    return tf.cast(x, dtype)


def concatenate(tensors, axis=-1):
    """Concatenates tensors along an axis."""
    if axis < 0:
        rank = ndim(tensors[0])
        axis = axis % rank if rank else 0
    if not [x for x in tensors if not is_sparse(x)]:
        return tf.sparse_concat(axis, tensors)
    return tf.concat([to_dense(x) for x in tensors], axis)


def reshape(x, shape):
    return tf.reshape(x, shape)


def permute_dimensions(x, pattern):
    return tf.transpose(x, perm=pattern)


def repeat_elements(x, rep, axis):
    """Returns a tensor with each element repeated `rep` times along an axis."""
    length = x.shape.as_list()[axis]
    if length is not None:
        return concatenate([part for part in tf.split(value=x, num_or_size_splits=length, axis=axis) for _ in range(rep)], axis)
    wide, rank = axis + 1, ndim(x)
    reps = np.ones(rank + 1)
    reps[wide] = rep
    made = tf.tile(tf.expand_dims(x, axis=wide), tf.constant(reps, dtype="int32"))
    sizes = tf.shape(x) * tf.constant([rep if i == axis else 1 for i in range(rank)], dtype="int32")
    known = x.shape.as_list()
    known[axis] = None
    made = tf.reshape(made, sizes)
    made.set_shape(known)
    return made


def repeat(x, n):
    """Returns the rows of a matrix, each repeated n times: (examples, n, width)."""
    assert ndim(x) == 2
    return tf.tile(tf.expand_dims(x, 1), tf.stack([1, n, 1]))


def arange(start, stop=None, step=1, dtype="int32"):
    """Returns the numbers from start up to, but not including, stop."""
    if stop is None and start < 0:
        start = 0
    made = tf.range(start, limit=stop, delta=step, name="arange") if stop is not None else tf.range(start, delta=step, name="arange")
    return made if dtype == "int32" else tf.cast(made, dtype)


def tile(x, n):
    return tf.tile(x, [n] if isinstance(n, int) else n)


def flatten(x):
    """Returns all elements as a vector."""
    return tf.reshape(x, [-1])


def batch_flatten(x):
    """Returns each example of the batch flattened into one row."""
    return tf.reshape(x, tf.stack([-1, prod(tf.shape(x)[1:])]))


def expand_dims(x, axis=-1):
    return tf.expand_dims(x, axis)


def squeeze(x, axis):
    return tf.squeeze(x, [axis])


def stack(x, axis=0):
    return tf.stack(x, axis=axis)


def one_hot(indices, num_classes):
    return tf.one_hot(indices, depth=num_classes, axis=-1)


def reverse(x, axes):
    return tf.reverse(x, [axes] if isinstance(axes, int) else axes)


def temporal_padding(x, padding=(1, 1)):
    """Pads the middle axis with zeros."""
    assert len(padding) == 2
    return tf.pad(x, [[0, 0], [padding[0], padding[1]], [0, 0]])


def print_tensor(x, message="", summarize=3):
    """Returns x, whose value is printed when it is computed."""
    x = tf.convert_to_tensor(x)
    with tf.control_dependencies([tf.print(message, x, summarize=summarize)]):
        return tf.identity(x)


def gradients(loss, variables):
    return tf.gradients(loss, variables, colocate_gradients_with_ops=True)


def stop_gradient(variables):
    """Returns the values as constants for gradients."""
    if isinstance(variables, (list, tuple)):
        return [tf.stop_gradient(v) for v in variables]
    return tf.stop_gradient(variables)


def map_fn(fn, elems, name=None, dtype=None):
    return tf.map_fn(fn, elems, name=name, dtype=dtype)


def foldl(fn, elems, initializer=None, name=None):
    return tf.foldl(fn, elems, initializer=initializer, name=name)


def foldr(fn, elems, initializer=None, name=None):
    return tf.foldr(fn, elems, initializer=initializer, name=name)

