"""The convolutions of layers: ops over one, two and three axes, with TensorFlow's nodes."""
from weft._core.framework import dtypes
from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.graph import name_scope
from weft._core.keras.arguments import op_layout
from weft._core.nn import nn
from weft._core.ops import array_ops


def _full(values, data_format):
    """Returns numbers for the spatial axes as numbers for all axes."""
    return [1, *values, 1] if data_format == "channels_last" else [1, 1, *values]


def convolution(x, kernel, strides, padding, data_format, dilations, name):
    """Returns a convolution over as many axes as `strides` has."""
    axes = len(strides)
    if axes == 1:
        return _one_axis(x, kernel, strides[0], padding, data_format, dilations[0], name)
    form = op_layout(data_format, axes)
    return op("Conv%dD" % axes, name, input=x, filter=kernel, strides=_full(strides, data_format), padding=padding.upper(),
              data_format=form, dilations=_full(dilations, data_format))


def _one_axis(x, kernel, stride, padding, data_format, dilation, name):
    """Returns a convolution of images that are one row high; like TensorFlow, it dilates by moving space to the batch.
    """
    with name_scope(name, "conv1d") as scope:
        last = data_format == "channels_last"
        if dilation == 1:
            return _row(x, kernel, stride, padding, last, scope)
        return _dilated(x, kernel, stride, padding, last, dilation, scope)


def _row(x, kernel, stride, padding, last, scope):
    at = -3 if last else -2
    image = array_ops.expand_dims(x, at)
    wide = array_ops.expand_dims(kernel, 0)
    made = op("Conv2D", scope, input=image, filter=wide, strides=[1, 1, stride, 1] if last else [1, 1, 1, stride],
              padding=padding.upper(), data_format="NHWC" if last else "NCHW")
    return array_ops.squeeze(made, [at])


def _dilated(x, kernel, stride, padding, last, dilation, scope):
    x = convert_to_tensor(x)
    axis = 1 if last else 2
    length, size = x.shape.as_list()[axis], kernel.shape.as_list()[0]
    more = (size - 1) * dilation if padding == "same" else 0
    base = [more // 2, more - more // 2]
    constant([dilation], dtypes.int32, name="dilation_rate")
    if length is None:
        paddings, crops = _paddings_at_run(x, axis, base, dilation)
    else:
        paddings, crops = _paddings(length, base, dilation)
    if not last:
        x = array_ops.transpose(x, [0, 2, 1])
    rows = array_ops.space_to_batch_nd(x, [dilation], paddings)
    made = _row(rows, kernel, stride, "valid", True, scope)
    made = array_ops.batch_to_space_nd(made, [dilation], crops)
    made.set_shape(_dilated_shape(x, kernel, base, dilation, length))
    return made if last else array_ops.transpose(made, [0, 2, 1])


def _paddings(length, base, dilation):
    with name_scope("required_space_to_batch_paddings"):
        constant([length], dtypes.int32, name="input_shape")
        constant([base], dtypes.int32, name="base_paddings")
        rest = -(length + sum(base)) % dilation
        constant([[base[0], base[1] + rest]], dtypes.int32, name="paddings")
        constant([[0, rest]], dtypes.int32, name="crops")
    return [[base[0], base[1] + rest]], [[0, rest]]


def _paddings_at_run(x, axis, base, dilation):
    """Returns the paddings of a length that is known only in the run."""
    from weft._core.ops import math_ops
    length = array_ops.shape(x)[axis]
    rest = math_ops.mod(-(length + sum(base)), dilation)
    return array_ops.reshape(array_ops.stack([constant(base[0]), base[1] + rest]), [1, 2]), \
        array_ops.reshape(array_ops.stack([constant(0), rest]), [1, 2])


def _dilated_shape(x, kernel, base, dilation, length):
    made = None if length is None else length + sum(base) - (kernel.shape.as_list()[0] - 1) * dilation
    return [x.shape.as_list()[0], made, kernel.shape.as_list()[-1]]


def depthwise(x, kernel, strides, padding, data_format, dilations):
    """Returns a convolution of each channel separately; CPUs compute it with the channels last."""
    first = data_format == "channels_first"
    if first:
        x = array_ops.transpose(x, [0, 2, 3, 1])
    made = nn.depthwise_conv2d(x, kernel, [1, *strides, 1], padding.upper(), rate=list(dilations), data_format="NHWC")
    return array_ops.transpose(made, [0, 3, 1, 2]) if first else made
