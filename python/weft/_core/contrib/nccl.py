"""tf.contrib.nccl: sums, products, minima and maxima of tensors on several devices."""
import weft as tf


def _everywhere(tensors, combine):
    tensors = [tf.convert_to_tensor(t) for t in tensors]
    if not tensors:
        raise ValueError("Must pass >0 tensors to all reduce operations")
    made = []
    for t in tensors:
        with tf.device(t.device):
            made.append(combine(tensors))
    return made


def _chain(op):
    def combine(tensors):
        found = tensors[0]
        for t in tensors[1:]:
            found = op(found, t)
        return found
    return combine


def all_sum(tensors):
    """Returns the sum of tensors, on the device of each."""
    return _everywhere(tensors, tf.add_n)


def all_prod(tensors):
    """Returns the product of tensors, on the device of each."""
    return _everywhere(tensors, _chain(tf.multiply))


def all_min(tensors):
    """Returns the minimum of tensors, on the device of each."""
    return _everywhere(tensors, _chain(tf.minimum))


def all_max(tensors):
    """Returns the maximum of tensors, on the device of each."""
    return _everywhere(tensors, _chain(tf.maximum))


def reduce_sum(tensors):
    """Returns the sum of tensors on the current device."""
    return tf.add_n([tf.convert_to_tensor(t) for t in tensors])


def broadcast(tensor):
    """Returns the tensor itself; other devices copy it when they need it."""
    return tf.identity(tensor)
