"""tf.data.experimental: transformations for Dataset.apply."""
from weft._core.data.dataset import Dataset, _int64, _traced, _traced_dataset, constant_value, seeds
from weft._core.data.structure import Structure
from weft._core.framework import dtypes, nest, tensor_shape
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.function import trace

_KEY = Structure(dtypes.int64, [])


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    def apply(dataset):
        first, second = seeds(seed)
        return dataset._derived("ShuffleAndRepeatDataset", buffer_size=_int64(buffer_size, "buffer_size"),
                                seed=_int64(first, "seed"), seed2=_int64(second, "seed2"),
                                count=_int64(-1 if count is None else count, "count"))
    return apply


def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError("The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive.")

    def apply(dataset):
        calls = num_parallel_calls if num_parallel_batches is None else batch_size * num_parallel_batches
        f, form = _traced(map_func, dataset._form, "Dataset_map_and_batch")
        size, drop = _int64(batch_size, "batch_size"), convert_to_tensor(drop_remainder, dtypes.bool,
                                                                        name="drop_remainder")
        rows = constant_value(size) if constant_value(drop) else None
        return dataset._derived("MapAndBatchDataset", form.batched(rows),
                                other_arguments=f.captured, f=f, batch_size=size, drop_remainder=drop,
                                preserve_cardinality=True,
                                num_parallel_calls=_int64(batch_size if calls is None else calls, "num_parallel_calls"))
    return apply


def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None,
                        prefetch_input_elements=None):
    def apply(dataset):
        f, form = _traced_dataset(map_func, dataset._form, "Dataset_parallel_interleave")
        return dataset._derived(
            "ParallelInterleaveDataset", form, other_arguments=f.captured, f=f,
            cycle_length=_int64(cycle_length, "cycle_length"), block_length=_int64(block_length, "block_length"),
            sloppy=convert_to_tensor(bool(sloppy), dtypes.bool, name="sloppy"),
            buffer_output_elements=_int64(2 * block_length if buffer_output_elements is None else
                                          buffer_output_elements, "buffer_output_elements"),
            prefetch_input_elements=_int64(2 * cycle_length if prefetch_input_elements is None else
                                           prefetch_input_elements, "prefetch_input_elements"))
    return apply


def group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func.")
    if window_size is not None:
        def window_size_func(key):
            return _int64(window_size, "window_size")

    def apply(dataset):
        key, made = _traced(key_func, dataset._form, "group_by_window_key")
        if made.flat_types != [dtypes.int64]:
            raise ValueError("`key_func` must return a single tf.int64 tensor. Got %s" % (made.types,))
        size, _ = _traced(lambda k: convert_to_tensor(window_size_func(k), dtypes.int64), _KEY, "group_by_window_size")

        def body(k, group):
            out = reduce_func(k, Dataset(group, dataset._form))
            if not isinstance(out, Dataset):
                raise TypeError("`reduce_func` must return a `Dataset` object.")
            return [out._variant_tensor], out._form
        reduced, form = trace(body, [dtypes.int64, dtypes.variant], [[], []], "group_by_window_reduce")
        return dataset._derived("GroupByWindowDataset", form, key_func=key, reduce_func=reduced, window_size_func=size,
                                key_func_other_arguments=key.captured, reduce_func_other_arguments=reduced.captured,
                                window_size_func_other_arguments=size.captured)
    return apply


def _with_known_sizes(shapes, dataset, size):
    """Returns the shapes of a data set's elements as tensors, with `size` for each unknown dimension."""
    from weft._core.data import structure
    from weft._core.ops.array_ops import stack
    types = dataset.output_types

    def known(shape):
        dims = tensor_shape.as_shape(shape).as_list()
        return stack([size if d is None else convert_to_tensor(d, dtypes.int64) for d in dims]) if dims else \
            convert_to_tensor([], dtypes.int64)
    return nest.pack_sequence_as(types, [known(s) for s in structure.along(types, shapes)])


def bucket_by_sequence_length(element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
                              padding_values=None, pad_to_bucket_boundary=False, no_padding=False,
                              drop_remainder=False):
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError("Must set `len(bucket_batch_sizes)` equal to `len(bucket_boundaries) + 1`")
    from weft._core.framework.graph import control_dependencies
    from weft._core.ops.array_ops import gather
    from weft._core.ops.check_ops import assert_less
    from weft._core.ops.math_ops import cast, reduce_sum

    def bucket(*element):
        length = cast(element_length_func(*element), dtypes.int32)
        above = op("GreaterEqual", x=length, y=convert_to_tensor(list(bucket_boundaries), dtypes.int32))
        return reduce_sum(cast(above, dtypes.int64))

    def size(key):
        return gather(convert_to_tensor(list(bucket_batch_sizes), dtypes.int64), key)

    def batch(key, group):
        if no_padding:
            return group.batch(size(key), drop_remainder=drop_remainder)
        shapes = padded_shapes
        if pad_to_bucket_boundary:
            shapes = _with_known_sizes(group.output_shapes if shapes is None else shapes, group, longest(key))
        return group.padded_batch(size(key), shapes, padding_values, drop_remainder=drop_remainder)

    def longest(key):
        check = assert_less(key, convert_to_tensor(len(bucket_boundaries), dtypes.int64), message="When "
                            "pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries).")
        with control_dependencies([check]):
            return gather(convert_to_tensor(list(bucket_boundaries), dtypes.int64), key) - 1
    return group_by_window(bucket, batch, window_size_func=size)


def ignore_errors(log_warning=False):
    return lambda dataset: dataset._derived("IgnoreErrorsDataset", log_warning=bool(log_warning))


def unbatch():
    return lambda dataset: dataset.unbatch()


def scan(initial_state, scan_func):
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate):
    return lambda dataset: dataset.take_while(predicate)


def enumerate_dataset(start=0):
    return lambda dataset: dataset.enumerate(start)


def prefetch_to_device(device, buffer_size=None):
    """Prefetches elements. The step that takes an element copies it to the device."""
    return lambda dataset: dataset.prefetch(buffer_size)


def get_single_element(dataset):
    made = op("DatasetToSingleElement", dataset=dataset._variant_tensor, **dataset._form.attrs())
    return dataset._form.pack(made)


def Counter(start=0, step=1, dtype=dtypes.int64):
    numbers = Dataset.range(0, 2**63 - 1)
    from weft._core.ops.math_ops import cast
    return numbers.map(lambda i: cast(i * step + start, dtype))


def snapshot(path, compression="AUTO", reader_func=None, shard_func=None):
    """Returns a transformation for Dataset.apply that calls Dataset.snapshot.

    Args:
      path: the folder of the snapshots.
      compression: 'AUTO', 'GZIP', 'SNAPPY' or None.
      reader_func: makes one data set of a data set of data sets, one for each shard.
      shard_func: makes the number of its shard of an element.
    """
    def _apply_fn(dataset):
        return dataset.snapshot(path, compression, reader_func, shard_func)

    return _apply_fn
