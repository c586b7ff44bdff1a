"""tf.nn's convolutions and pools over one, two or three spatial dimensions, and their gradients as functions."""
import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.build import constant, constant_value, convert_to_tensor, either, op
from weft._core.framework.graph import name_scope
from weft._core.nn import pooling
from weft._core.nn.nn import padded
from weft._core.ops import array_ops

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _first(data_format):
    return bool(data_format) and data_format.startswith("NC")


# ---- three dimensions ----

def conv3d(input, filter=None, strides=None, padding=None, data_format="NDHWC", dilations=(1, 1, 1, 1, 1), name=None, filters=None):
    """Returns the product of every window of a volume with a filter.

    Args:
      input: volumes, a tensor of five dimensions.
      filter: a filter of the shape [depth, height, width, channels, new channels].
      strides: five numbers, the distance of windows.
      padding: 'SAME' or 'VALID'.
      data_format: 'NDHWC' or 'NCDHW'.
      dilations: five numbers, the distance of the elements of a window.
      name: a name for the operation.
      filters: another name of `filter`.
    """
    return op("Conv3D", name, input=input, filter=either("filters", filters, "filter", filter), strides=list(strides), padding=padding,
              data_format=data_format, dilations=list(dilations))


def conv3d_transpose(value, filter=None, output_shape=None, strides=None, padding="SAME", data_format="NDHWC", name=None, input=None,
                     filters=None, dilations=None):
    """Returns the gradient of a volume convolution with respect to its input, used as a layer.

    Args:
      value: volumes, a tensor of five dimensions.
      filter: a filter of the shape [depth, height, width, new channels, channels].
      output_shape: the shape of the result.
      strides: one number, three or five.
      padding: 'SAME' or 'VALID'.
      data_format: 'NDHWC' or 'NCDHW'.
      name: a name for the operation.
      input: another name of `value`.
      filters: another name of `filter`.
      dilations: one number, three or five.
    """
    value, filter = either("input", input, "value", value), either("filters", filters, "filter", filter)
    return _transpose3d(value, filter, output_shape, strides, padding, data_format or "NDHWC", dilations, name, "conv3d_transpose")


def _transpose3d(value, filter, output_shape, strides, padding, data_format, dilations, name, title):
    with name_scope(name, title, [value, filter, output_shape]) as scope:
        first = _first(data_format)
        return op("Conv3DBackpropInputV2", scope, input_sizes=output_shape, filter=filter, out_backprop=value,
                  strides=pooling._sizes(strides, 3, first, "strides"), padding=padding, data_format=data_format,
                  dilations=pooling._sizes(1 if dilations is None else dilations, 3, first, "dilations"))


def conv3d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, data_format="NDHWC", dilations=(1, 1, 1, 1, 1), name=None):
    """Returns the gradient of a volume convolution with respect to its filter.

    Args:
      input: volumes, a tensor of five dimensions.
      filter_sizes: the shape of the filter.
      out_backprop: the gradient towards the result of the convolution.
      strides: five numbers.
      padding: 'SAME' or 'VALID'.
      data_format: 'NDHWC' or 'NCDHW'.
      dilations: five numbers.
      name: a name for the operation.
    """
    return op("Conv3DBackpropFilterV2", name, input=input, filter_sizes=filter_sizes, out_backprop=out_backprop, strides=list(strides),
              padding=padding, data_format=data_format, dilations=list(dilations))


conv3d_backprop_filter_v2 = conv3d_backprop_filter


def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """Returns the maximum of each window of a volume.

    Args:
      input: volumes, a tensor of five dimensions.
      ksize: the size of a window: one number, three, or five.
      strides: the distance of windows, likewise.
      padding: 'SAME' or 'VALID'.
      data_format: 'NDHWC' or 'NCDHW'.
      name: a name for the operation.
    """
    return _pool3d("MaxPool3D", input, ksize, strides, padding, data_format, name)


