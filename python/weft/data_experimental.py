"""tf.data.experimental: transformations for Dataset.apply."""
from . import dtypes
from .build import convert_to_tensor, op
from .data import (AUTOTUNE, Dataset, Options, _int64, _rows_of, _traced, _traced_dataset, constant_value,  # noqa: F401
                   get_seed)


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    def apply(dataset):
        first, second = get_seed(seed)
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
        return dataset._derived("MapAndBatchDataset", form.with_shapes([_rows_of(rows, s) for s in form.flat_shapes]),
                                other_arguments=f.captured, f=f, batch_size=size, drop_remainder=drop,
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


def unbatch():
    return lambda dataset: dataset.unbatch()


def scan(initial_state, scan_func):
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate):
    return lambda dataset: dataset.take_while(predicate)


def enumerate_dataset(start=0):
    return lambda dataset: dataset.enumerate(start)


def prefetch_to_device(device, buffer_size=None):
    """The step that takes an element brings it to the device; here it is only brought ahead of time."""
    return lambda dataset: dataset.prefetch(buffer_size)


def get_single_element(dataset):
    made = op("DatasetToSingleElement", dataset=dataset._variant_tensor, **dataset._form.attrs())
    return dataset._form.pack(made)


def Counter(start=0, step=1, dtype=dtypes.int64):  # noqa: N802
    numbers = Dataset.range(0, 2**63 - 1)
    from .math_ops import cast
    return numbers.map(lambda i: cast(i * step + start, dtype))


def __getattr__(name):
    raise AttributeError("tf.data.experimental.%s is not in Weft" % name)
