"""tf.test.compute_gradient: computes derivatives by tf.gradients and by small steps of the input."""
import numpy as np

from weft._core.framework.build import constant
from weft._core.framework.graph import get_default_graph
from weft._core.ops.array_ops import reshape
from weft._core.ops.control_flow import group
from weft._core.ops.gradients import gradients
from weft._core.session.client import get_default_session


def _run(tensors, feeds):
    session = get_default_session()
    if session is None:
        raise ValueError("tf.test.compute_gradient needs a default session: call it in `with tf.Session():`")
    return session.run(tensors, feeds)


def _parts(value):
    """Returns a value as a flat list of real numbers, two for each complex one."""
    value = np.ascontiguousarray(value)
    return value.view(value.real.dtype).ravel() if np.iscomplexobj(value) else value.ravel()


def _theoretical(x, x_shape, x_data, y, y_shape, dy, dx, extra):
    """Returns one column for each number of y: the gradient of that number."""
    is_complex = y.dtype.is_complex
    width = int(np.prod(y_shape)) * (2 if is_complex else 1)
    found = np.zeros((_parts(x_data).size, width), x.dtype.real_dtype.as_numpy_dtype)
    seed = np.zeros(y_shape, y.dtype.as_numpy_dtype)
    flat = _parts(seed)
    for column in range(width):
        flat[column] = 1
        got = _run(dx, {**extra, x: x_data, dy: flat.view(seed.dtype).reshape(y_shape)})
        if hasattr(got, "indices"):
            dense = np.zeros(x_shape, x.dtype.as_numpy_dtype)
            np.add.at(dense, got.indices, got.values)
            got = dense
        found[:, column] = _parts(got)
        flat[column] = 0
    return found


def _numeric(x, x_data, y, y_shape, delta, extra):
    """Returns the change of y by a small step of each number of x, both ways."""
    width = int(np.prod(y_shape)) * (2 if y.dtype.is_complex else 1)
    flat = _parts(np.array(x_data))
    found = np.zeros((flat.size, width), x.dtype.real_dtype.as_numpy_dtype)
    for row in range(flat.size):
        values = []
        for step in (delta, -delta):
            moved = flat.copy()
            moved[row] += step
            values.append(_parts(_run(y, {**extra, x: moved.view(x_data.dtype).reshape(x_data.shape)})))
        found[row] = (values[0] - values[1]) / (2 * delta)
    return found


def _one(x, x_shape, y, y_shape, x_init_value, delta, extra):
    if x_init_value is None:
        x_init_value = np.random.random_sample(x_shape).astype(x.dtype.as_numpy_dtype)
        if x.dtype.is_complex:
            x_init_value = x_init_value + 1j * np.random.random_sample(x_shape)
    data = np.asarray(x_init_value, x.dtype.as_numpy_dtype)
    if list(data.shape) != list(x_shape):
        raise ValueError("x_init_value has the shape %s, and x_shape is %s" % (data.shape, x_shape))
    dy = constant(np.ones(y_shape, y.dtype.as_numpy_dtype)) + constant(np.zeros(y_shape, y.dtype.as_numpy_dtype))
    dx = gradients(reshape(y, y_shape), x, grad_ys=dy)[0]
    if dx is None:
        raise ValueError("y does not depend on x: tf.gradients gives None")
    return _theoretical(x, x_shape, data, y, y_shape, dy, dx, extra), _numeric(x, data, y, y_shape, delta, extra)


def compute_gradient(x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None):
    """Returns (matrix of tf.gradients, matrix of finite differences), [numbers of x, numbers of y]; for a list of x a
    list of pairs.
    """
    if init_targets is not None:
        _run(group(*init_targets) if isinstance(init_targets, (list, tuple)) else init_targets, None)
    extra = extra_feed_dict or {}
    with get_default_graph().as_default():
        if isinstance(x, (list, tuple)):
            values = x_init_value if x_init_value is not None else [None] * len(x)
            return [_one(one, shape, y, y_shape, value, delta, extra) for one, shape, value in zip(x, x_shape, values)]
        return _one(x, x_shape, y, y_shape, x_init_value, delta, extra)


def compute_gradient_error(x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None):
    """Returns the largest difference between the two matrices of compute_gradient."""
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = [found] if isinstance(found, tuple) else found
    return np.float64(max(np.abs(a - b).max() if a.size else 0.0 for a, b in pairs))