def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """Returns the mean of each window of a volume.

    Args:
      input: volumes, a tensor of five dimensions.
      ksize: the size of a window: one number, three, or five.
      strides: the distance of windows, likewise.
      padding: 'SAME' or 'VALID'.
      data_format: 'NDHWC' or 'NCDHW'.
      name: a name for the operation.
    """
    return _pool3d("AvgPool3D", input, ksize, strides, padding, data_format, name)


def _pool3d(kind, input, ksize, strides, padding, data_format, name):
    with name_scope(name, kind, [input]) as scope:
        data_format = data_format or "NDHWC"
        first = _first(data_format)
        return op(kind, scope, input=input, ksize=pooling._sizes(ksize, 3, first, "ksize"),
                  strides=pooling._sizes(strides, 3, first, "strides"), padding=padding, data_format=data_format)


# ---- pools for inputs of any rank ----

def _rank_of_pool(input, data_format):
    shape = input.shape if hasattr(input, "shape") else np.shape(input)
    rank = len(data_format) if data_format is not None else shape.ndims if hasattr(shape, "ndims") else len(shape)
    if rank not in (3, 4, 5):
        raise ValueError("`input.shape.rank` must be 3, 4 or 5. Received: input.shape=%s of rank %s." % (shape, rank))
    return rank - 2


def max_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """Returns the maximum of each window of a row, an image or a volume.

    Args:
      input: a tensor of three, four or five dimensions.
      ksize: the size of a window: one number, one for each spatial dimension, or one for each dimension.
      strides: the distance of windows, likewise.
      padding: 'SAME', 'VALID', or a list of pairs for images.
      data_format: the layout, such as 'NHWC'; by default the channels are last.
      name: a name for the operation.
    """
    n = _rank_of_pool(input, data_format)
    data_format = data_format or _FORMATS[n][0]
    if n == 1:
        return pooling.max_pool1d(input, ksize, strides, padding, data_format, name)
    if n == 3:
        return max_pool3d(input, ksize, strides, padding, data_format, name)
    with name_scope(name, "MaxPool2d", [input]) as scope:
        first = _first(data_format)
        return op("MaxPool", scope, input=input, ksize=pooling._sizes(ksize, 2, first, "ksize"),
                  strides=pooling._sizes(strides, 2, first, "strides"), data_format=data_format, **padded(padding))


def avg_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """Returns the mean of each window of a row, an image or a volume.

    Args:
      input: a tensor of three, four or five dimensions.
      ksize: the size of a window: one number, one for each spatial dimension, or one for each dimension.
      strides: the distance of windows, likewise.
      padding: 'SAME' or 'VALID'.
      data_format: the layout, such as 'NHWC'; by default the channels are last.
      name: a name for the operation.
    """
    n = _rank_of_pool(input, data_format)
    pool_n = {1: pooling.avg_pool1d, 2: pooling.avg_pool2d, 3: avg_pool3d}[n]
    return pool_n(input, ksize, strides, padding, data_format or _FORMATS[n][0], name)


# ---- dilation by moving space into the batch ----

def _rates(dilation_rate, n):
    if dilation_rate is None:
        return np.ones([n], np.int32)
    rate = np.array(dilation_rate, np.int32).reshape(-1)
    if len(rate) == 1 and n > 1:
        rate = np.repeat(rate, n)
    if len(rate) != n:
        raise ValueError("`len(dilation_rate)` should be %d. Received: dilation_rate=%s of length %d" % (n, dilation_rate, len(rate)))
    if np.any(rate < 1):
        raise ValueError("all values of `dilation_rate` must be positive. Received: dilation_rate=%s" % rate)
    return rate


def _steps(strides, rate, n):
    steps = np.ones([n], np.int32) if strides is None else np.array(strides, np.int32).reshape(-1)
    if len(steps) == 1 and n > 1:
        steps = np.repeat(steps, n)
    if len(steps) != n:
        raise ValueError("`strides` should have length %d. Received: strides=%s of length %d" % (n, strides, len(steps)))
    if np.any(steps < 1):
        raise ValueError("all values of `strides` must be positive. Received: strides=%s" % steps)
    if np.any(steps > 1) and np.any(rate > 1):
        raise ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: strides=%s and "
                         "dilation_rate=%s" % (steps, rate))
    return steps


