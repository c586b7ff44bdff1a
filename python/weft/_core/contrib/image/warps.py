"""Warps images by a flow or by control points, interpolates splines between points, and samples images at positions."""
import weft as tf


def _corners(grid, low, size):
    """Returns the four pixels around each position as tensors of (batch, positions, channels).

    `low` has the upper left ones.
    """
    batch, height, width, channels = size
    flat = tf.reshape(grid, tf.stack([batch * height * width, channels]))
    first = tf.expand_dims(tf.range(batch) * height * width, 1)
    y, x = tf.cast(low[0], tf.int32), tf.cast(low[1], tf.int32)
    return [tf.gather(flat, first + (y + dy) * width + x + dx) for dy, dx in ((0, 0), (0, 1), (1, 0), (1, 1))]


def _interpolate(grid, places):
    """Returns bilinear samples of images at positions of (batch, n, (y, x)).

    Positions outside of an image use the values at its edges.
    """
    size = tf.unstack(tf.shape(grid))
    low, part = [], []
    for axis in (0, 1):
        at = places[:, :, axis]
        last = tf.cast(size[axis + 1] - 2, at.dtype)
        floor = tf.minimum(tf.maximum(tf.zeros([], at.dtype), tf.floor(at)), last)
        low.append(floor)
        part.append(tf.expand_dims(tf.cast(tf.clip_by_value(at - floor, 0.0, 1.0), grid.dtype), 2))
    upper_left, upper_right, lower_left, lower_right = _corners(grid, low, size)
    top = part[1] * (upper_right - upper_left) + upper_left
    bottom = part[1] * (lower_right - lower_left) + lower_left
    return part[0] * (bottom - top) + top


def _grid(height, width, dtype):
    """Returns a tensor (height, width, 2) with the position (y, x) of each pixel."""
    x, y = tf.meshgrid(tf.range(width), tf.range(height))
    return tf.cast(tf.stack([y, x], axis=2), dtype)


def dense_image_warp(image, flow, name="dense_image_warp"):
    """Returns an image warped by a flow of (dy, dx): output[y, x] = image[y - dy, x - dx]."""
    with tf.name_scope(name):
        image, flow = tf.convert_to_tensor(image), tf.convert_to_tensor(flow)
        batch, height, width, channels = tf.unstack(tf.shape(image))
        places = tf.expand_dims(_grid(height, width, flow.dtype), 0) - flow
        made = _interpolate(image, tf.reshape(places, tf.stack([batch, height * width, 2])))
        made = tf.reshape(made, tf.stack([batch, height, width, channels]))
        made.set_shape(image.shape)
        return made


# ---- splines ----

_TINY = 1e-10


def _squared_distances(x, y):
    """Returns the squared distances of points, as (batch, points of x, points of y)."""
    xx, yy = (tf.reduce_sum(tf.square(p), axis=2, keepdims=True) for p in (x, y))
    return xx - 2 * tf.matmul(x, y, transpose_b=True) + tf.transpose(yy, [0, 2, 1])


def _phi(r, order):
    """Returns the polyharmonic radial basis function of an order for squared distances."""
    if order == 1:
        return tf.sqrt(tf.maximum(r, _TINY))
    if order % 2 == 0:
        return 0.5 * tf.pow(tf.maximum(r, _TINY), 0.5 * order) * tf.log(tf.maximum(r, _TINY)) if order > 4 else (
            0.5 * (r if order == 2 else tf.square(r)) * tf.log(tf.maximum(r, _TINY)))
    return tf.pow(tf.maximum(r, _TINY), 0.5 * order)


