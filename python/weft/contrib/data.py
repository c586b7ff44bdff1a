"""tf.contrib.data: where tf.data was before 1.4, and its transformations afterwards."""
from weft._core.contrib.data import (
    assert_element_shape,
    batch_and_drop_remainder,
    padded_batch_and_drop_remainder,
    sliding_window_batch,
    sloppy_interleave,
)
from weft._core.data.columns import CsvDataset, make_batched_features_dataset, make_csv_dataset, parse_example_dataset
from weft._core.data.composites import dense_to_sparse_batch
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
from weft._core.data.mixing import (
    RandomDataset,
    Reducer,
    choose_from_datasets,
    group_by_reducer,
    rejection_resample,
    sample_from_datasets,
    unique,
)
from weft._core.data.optional import Optional, get_next_as_optional
from weft._core.data.options import Options
from weft._core.data.saving import CheckpointInputPipelineHook, TFRecordWriter, make_saveable_from_iterator
from weft._core.data.sources import SqlDataset, copy_to_device
from weft._core.public import publish as _publish

__all__ = [
    "AUTOTUNE", "CheckpointInputPipelineHook", "Counter", "CsvDataset", "Dataset", "FixedLengthRecordDataset",
    "Iterator", "Optional", "Options", "RandomDataset", "Reducer", "SqlDataset", "TFRecordDataset", "TFRecordWriter",
    "TextLineDataset", "assert_element_shape", "batch_and_drop_remainder", "bucket_by_sequence_length",
    "choose_from_datasets", "copy_to_device", "dense_to_sparse_batch", "enumerate_dataset", "get_next_as_optional",
    "get_single_element", "group_by_reducer", "group_by_window", "ignore_errors", "make_batched_features_dataset",
    "make_csv_dataset", "make_saveable_from_iterator", "map_and_batch", "padded_batch_and_drop_remainder",
    "parallel_interleave", "parse_example_dataset", "prefetch_to_device", "rejection_resample",
    "sample_from_datasets", "scan", "shuffle_and_repeat", "sliding_window_batch", "sloppy_interleave", "unbatch",
    "unique",
]
__getattr__ = _publish(__name__)