def _base_paddings(filter_shape, rate):
    """Returns what 'SAME' adds before and after each dimension for a dilated window."""
    known = constant_value(filter_shape) if hasattr(filter_shape, "op") else np.asarray(filter_shape)
    if known is None:
        reach = (array_ops.cast(filter_shape, dtypes.int32) - 1) * rate
        before = reach // 2
        return array_ops.stack([before, reach - before], axis=1)
    reach = (np.asarray(known)[:len(rate)] - 1) * rate
    return np.stack([reach // 2, reach - reach // 2], axis=1).astype(np.int32)


def with_space_to_batch(input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None):
    """Calls `op` on an input whose spatial dimensions are moved into the batch, which dilates the windows.

    Args:
      input: a tensor.
      dilation_rate: one number for each spatial dimension.
      padding: 'SAME' or 'VALID'.
      op: a function of the tensor, the number of spatial dimensions and a padding.
      filter_shape: the spatial sizes of the window, which 'SAME' needs.
      spatial_dims: which dimensions are spatial; by default those after the batch.
      data_format: a layout that starts with 'NC' if the channels are second.
    """
    input = convert_to_tensor(input, name="input")
    rate = convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
    rate_shape = rate.shape
    if rate_shape.ndims not in (None, 1):
        raise ValueError("`dilation_rate.shape.rank` must be 1. Received: dilation_rate=%s of rank %s" % (dilation_rate, rate_shape.ndims))
    n = rate_shape[0].value
    known = constant_value(rate)
    if known is not None and np.any(known < 1):
        raise ValueError("`dilation_rate` must be positive. Received: dilation_rate=%s" % known)
    if known is not None and np.all(known == 1):
        return op(input, n, padding)
    start = 2 if _first(data_format) else 1
    dims = list(range(start, start + n)) if spatial_dims is None else sorted(int(d) for d in np.asarray(spatial_dims))
    if dims[0] < 1:
        raise ValueError("`spatial_dims` elements must be positive integers. Received: spatial_dims=%s" % dims)
    known = known if known is not None else rate
    base = None
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("`filter_shape` must be specified for `padding='SAME'`. Received: filter_shape=None and padding=SAME")
        base = _base_paddings(filter_shape, known)
    elif padding != "VALID":
        raise ValueError("`padding` must be one of 'VALID' or 'SAME'. Received: padding=%s" % padding)
    return _through_batch(input, known, dims, base, op, n)


def _through_batch(input, rate, dims, base, op, n):
    if input.shape.ndims is not None and all(input.shape[d].value is not None for d in dims):
        sizes = np.array([input.shape[d].value for d in dims], np.int32)
    else:
        shape = array_ops.shape(input)
        sizes = array_ops.stack([shape[d] for d in dims])
    paddings, crops = array_ops.required_space_to_batch_paddings(input_shape=sizes, base_paddings=base, block_shape=rate)
    first, last = dims[0], dims[-1]
    if last - first + 1 != len(dims) or first != 1:  # The ops take the dimensions from the second one on.
        rate, paddings, crops = _for_all_dims(rate, paddings, crops, dims)
    moved = array_ops.space_to_batch_nd(input, rate, paddings)
    return array_ops.batch_to_space_nd(op(moved, n, "VALID"), rate, crops)


def _for_all_dims(rate, paddings, crops, dims):
    rates, pads, cuts, at = [], [], [], 0
    for d in range(1, dims[-1] + 1):
        here = d in dims
        rates.append(rate[at] if here else 1)
        pads.append(paddings[at] if here else constant([0, 0]))
        cuts.append(crops[at] if here else constant([0, 0]))
        at += here
    return array_ops.stack(rates), array_ops.stack(pads), array_ops.stack(cuts)


# ---- convolutions and pools of any rank ----

def convolution(input, filter, padding, strides=None, dilation_rate=None, name=None, data_format=None, filters=None, dilations=None):
    """Returns the product of every window of a row, an image or a volume with a filter.

    Args:
      input: a tensor of three, four or five dimensions, or of more: the ones before the last of these are batches.
      filter: a filter of the shape [spatial sizes, channels, new channels].
      padding: 'SAME' or 'VALID'.
      strides: one number for each spatial dimension, the distance of windows.
      dilation_rate: one number for each spatial dimension, the distance of the elements of a window.
      name: a name for the operation.
      data_format: a layout such as 'NHWC' or 'NCHW'.
      filters: another name of `filter`.
      dilations: another name of `dilation_rate`.
    """
    filter = either("filters", filters, "filter", filter)
    dilation_rate = either("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(None, "convolution_internal", [filter]):
        filter = convert_to_tensor(filter, name="filters")
    with name_scope(None, "convolution_internal", [input]):
        input = convert_to_tensor(input, name="input")
    if filter.shape.ndims is None:
        raise ValueError("rank of filter must be known. Received: filter.shape=%s" % filter.shape)
    n = filter.shape.ndims - 2
    if n not in (1, 2, 3):
        raise ValueError("`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims=%s." % n)
    rate = _rates(dilation_rate, n)
    steps = _steps(strides, rate, n)
    with name_scope(name, "convolution", [input, filter]) as scope:
        def apply(x, _, how):
            return _convolve(x, filter, steps, how, data_format, n, scope)
        spatial = [d.value for d in filter.shape[:n]]
        sizes = spatial if None not in spatial else array_ops.shape(filter)[:n]
        if np.all(rate == 1):
            return apply(input, n, padding)
        return with_space_to_batch(input, rate, padding, apply, filter_shape=sizes, data_format=data_format)


def _convolve(x, filter, steps, padding, data_format, n, scope):
    first = _first(data_format)
    strides = [1, 1, *map(int, steps)] if first else [1, *map(int, steps), 1]
    if x.shape.ndims is not None and x.shape.ndims > n + 2:  # The input has more batch dimensions.
        sizes = array_ops.shape(x)
        extra = x.shape.ndims - n - 1
        flat = array_ops.reshape(x, array_ops.concat([[-1], sizes[extra:]], 0))
        made = _convolve(flat, filter, steps, padding, data_format, n, None)
        return array_ops.reshape(made, array_ops.concat([sizes[:extra], array_ops.shape(made)[1:]], 0))
    if n == 1:
        at = 2 if first else 1
        image = array_ops.expand_dims(x, at)
        made = op("Conv2D", scope, input=image, filter=array_ops.expand_dims(filter, 0), strides=pooling._with_row(strides, at),
                  padding=padding, data_format="NCHW" if first else "NHWC")
        return array_ops.squeeze(made, [at])
    return op("Conv2D" if n == 2 else "Conv3D", scope, input=x, filter=filter, strides=strides, padding=padding,
              data_format=data_format or _FORMATS[n][0])


def pool(input, window_shape, pooling_type, padding, dilation_rate=None, strides=None, name=None, data_format=None, dilations=None):
    """Returns the maximum or the mean of each window of a row, an image or a volume.

    Args:
      input: a tensor of three, four or five dimensions.
      window_shape: one number for each spatial dimension.
      pooling_type: 'MAX' or 'AVG'.
      padding: 'SAME', 'VALID', or a list of pairs for images.
      dilation_rate: one number for each spatial dimension, the distance of the elements of a window.
      strides: one number for each spatial dimension, the distance of windows.
      name: a name for the operation.
      data_format: a layout such as 'NHWC' or 'NCHW'.
      dilations: another name of `dilation_rate`.
    """
    dilation_rate = either("dilations", dilations, "dilation_rate", dilation_rate)
    window = [int(w) for w in window_shape]
    with name_scope(name, "%s_pool" % pooling_type.lower(), [input]) as scope:
        input = convert_to_tensor(input, name="input")
        n = len(window)
        if n < 1 or n > 3:
            raise ValueError("`len(window_shape)` must be 1, 2, or 3. Received: window_shape=%s of length %d" % (window_shape, n))
        if input.shape.ndims not in (None, n + 2):
            raise ValueError("Shape %s must have rank %d" % (input.shape, n + 2))
        rate = _rates(dilation_rate, n)
        steps = _steps(strides, rate, n)
        if padding == "SAME" and np.any(rate > 1):
            raise ValueError("pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. Received: padding=SAME and "
                             "dilation_rate=%s" % rate)
        if np.any(steps > np.array(window)):
            raise ValueError("`strides` > `window_shape` not supported due to inconsistency between CPU and GPU implementations. "
                             "Received: strides=%s and window_shape=%s" % (steps, window))
        if pooling_type not in ("MAX", "AVG"):
            raise ValueError("%d-D %s pooling is not supported." % (n, pooling_type))

        def apply(x, _, how):
            return _pool_once(pooling_type, x, window, steps, how, data_format, n, scope)
        constant(rate, name="dilation_rate") if np.all(rate == 1) else None
        if np.all(rate == 1):
            return apply(input, n, padding)
        return with_space_to_batch(input, rate, padding, apply, filter_shape=window, data_format=data_format)


def _pool_once(pooling_type, x, window, steps, padding, data_format, n, scope):
    first = _first(data_format)
    ksize, strides = ([1, 1, *v] if first else [1, *v, 1] for v in (window, list(map(int, steps))))
    at, argument = 2 if first else 1, "value" if pooling_type == "AVG" and n < 3 else "input"
    if n == 1:
        x, ksize, strides = array_ops.expand_dims(x, at), pooling._with_row(ksize, at), pooling._with_row(strides, at)
    layout = _FORMATS[max(n, 2)][first]
    kind = {"MAX": "MaxPool", "AVG": "AvgPool"}[pooling_type] + ("3D" if n == 3 else "")
    made = op(kind, scope, **{argument: x}, ksize=ksize, strides=strides, data_format=layout, **padded(padding))
    return array_ops.squeeze(made, [at]) if n == 1 else made


# ---- transposed convolutions ----

def conv1d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=None, name=None):
    """Returns the gradient of a convolution of rows with respect to its input, used as a layer.

    Args:
      input: rows, a tensor of three dimensions.
      filters: a filter of the shape [width, new channels, channels].
      output_shape: the shape of the result, three numbers.
      strides: one number, or one for each dimension.
      padding: 'SAME' or 'VALID'.
      data_format: 'NWC' or 'NCW'.
      dilations: one number, or one for each dimension.
      name: a name for the operation.
    """
    return _transpose1d(input, filters, output_shape, strides, padding, data_format, dilations, name, "conv1d_transpose")


def _transpose1d(input, filters, output_shape, strides, padding, data_format, dilations, name, title):
    with name_scope(name, title, [input, filters, output_shape]) as scope:
        first = _first(data_format)
        at = 2 if first else 1
        steps = pooling._with_row(pooling._sizes(strides, 1, first, "strides"), at)
        gaps = pooling._with_row(pooling._sizes(1 if dilations is None else dilations, 1, first, "dilations"), at)
        image, kernel = array_ops.expand_dims(input, at), array_ops.expand_dims(filters, 0)
        sizes = output_shape
        if isinstance(sizes, (list, tuple)):
            sizes = convert_to_tensor(list(sizes), dtypes.int32)
        sizes = array_ops.concat([sizes[:at], [1], sizes[at:]], 0)
        made = op("Conv2DBackpropInput", scope, input_sizes=sizes, filter=kernel, out_backprop=image, strides=steps, padding=padding,
                  data_format="NCHW" if first else "NHWC", dilations=gaps)
        return array_ops.squeeze(made, [at])


def conv_transpose(input, filters, output_shape, strides, padding="SAME", data_format=None, dilations=None, name=None):
    """Returns the gradient of a convolution with respect to its input, used as a layer, for rows, images or volumes.

    Args:
      input: a tensor of three, four or five dimensions.
      filters: a filter of the shape [spatial sizes, new channels, channels].
      output_shape: the shape of the result; its length says how many dimensions there are.
      strides: one number, one for each spatial dimension, or one for each dimension.
      padding: 'SAME' or 'VALID'.
      data_format: a layout such as 'NHWC' or 'NCHW'.
      dilations: likewise to `strides`.
      name: a name for the operation.
    """
    if hasattr(output_shape, "op"):
        length = output_shape.shape[0].value if output_shape.shape.ndims == 1 else None
    else:
        length = len(output_shape)
    if length not in (3, 4, 5):
        raise ValueError("`output_shape` must be of length 3, 4 or 5. Received: output_shape=%s of length %s."
                         % (output_shape, "?" if length is None else length))
    n = length - 2
    data_format = data_format or _FORMATS[n][0]
    if n == 1:
        return _transpose1d(input, filters, output_shape, strides, padding, data_format, dilations, name, "conv_transpose")
    if n == 3:
        return _transpose3d(input, filters, output_shape, strides, padding, data_format, dilations, name, "conv_transpose")
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as scope:
        first = _first(data_format)
        return op("Conv2DBackpropInput", scope, input_sizes=output_shape, filter=filters, out_backprop=input,
                  strides=pooling._sizes(strides, 2, first, "strides"), data_format=data_format,
                  dilations=pooling._sizes(1 if dilations is None else dilations, 2, first, "dilations"), **padded(padding))


def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """Returns the gradient of `atrous_conv2d` with respect to its input, used as a layer.

    Args:
      value: images, a tensor of four dimensions with the channels last.
      filters: a filter of the shape [height, width, new channels, channels].
      output_shape: the shape of the result.
      rate: the distance of the elements of a window.
      padding: 'SAME' or 'VALID'.
      name: a name for the operation.
    """
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]):
        value, filters = convert_to_tensor(value, name="value"), convert_to_tensor(filters, name="filters")
        if rate < 1:
            raise ValueError("`rate` cannot be less than one. Received: rate=%s" % rate)
        if rate == 1:
            return op("Conv2DBackpropInput", "conv2d_transpose", input_sizes=output_shape, filter=filters, out_backprop=value,
                      strides=[1, 1, 1, 1], padding=padding)
        return _atrous_transpose(value, filters, convert_to_tensor(output_shape, dtypes.int32, name="output_shape"), int(rate), padding)


