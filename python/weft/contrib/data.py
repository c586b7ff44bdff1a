"""tf.contrib.data: where tf.data was before 1.4, and its transformations afterwards."""
from .. import data as _data
from ..data import (AUTOTUNE, Dataset, FixedLengthRecordDataset, Iterator, Options, TextLineDataset,  # noqa: F401
                    TFRecordDataset)
from ..data_experimental import (Counter, bucket_by_sequence_length, enumerate_dataset, get_single_element,  # noqa: F401
                                 group_by_window, ignore_errors, map_and_batch, parallel_interleave, prefetch_to_device, scan, shuffle_and_repeat, unbatch)


def batch_and_drop_remainder(batch_size):
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size, padded_shapes, padding_values=None):
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def sloppy_interleave(map_func, cycle_length, block_length=1):
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def __getattr__(name):
    return getattr(_data, name)
