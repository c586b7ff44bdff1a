"""tf.contrib.data: where tf.data was before 1.4, and its transformations afterwards."""
from weft._core.contrib.data import (
    assert_element_shape,
    batch_and_drop_remainder,
    padded_batch_and_drop_remainder,
    sliding_window_batch,
    sloppy_interleave,
)
from weft._core.data.columns import CsvDataset, make_batched_features_dataset, make_csv_dataset
from weft._core.data.dataset import AUTOTUNE, Dataset, FixedLengthRecordDataset, Iterator, TextLineDataset, TFRecordDataset
from weft._core.data.experimental import (
    Counter,
    bucket_by_sequence_length,
    enumerate_dataset,
    get_single_element,
    group_by_window,
    ignore_errors,
    map_and_batch,
    parallel_interleave,
    prefetch_to_device,
    scan,
    shuffle_and_repeat,
    unbatch,
)
from weft._core.data.mixing import choose_from_datasets, rejection_resample, sample_from_datasets
from weft._core.data.options import Options
from weft._core.public import publish as _publish

__all__ = [
    "AUTOTUNE", "Counter", "CsvDataset", "Dataset", "FixedLengthRecordDataset", "Iterator", "Options",
    "TFRecordDataset", "TextLineDataset", "assert_element_shape", "batch_and_drop_remainder",
    "bucket_by_sequence_length", "choose_from_datasets", "enumerate_dataset", "get_single_element", "group_by_window",
    "ignore_errors", "make_batched_features_dataset", "make_csv_dataset", "map_and_batch",
    "padded_batch_and_drop_remainder", "parallel_interleave", "prefetch_to_device", "rejection_resample",
    "sample_from_datasets", "scan", "shuffle_and_repeat", "sliding_window_batch", "sloppy_interleave", "unbatch",
]
__getattr__ = _publish(__name__)