def _atrous_transpose(value, filters, output_shape, rate, padding):
    """Divides the images into rate * rate grids, which an ordinary transposed convolution enlarges."""
    if padding not in ("SAME", "VALID"):
        raise ValueError("`padding` must be either 'VALID' or 'SAME'. Received: padding=%s" % padding)
    window = array_ops.shape(filters)[:2]
    reach = (window - 1) * rate if padding == "SAME" else array_ops.zeros_like(window)
    before = reach // 2
    wanted = output_shape[1:3]
    over = (rate - (wanted + reach) % rate) % rate
    grid = (wanted + reach + over) // rate
    have = array_ops.shape(value)[1:3]
    # The value starts at the first element of the grid; missing elements at the end are zero.
    span = grid * rate - (window - 1) * rate
    into = array_ops.stack([array_ops.zeros_like(have), span - have], axis=1)
    cut = array_ops.stack([before, reach - before + over], axis=1)
    block = [rate, rate]
    moved = array_ops.space_to_batch_nd(value, block, into)
    sizes = array_ops.stack([array_ops.shape(moved)[0], grid[0], grid[1], output_shape[3]])
    made = op("Conv2DBackpropInput", None, input_sizes=sizes, filter=filters, out_backprop=moved, strides=[1, 1, 1, 1], padding="VALID")
    made = array_ops.batch_to_space_nd(made, block, cut)
    known = constant_value(output_shape)
    if known is not None:
        made.set_shape([int(d) for d in known])
    return made


