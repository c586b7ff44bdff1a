"""Private functions of tensorflow.python.ops and framework, for programs that contain copied parts of TensorFlow."""
import collections
import os

import weft as tf
from weft._core.estimator.export import timestamped
from weft._core.framework.build import op
from weft._core.nn.metric_parts import broadcast_weights
from weft._core.nn.sampled import _row_sums as _sum_rows  # noqa: F401
from weft._core.ops.init_ops import fans as _compute_fans  # noqa: F401

# ---- init_ops ----

def _assert_float_dtype(dtype):
    """Returns the type, which must be one of floating-point numbers."""
    if not dtype.is_floating:
        raise ValueError("Expected floating point type, got %s." % dtype)
    return dtype


# ---- losses ----

def _safe_mean(losses, num_present):
    """Returns the sum of losses by their number; 0 if there are none."""
    return tf.div_no_nan(tf.reduce_sum(losses), num_present, name="value")


def _num_present(losses, weights, per_batch=False):
    """Returns the number of losses whose weights are not 0; per_batch: of each row."""
    present = broadcast_weights(tf.cast(tf.not_equal(weights, 0), tf.float32), losses)
    axes = list(range(1, present.shape.ndims)) if per_batch else None
    return tf.reduce_sum(present, axis=axes, keepdims=per_batch) if axes != [] else present


# ---- image_ops_impl ----

def _image_dimensions(image, rank):
    """Returns the sizes of an image: numbers where they are known, else tensors."""
    static = image.shape.with_rank(rank).as_list()
    dynamic = tf.unstack(tf.shape(image), rank) if None in static else static
    return [d if s is None else s for s, d in zip(static, dynamic)]


def _check_image(image, require_static=True):
    """Returns the checks that an image has three dimensions, none of which is 0."""
    try:
        shape = image.shape.with_rank(3)
    except ValueError:
        raise ValueError("'image' (shape %s) must be three-dimensional." % (image.shape,)) from None
    if require_static and not shape.is_fully_defined():
        raise ValueError("'image' (shape %s) must be fully defined." % (shape,))
    if any(d == 0 for d in shape.as_list()):
        raise ValueError("all dims of 'image.shape' must be > 0: %s" % (shape,))
    if shape.is_fully_defined():
        return []
    return [tf.assert_positive(tf.shape(image), ["all dims of 'image.shape' must be > 0."])]


def _assert_image(image):
    """Returns the image, checked to have three dimensions."""
    checks = _check_image(image, require_static=False)
    if not checks:
        return image
    with tf.control_dependencies(checks):
        return tf.identity(image)


_ImageDimensions, _Check3DImage, _Assert3DImage = _image_dimensions, _check_image, _assert_image


# ---- inplace_ops ----

def _inplace(kind):
    def function(x, i, v):
        x, v = tf.convert_to_tensor(x), tf.convert_to_tensor(v)
        if i is None:  # The whole of x is replaced.
            return tf.reshape(op(kind, None, x=tf.reshape(x, [1, -1]), i=[0], v=tf.reshape(v, [1, -1])), tf.shape(x))
        i = tf.convert_to_tensor(i, tf.int32)
        if i.shape.ndims == 0:
            i, v = tf.reshape(i, [1]), tf.expand_dims(v, 0)
        return op(kind, None, x=x, i=i, v=v)
    return function


alias_inplace_update, alias_inplace_add, alias_inplace_sub = (_inplace(k) for k in ("InplaceUpdate", "InplaceAdd", "InplaceSub"))


def _of_copy(function):
    return lambda x, i, v: function(op("DeepCopy", None, x=tf.convert_to_tensor(x)), i, v)


inplace_update, inplace_add, inplace_sub = (_of_copy(f) for f in (alias_inplace_update, alias_inplace_add, alias_inplace_sub))


# ---- framework ----

def is_sparse(x):
    """Returns True of a SparseTensor or its value."""
    return isinstance(x, (tf.SparseTensor, tf.SparseTensorValue))


def _permuted(input_tensor, orders):
    """Returns a tensor, its shape or a list of sizes in another order."""
    if isinstance(input_tensor, tf.Tensor) and input_tensor.shape.ndims != 1:
        return tf.transpose(input_tensor, orders[input_tensor.shape.ndims])
    return [input_tensor[i] for i in orders[len(input_tensor)]]


def NHWCToNCHW(input_tensor):  # noqa: N802 - TensorFlow's name
    """Returns a tensor or a list of sizes with the channels second."""
    return _permuted(input_tensor, {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]})


def NCHWToNHWC(input_tensor):  # noqa: N802 - TensorFlow's name
    """Returns a tensor or a list of sizes with the channels last."""
    return _permuted(input_tensor, {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]})


def assert_ops_in_graph(expected_ops, graph):
    """Returns {name: node} of the ops that are expected, {name: type}; ValueError if one is missing or of another type.
    """
    found = {node.name: node for node in graph.as_graph_def().node if node.name in expected_ops}
    for name, node in found.items():
        if node.op != expected_ops[name]:
            raise ValueError("Expected op for node %s is different. %s vs %s" % (name, expected_ops[name], node.op))
    if set(found) != set(expected_ops):
        raise ValueError("Not all expected ops are present. Expected %s, found %s" % (expected_ops.keys(), found.keys()))
    return found


# ---- saved_model.model_utils, training.device_setter, platform.build_info, ops.rnn_cell_impl ----

def get_timestamped_export_dir(export_dir_base):
    """Returns the path, as bytes, of a folder below the base that is named by the second and not there yet."""
    return timestamped(tf.compat.as_str_any(export_dir_base)).encode()


def get_temp_export_dir(timestamped_export_dir):
    """Returns the path of the folder beside it that an export is written to first."""
    folder, name = os.path.split(tf.compat.as_bytes(timestamped_export_dir))
    return os.path.join(folder, b"temp-" + name)


class _RoundRobinStrategy:
    """Returns the number of the next ps task. Each call with an op uses one task."""

    def __init__(self, num_tasks):
        self._tasks, self._next = num_tasks, 0

    def __call__(self, unused_op):
        taken, self._next = self._next, (self._next + 1) % self._tasks
        return taken


build_info = collections.OrderedDict(is_cuda_build=tf.test.is_built_with_cuda(), is_rocm_build=False, is_tensorrt_build=False)


def _hasattr(obj, attr_name):
    """Returns whether an object has an attribute; its property may raise any error."""
    try:
        getattr(obj, attr_name)
    except AttributeError:
        return False
    return True
