"""Ops of small modules of tf.contrib: memory_stats and periodic_resample."""
import numpy as np

import weft as tf
from weft._core.framework.build import op


def BytesInUse(name=None):
    """Returns the bytes that are in use on the device that this op is placed on; 0 on a CPU, whose memory is not
    counted.

    Args:
      name: the name of the op.
    """
    return op("BytesInUse", name)


def MaxBytesInUse(name=None):
    """Returns the most bytes that were in use on the device that this op is placed on; 0 on a CPU, whose memory is not
    counted.

    Args:
      name: the name of the op.
    """
    return op("MaxBytesInUse", name)


def BytesLimit(name=None):
    """Returns how many bytes may be used on the device of this op, or -1 on a CPU, which has no limit.

    Args:
      name: the name of the op.
    """
    return op("BytesLimit", name)


def periodic_resample(values, shape, name=None):
    """Moves elements from one dimension into the others, as a subpixel convolution does.

    With factors g[i] = ceil(shape[i] / dimension i), an output element at s takes the input element at s[i] // g[i], and, in
    the dimension that is -1, at s[q] + shape[q] * (the sum of (s[j] % g[j]) * (the product of the g before j)).

    Args:
      values: the tensor; its shape must be known.
      shape: the shape of the output, a list of numbers of which one is -1.
      name: the name of the op.
    """
    with tf.name_scope(name, "PeriodicResample", [values]):
        values = tf.convert_to_tensor(values)
        wanted = [-1 if d is None else int(d) for d in (shape.as_list() if isinstance(shape, tf.TensorShape) else shape)]
        if not values.shape.is_fully_defined():
            raise ValueError("periodic_resample: the shape of values must be known, not %s" % values.shape)
        have = values.shape.as_list()
        if len(wanted) != len(have):
            raise ValueError("periodic_resample expects %d dimensions of shape, got %d" % (len(have), len(wanted)))
        if wanted.count(-1) != 1 or any(d < 1 for d in wanted if d != -1):
            raise ValueError("periodic_resample: one dimension of shape must be -1 and the others positive: %s" % (wanted,))
        at = wanted.index(-1)
        others = [i for i in range(len(have)) if i != at]
        for i in others:
            if wanted[i] < have[i]:
                raise ValueError("periodic_resample: dimension %d of shape, %d, is less than that of values, %d" % (
                    i, wanted[i], have[i]))
        wanted[at] = int(np.prod(have)) // int(np.prod([wanted[i] for i in others]))
        factors = {i: -(-wanted[i] // have[i]) for i in others}
        indices = np.indices(wanted)
        place, before = indices[at].copy(), 1
        for i in others:
            place += wanted[at] * before * (indices[i] % factors[i])
            before *= factors[i]
        if place.max() >= have[at]:
            raise ValueError("periodic_resample: dimensions of shape that are no multiples of those of values need more than dimension "
                             "%d has: %s from %s" % (at, wanted, have))
        places = [place if i == at else indices[i] // factors[i] for i in range(len(have))]
        return tf.gather_nd(values, tf.constant(np.stack(places, -1), tf.int64))