# ---- the gradients of convolutions as functions ----

def conv2d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, use_cudnn_on_gpu=True, data_format="NHWC",
                           dilations=(1, 1, 1, 1), name=None):
    """Returns the gradient of a convolution with respect to its filter.

    Args:
      input: images, a tensor of four dimensions.
      filter_sizes: the shape of the filter.
      out_backprop: the gradient towards the result of the convolution.
      strides: four numbers.
      padding: 'SAME', 'VALID', or a list of pairs.
      use_cudnn_on_gpu: an attribute of the node; nothing reads it.
      data_format: 'NHWC' or 'NCHW'.
      dilations: four numbers.
      name: a name for the operation.
    """
    return op("Conv2DBackpropFilter", name, input=input, filter_sizes=filter_sizes, out_backprop=out_backprop, strides=list(strides),
              use_cudnn_on_gpu=use_cudnn_on_gpu, data_format=data_format, dilations=list(dilations), **padded(padding))


def conv2d_backprop_input(input_sizes, filter=None, out_backprop=None, strides=None, padding=None, use_cudnn_on_gpu=True,
                          data_format="NHWC", dilations=(1, 1, 1, 1), name=None, filters=None):
    """Returns the gradient of a convolution with respect to its input.

    Args:
      input_sizes: the shape of the images.
      filter: the filter, a tensor of four dimensions.
      out_backprop: the gradient towards the result of the convolution.
      strides: four numbers.
      padding: 'SAME', 'VALID', or a list of pairs.
      use_cudnn_on_gpu: an attribute of the node; nothing reads it.
      data_format: 'NHWC' or 'NCHW'.
      dilations: four numbers.
      name: a name for the operation.
      filters: another name of `filter`.
    """
    return op("Conv2DBackpropInput", name, input_sizes=input_sizes, filter=either("filters", filters, "filter", filter),
              out_backprop=out_backprop, strides=list(strides), use_cudnn_on_gpu=use_cudnn_on_gpu, data_format=data_format,
              dilations=list(dilations), **padded(padding))


