"""tf.train's producers: queues of file names, of numbers and of rows of tensors."""
from weft._core.files import summary
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import GraphKeys, control_dependencies, name_scope
from weft._core.ops.array_ops import gather, identity, shape, size
from weft._core.ops.control_flow import Assert
from weft._core.ops.data_flow import FIFOQueue
from weft._core.ops.io_ops import matching_files
from weft._core.ops.math_ops import cast, range as number_range
from weft._core.ops.random_ops import random_shuffle
from weft._core.ops.variables import Variable
from weft._core.train.coordinator import QueueRunner, add_queue_runner


def input_producer(input_tensor, element_shape=None, num_epochs=None, shuffle=True, seed=None, capacity=32,
                   shared_name=None, summary_name=None, name=None, cancel_op=None):
    """Returns a queue that a queue runner fills with the rows of a tensor, num_epochs times or without end."""
    with name_scope(name, "input_producer", [input_tensor]):
        x = convert_to_tensor(input_tensor, name="input_tensor")
        element = x.shape.with_rank_at_least(1)[1:]
        if element_shape is not None:
            element = element.merge_with(element_shape)
        if not element.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be specified")
        if shuffle:
            x = random_shuffle(x, seed=seed)
        x = limit_epochs(x, num_epochs)
        queue = FIFOQueue(capacity=capacity, dtypes=[x.dtype.base_dtype], shapes=[element], shared_name=shared_name, name=name)
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([x])], cancel_op=cancel_op))
        if summary_name is not None:
            summary.scalar(summary_name, cast(queue.size(), dtypes.float32) * (1. / capacity))
        return queue


def string_input_producer(string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None,
                          name=None, cancel_op=None):
    """Returns a queue of strings, such as the names of files."""
    why = "string_input_producer requires a non-null input tensor"
    if not hasattr(string_tensor, "_as_graph_element") and len(string_tensor) == 0:
        raise ValueError(why)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, dtypes.string)
        with control_dependencies([Assert(size(strings) > 0, [why])]):
            strings = identity(strings)
        return input_producer(strings, [], num_epochs, shuffle, seed, capacity, shared_name,
                              "fraction_of_%d_full" % capacity, scope, cancel_op)


def range_input_producer(limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    """Returns a queue of the numbers below a limit."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(number_range(limit), [], num_epochs, shuffle, seed, capacity, shared_name,
                              "fraction_of_%d_full" % capacity, scope)


def slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    """Returns one row of each tensor at a time, as dequeued from a queue of row numbers."""
    if not tensor_list:
        raise ValueError("Expected at least one tensor in slice_input_producer().")
    with name_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor(t) for t in tensor_list]
        queue = range_input_producer(shape(tensors[0])[0], num_epochs, shuffle, seed, capacity, shared_name)
        index = queue.dequeue()
        return [gather(t, index) for t in tensors]


def limit_epochs(tensor, num_epochs=None, name=None):
    """Returns an op that passes on the tensor num_epochs times, and then raises OutOfRangeError."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError("num_epochs must be > 0 not %d." % num_epochs)
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = Variable(convert_to_tensor(0, dtypes.int64), name="epochs", trainable=False,
                          collections=[GraphKeys.LOCAL_VARIABLES])
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return identity(tensor, name=scope)


def match_filenames_once(pattern, name=None):
    """Returns a local variable that is initialized with the names of the files that match the pattern."""
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(name=scope, initial_value=matching_files(pattern), trainable=False, validate_shape=False,
                        collections=[GraphKeys.LOCAL_VARIABLES])
