"""tf.contrib.image: rotates, translates and transforms images, and finds connected components."""
import weft as tf
from weft._core.framework.build import op

_TYPES = (tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64)


def flat_transforms_to_matrices(transforms):
    """Returns rows of eight numbers as 3 x 3 matrices whose last element is one."""
    with tf.name_scope("flat_transforms_to_matrices"):
        flat = tf.reshape(tf.convert_to_tensor(transforms, name="transforms"), [-1, 8])
        if flat.shape.as_list()[1] != 8:
            raise ValueError("transforms must have rows of 8 numbers: %s" % flat.shape)
        ones = tf.ones(tf.stack([tf.shape(flat)[0], 1]), flat.dtype)
        return tf.reshape(tf.concat([flat, ones], axis=1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices):
    """Returns 3 x 3 matrices as rows of eight numbers."""
    with tf.name_scope("matrices_to_flat_transforms"):
        flat = tf.reshape(tf.convert_to_tensor(transform_matrices, name="transform_matrices"), [-1, 9])
        return (flat / flat[:, 8:9])[:, :8]


def compose_transforms(*transforms):
    """Returns one transform for several that are applied in sequence, beginning with the last argument."""
    if not transforms:
        raise ValueError("transforms cannot be empty")
    with tf.name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for t in transforms[1:]:
            composed = tf.matmul(composed, flat_transforms_to_matrices(t))
        return matrices_to_flat_transforms(composed)


def _vectors(values, name, rank):
    """Returns values with a given rank; a value with one axis less is a batch of one."""
    x = tf.convert_to_tensor(values, name=name, dtype=tf.float32)
    if x.shape.ndims is None:
        raise TypeError("%s rank must be statically known" % name)
    if x.shape.ndims == rank - 1:
        return x[None]
    if x.shape.ndims != rank:
        raise TypeError("%s should have rank %d or %d, but got rank %d" % (name, rank - 1, rank, x.shape.ndims))
    return x


def angles_to_projective_transforms(angles, image_height, image_width, name=None):
    """Returns the transforms that rotate images around their centers, by angles in radians and counterclockwise."""
    with tf.name_scope(name, "angles_to_projective_transforms"):
        a = _vectors(angles, "angles", 1)
        high, wide = (tf.cast(n, tf.float32) - 1 for n in (image_height, image_width))
        x = (wide - (tf.cos(a) * wide - tf.sin(a) * high)) / 2.0
        y = (high - (tf.sin(a) * wide + tf.cos(a) * high)) / 2.0
        zero = tf.zeros_like(a)
        return tf.stack([tf.cos(a), -tf.sin(a), x, tf.sin(a), tf.cos(a), y, zero, zero], axis=1)


def translations_to_projective_transforms(translations, name=None):
    """Returns the transforms that shift images by (dx, dy)."""
    with tf.name_scope(name, "translations_to_projective_transforms"):
        t = _vectors(translations, "translations", 2)
        one, zero = tf.ones_like(t[:, 0]), tf.zeros_like(t[:, 0])
        return tf.stack([one, zero, -t[:, 0], zero, one, -t[:, 1], zero, zero], axis=1)


def _four(images):
    """Returns (images as a batch with channels, a function that removes the added axes again)."""
    x = tf.convert_to_tensor(images, name="images")
    if x.dtype.base_dtype not in _TYPES:
        raise TypeError("Invalid dtype %s." % x.dtype)
    rank = x.shape.ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank == 2:
        return x[None, :, :, None], lambda y: y[0, :, :, 0]
    if rank == 3:
        return x[None, :, :, :], lambda y: y[0, :, :, :]
    if rank == 4:
        return x, lambda y: y
    raise TypeError("Images should have rank between 2 and 4.")


def transform(images, transforms, interpolation="NEAREST", output_shape=None, name=None):
    """Transforms images: output (x, y) is input ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)."""
    with tf.name_scope(name, "transform", [images]):
        x, back = _four(images)
        size = tf.shape(x)[1:3] if output_shape is None else tf.convert_to_tensor(output_shape, tf.int32, name="output_shape")
        made = op("ImageProjectiveTransformV2", None, images=x, transforms=_vectors(transforms, "transforms", 2), output_shape=size,
                  interpolation=interpolation.upper())
        if output_shape is None:
            made.set_shape(x.shape)
        return back(made)


def rotate(images, angles, interpolation="NEAREST", name=None):
    """Rotates images by angles in radians, counterclockwise."""
    with tf.name_scope(name, "rotate"):
        x, _ = _four(images)
        size = tf.cast(tf.shape(x), tf.float32)
        return transform(images, angles_to_projective_transforms(angles, size[1], size[2]), interpolation=interpolation)


def translate(images, translations, interpolation="NEAREST", name=None):
    """Shifts images by (dx, dy)."""
    with tf.name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation=interpolation)


# ---- connected components and matching ----