def depthwise_conv2d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, data_format="NHWC", dilations=(1, 1, 1, 1),
                                     name=None):
    """Returns the gradient of a depthwise convolution with respect to its filter.

    Args:
      input: images, a tensor of four dimensions.
      filter_sizes: the shape of the filter.
      out_backprop: the gradient towards the result of the convolution.
      strides: four numbers.
      padding: 'SAME', 'VALID', or a list of pairs.
      data_format: 'NHWC' or 'NCHW'.
      dilations: four numbers.
      name: a name for the operation.
    """
    return op("DepthwiseConv2dNativeBackpropFilter", name, input=input, filter_sizes=filter_sizes, out_backprop=out_backprop,
              strides=list(strides), data_format=data_format, dilations=list(dilations), **padded(padding))


def depthwise_conv2d_backprop_input(input_sizes, filter, out_backprop, strides, padding, data_format="NHWC", dilations=(1, 1, 1, 1),
                                    name=None):
    """Returns the gradient of a depthwise convolution with respect to its input.

    Args:
      input_sizes: the shape of the images.
      filter: the filter, a tensor of four dimensions.
      out_backprop: the gradient towards the result of the convolution.
      strides: four numbers.
      padding: 'SAME', 'VALID', or a list of pairs.
      data_format: 'NHWC' or 'NCHW'.
      dilations: four numbers.
      name: a name for the operation.
    """
    return op("DepthwiseConv2dNativeBackpropInput", name, input_sizes=input_sizes, filter=filter, out_backprop=out_backprop,
              strides=list(strides), data_format=data_format, dilations=list(dilations), **padded(padding))


depthwise_conv2d_native_backprop_filter = depthwise_conv2d_backprop_filter
depthwise_conv2d_native_backprop_input = depthwise_conv2d_backprop_input
