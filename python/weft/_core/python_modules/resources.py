"""tensorflow.python.ops.resources: objects other than variables that a program must create before it uses them."""
import collections

import weft as tf

_Resource = collections.namedtuple("_Resource", ["handle", "create", "is_initialized"])


def register_resource(handle, create_op, is_initialized_op, is_shared=True):
    """Puts a resource into the collection of shared resources, or into that of local ones.

    Args:
      handle: the tensor or variable that stands for the resource.
      create_op: the op that creates it.
      is_initialized_op: a bool tensor that tells whether it is there.
      is_shared: True for a resource that all workers share.
    """
    key = tf.GraphKeys.RESOURCES if is_shared else tf.GraphKeys.LOCAL_RESOURCES
    tf.add_to_collection(key, _Resource(handle, create_op, is_initialized_op))


def shared_resources():
    """Returns the resources that all workers share."""
    return tf.get_collection(tf.GraphKeys.RESOURCES)


def local_resources():
    """Returns the resources of one process."""
    return tf.get_collection(tf.GraphKeys.LOCAL_RESOURCES)


def initialize_resources(resource_list, name="init"):
    """Returns an op that creates the resources of a list.

    Args:
      resource_list: what shared_resources or local_resources gives.
      name: the name of the op.
    """
    return tf.group(*[r.create for r in resource_list], name=name)


def report_uninitialized_resources(resource_list=None, name="report_uninitialized_resources"):
    """Returns the names of the handles of the resources that are not there, a vector of strings.

    Args:
      resource_list: the resources; all of them if None.
      name: the name of the op.
    """
    if resource_list is None:
        resource_list = shared_resources() + local_resources()
    with tf.name_scope(name):
        if not resource_list:
            return tf.constant([], tf.string)
        missing = tf.logical_not(tf.stack([tf.reshape(r.is_initialized, []) for r in resource_list]))
        return tf.boolean_mask(tf.constant([r.handle.name for r in resource_list]), missing)