def _spread(labels, images):
    """Returns for each pixel the smallest label among itself and its four neighbors of the same value."""
    found = labels
    top = tf.fill(tf.shape(labels), labels.dtype.max)
    for axis in (1, 2):
        for before in (1, 0):
            pads = [[0, 0]] * 3
            pads[axis] = [before, 1 - before]
            size = tf.shape(labels)[axis]

            def moved(x, fill, pads=pads, axis=axis, before=before, size=size):
                kept = tf.slice(x, [0] * axis + [0 if before else 1] + [0] * (2 - axis), [-1] * axis + [size - 1] + [-1] * (2 - axis))
                return tf.pad(kept, pads, constant_values=fill)
            same = tf.logical_and(tf.equal(moved(images, 0), images), moved(tf.ones_like(labels), 0) > 0)
            found = tf.minimum(found, tf.where(same, moved(labels, 0), top))
    return found


def connected_components(images):
    """Numbers the connected components of equal pixels that are not zero, in the order of their first pixels."""
    with tf.name_scope("connected_components"):
        x = tf.convert_to_tensor(images, name="images")
        if x.shape.ndims not in (2, 3):
            raise TypeError("images should have rank 2 (HW) or 3 (NHW). Static shape is %s" % x.shape)
        alone = x.shape.ndims == 2
        values = tf.cast(x[None] if alone else x, tf.int64) if x.dtype.is_integer or x.dtype == tf.bool else _as_numbers(
            x[None] if alone else x)
        start = tf.reshape(tf.range(1, tf.size(values, out_type=tf.int64) + 1, dtype=tf.int64), tf.shape(values))
        start = tf.where(tf.equal(values, 0), tf.zeros_like(start), start)

        def step(labels, _):
            new = tf.where(tf.equal(values, 0), labels, _spread(labels, values))
            return new, tf.reduce_any(tf.not_equal(new, labels))
        labels, _ = tf.while_loop(lambda labels, going: going, step, (start, tf.reduce_any(tf.not_equal(start, 0))))
        made = _numbered(labels)
        return made[0] if alone else made


def _as_numbers(x):
    """Returns values of any type as integers that are equal where the values are; zero or "" becomes zero."""
    flat = tf.reshape(x, [-1])
    nothing = tf.zeros([1], x.dtype) if x.dtype != tf.string else tf.constant([""])
    _, place = tf.unique(tf.concat([nothing, flat], 0), out_idx=tf.int64)
    return tf.reshape(place[1:], tf.shape(x))


def _numbered(labels):
    """Renumbers labels as 1, 2, ... in their order; zero is kept."""
    flat = tf.reshape(labels, [-1])
    size = tf.size(flat, out_type=tf.int64)
    roots = tf.cast(tf.equal(flat, tf.range(1, size + 1, dtype=tf.int64)), tf.int64)
    ranks = tf.concat([tf.zeros([1], tf.int64), tf.cumsum(roots)], 0)
    return tf.reshape(tf.gather(ranks, flat), tf.shape(labels))


def bipartite_match(distance_mat, num_valid_rows, top_k=-1, name="bipartite_match"):
    """Returns (column of each row, row of each column), made by repeatedly matching the pair with the smallest
    distance.
    """
    with tf.name_scope(name):
        d = tf.convert_to_tensor(distance_mat, tf.float32)
        rows, columns = tf.shape(d)[0], tf.shape(d)[1]
        valid = tf.minimum(tf.cast(tf.reshape(num_valid_rows, []), tf.int32), rows)
        count = tf.minimum(valid, columns)
        count = tf.minimum(count, top_k) if top_k > 0 else count
        far = tf.fill(tf.shape(d), float("inf"))
        left = tf.where(tf.tile(tf.expand_dims(tf.range(rows) < valid, 1), tf.stack([1, columns])), d, far)

        def step(i, left, of_row, of_column):
            at = tf.argmin(tf.reshape(left, [-1]), output_type=tf.int32)
            row, column = tf.floordiv(at, columns), tf.mod(at, columns)
            at_row, at_column = tf.equal(tf.range(rows), row), tf.equal(tf.range(columns), column)
            gone = tf.logical_or(tf.expand_dims(at_row, 1), tf.expand_dims(at_column, 0))
            return (i + 1, tf.where(gone, far, left), tf.where(at_row, tf.fill(tf.shape(of_row), column), of_row),
                    tf.where(at_column, tf.fill(tf.shape(of_column), row), of_column))
        none = [tf.fill(tf.stack([n]), -1) for n in (rows, columns)]
        loop = tf.while_loop(lambda i, *_: i < count, step, (tf.constant(0), left, *none), shape_invariants=(
            tf.TensorShape([]), left.shape, tf.TensorShape([None]), tf.TensorShape([None])))
        loop[2].set_shape([d.shape.as_list()[0]])
        loop[3].set_shape([d.shape.as_list()[1]])
        return loop[2], loop[3]