def interpolate_spline(train_points, train_values, query_points, order, regularization_weight=0.0, name="interpolate_spline"):
    """Returns the values at query points of a polyharmonic spline through the values at points."""
    with tf.name_scope(name):
        points, values, asked = (tf.convert_to_tensor(x) for x in (train_points, train_values, query_points))
        batch, n, dims = tf.unstack(tf.shape(points))
        a = _phi(_squared_distances(points, points), order)
        if regularization_weight > 0:
            a += tf.expand_dims(tf.eye(n, dtype=points.dtype), 0) * regularization_weight
        b = tf.concat([points, tf.ones_like(points[:, :, :1])], 2)
        left = tf.concat([a, tf.transpose(b, [0, 2, 1])], axis=1)
        right = tf.concat([b, tf.zeros(tf.stack([batch, dims + 1, dims + 1]), points.dtype)], axis=1)
        wanted = tf.concat([values, tf.zeros(tf.stack([batch, dims + 1, tf.shape(values)[2]]), points.dtype)], axis=1)
        found = tf.matrix_solve(tf.concat([left, right], axis=2), wanted)
        near = tf.matmul(_phi(_squared_distances(asked, points), order), found[:, :n])
        return near + tf.matmul(tf.concat([asked, tf.ones_like(asked[:, :, :1])], 2), found[:, n:])


def _boundary(height, width, per_edge):
    """Returns positions (y, x) on the edges of an image, including the corners."""
    import numpy as np
    ys, xs = np.meshgrid(np.linspace(0, height - 1, per_edge + 2), np.linspace(0, width - 1, per_edge + 2), indexing="ij")
    on_edge = (xs == 0) | (xs == width - 1) | (ys == 0) | (ys == height - 1)
    return np.stack([ys[on_edge], xs[on_edge]], axis=-1)


def sparse_image_warp(image, source_control_point_locations, dest_control_point_locations, interpolation_order=2,
                      regularization_weight=0.0, num_boundary_points=0, name="sparse_image_warp"):
    """Returns (image, flow): control points move from the source to the destination, and a spline moves what is between
    them.
    """
    image = tf.convert_to_tensor(image)
    source, target = tf.convert_to_tensor(source_control_point_locations), tf.convert_to_tensor(dest_control_point_locations)
    with tf.name_scope(name):
        batch, height, width, _ = image.shape.as_list()
        if None in (batch, height, width):
            raise ValueError("the batch, height and width of the image must be known: %s" % image.shape)
        moves = target - source
        if num_boundary_points > 0:
            edge = tf.constant(_boundary(height, width, num_boundary_points - 1), target.dtype)
            edge = tf.tile(tf.expand_dims(edge, 0), [batch, 1, 1])
            target, moves = tf.concat([target, edge], 1), tf.concat([moves, tf.zeros_like(edge)], 1)
        places = tf.reshape(_grid(height, width, target.dtype), [1, height * width, 2])
        flow = interpolate_spline(target, moves, tf.tile(places, [batch, 1, 1]), interpolation_order, regularization_weight)
        flow = tf.reshape(flow, [batch, height, width, 2])
        return dense_image_warp(image, flow), flow


def resampler(data, warp, name="resampler"):
    """Returns the values of images at positions (x, y) of `warp`, (batch, ..., 2).

    Outside of the images the value is zero.
    """
    with tf.name_scope(name, "resampler", [data, warp]):
        data, warp = tf.convert_to_tensor(data, name="data"), tf.convert_to_tensor(warp, name="warp")
        padded = tf.pad(data, [[0, 0], [1, 2], [1, 2], [0, 0]])
        batch, height, width, channels = tf.unstack(tf.shape(data))
        flat = tf.reshape(warp, tf.stack([batch, -1, 2]))
        limits = tf.cast(tf.stack([width, height]), flat.dtype)
        inside = tf.reduce_all(tf.logical_and(flat > -1, flat < limits), 2, keepdims=True)
        held = tf.minimum(tf.maximum(flat, tf.constant(-1.0, flat.dtype)), limits) + 1  # positions in the padded images
        low = tf.floor(held)
        part = [tf.expand_dims((held - low)[:, :, i], 2) for i in (0, 1)]
        size = (batch, height + 3, width + 3, channels)
        ul, ur, ll, lr = _corners(padded, (low[:, :, 1], low[:, :, 0]), size)
        made = (1 - part[1]) * ((1 - part[0]) * ul + part[0] * ur) + part[1] * ((1 - part[0]) * ll + part[0] * lr)
        made = made * tf.cast(inside, made.dtype)
        made = tf.reshape(made, tf.concat([tf.shape(warp)[:-1], tf.stack([channels])], 0))
        if warp.shape.ndims is not None and data.shape.ndims is not None:
            made.set_shape(warp.shape.as_list()[:-1] + [data.shape.as_list()[-1]])
        return made
