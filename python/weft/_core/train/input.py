"""tf.train's queues of inputs: file names, batches, shuffled batches.  The queues are the library's."""
from weft import _weft
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.framework.nest import flatten, pack_like
from weft._core.ops.data_flow import queue_of
from weft._core.ops.variables import Variable


def _producer(kind, tensors, num_epochs, shuffle, seed, capacity, shared_name, name):
    graph = get_default_graph()
    outs = _weft.producer(graph._c, kind, [t._out for t in tensors], int(num_epochs or 0), bool(shuffle), seed,
                          int(capacity), shared_name, name)
    return [graph._tensor(o) for o in outs]


def string_input_producer(string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None,
                          name=None, cancel_op=None):
    if not isinstance(string_tensor, (list, tuple)) or string_tensor:
        strings = convert_to_tensor(string_tensor, dtypes.string)
    else:
        raise ValueError("string_input_producer requires a non-null input tensor")
    return queue_of(_producer("string", [strings], num_epochs, shuffle, seed, capacity, shared_name, name)[0],
                    [dtypes.string], [()])


def input_producer(input_tensor, element_shape=None, num_epochs=None, shuffle=True, seed=None, capacity=32,
                   shared_name=None, summary_name=None, name=None, cancel_op=None):
    x = convert_to_tensor(input_tensor)
    return queue_of(_producer("input", [x], num_epochs, shuffle, seed, capacity, shared_name, name)[0],
                    [x.dtype.base_dtype], [x.shape[1:]])


def range_input_producer(limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    x = convert_to_tensor(limit, dtypes.int32)
    return queue_of(_producer("range", [x], num_epochs, shuffle, seed, capacity, shared_name, name)[0], [dtypes.int32], [()])


def slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    return _producer("slice", [convert_to_tensor(t) for t in tensor_list], num_epochs, shuffle, seed, capacity,
                     shared_name, name)


def limit_epochs(tensor, num_epochs=None, name=None):
    if num_epochs is None:
        return tensor
    graph = get_default_graph()
    return graph._tensor(_weft.limit_epochs(graph._c, convert_to_tensor(tensor)._out, int(num_epochs), name))


def match_filenames_once(pattern, name=None):
    from weft._core.ops.io_ops import matching_files
    return Variable(matching_files(pattern), trainable=False, validate_shape=False, name=name or "matching_filenames",
                    collections=[GraphKeys.LOCAL_VARIABLES])


def _batch(structures, join, batch_size, threads, capacity, min_after, seed, many, pad, smaller, shared_name, name):
    graph = get_default_graph()
    flat = [convert_to_tensor(t) for s in structures for t in flatten(s)]
    out = _weft.batch(graph._c, len(structures) if join else 0, [t._out for t in flat], int(batch_size), int(threads),
                      int(capacity), int(min_after), seed, bool(many), bool(pad), bool(smaller), shared_name, name)
    outputs = graph._operation(out >> 16).outputs
    structure = structures[0]
    if not isinstance(structure, (list, tuple, dict)):
        return outputs[0]
    made = pack_like(structure, outputs)
    return made[0] if isinstance(made, (list, tuple)) and len(made) == 1 else made


def batch(tensors, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
          allow_smaller_final_batch=False, shared_name=None, name=None):
    return _batch([tensors], False, batch_size, num_threads, capacity, -1, None, enqueue_many, dynamic_pad,
                  allow_smaller_final_batch, shared_name, name)


def batch_join(tensors_list, batch_size, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
               allow_smaller_final_batch=False, shared_name=None, name=None):
    return _batch(list(tensors_list), True, batch_size, 0, capacity, -1, None, enqueue_many, dynamic_pad,
                  allow_smaller_final_batch, shared_name, name)


def shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, num_threads=1, seed=None, enqueue_many=False,
                  shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None):
    return _batch([tensors], False, batch_size, num_threads, capacity, min_after_dequeue, seed, enqueue_many, False,
                  allow_smaller_final_batch, shared_name, name)


def shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, seed=None, enqueue_many=False, shapes=None,
                       allow_smaller_final_batch=False, shared_name=None, name=None):
    return _batch(list(tensors_list), True, batch_size, 0, capacity, min_after_dequeue, seed, enqueue_many, False,
                  allow_smaller_final_batch, shared_name, name)
