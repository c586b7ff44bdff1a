"""tf.data.experimental: transformations for Dataset.apply."""
from weft._core.data.columns import CsvDataset, make_batched_features_dataset, make_csv_dataset, parse_example_dataset
from weft._core.data.dataset import AUTOTUNE, AutotuneOptions, OptimizationOptions, ThreadingOptions
from weft._core.data.experimental import (
    Counter,
    bucket_by_sequence_length,
    enumerate_dataset,
    get_single_element,
    group_by_window,
    ignore_errors,
    map_and_batch,
    map_and_batch as map_and_batch_with_legacy_function,
    parallel_interleave,
    prefetch_to_device,
    scan,
    shuffle_and_repeat,
    take_while,
    unbatch,
)
from weft._core.data.mixing import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    RandomDataset,
    Reducer,
    assert_cardinality,
    cardinality,
    choose_from_datasets,
    group_by_reducer,
    rejection_resample,
    sample_from_datasets,
    unique,
)
from weft._core.data.policies import SHARD_HINT, AutoShardPolicy, AutotuneAlgorithm, DistributeOptions, ExternalStatePolicy
from weft._core.data.structure import Structure
from weft._core.public import publish as _publish

__all__ = [
    "AUTOTUNE", "AutoShardPolicy", "AutotuneAlgorithm", "AutotuneOptions", "Counter", "CsvDataset",
    "DistributeOptions", "ExternalStatePolicy", "INFINITE_CARDINALITY", "OptimizationOptions", "RandomDataset",
    "Reducer", "SHARD_HINT", "Structure", "ThreadingOptions", "UNKNOWN_CARDINALITY", "assert_cardinality",
    "bucket_by_sequence_length", "cardinality", "choose_from_datasets", "enumerate_dataset", "get_single_element",
    "group_by_reducer", "group_by_window", "ignore_errors", "make_batched_features_dataset", "make_csv_dataset",
    "map_and_batch", "map_and_batch_with_legacy_function", "parallel_interleave", "parse_example_dataset",
    "prefetch_to_device", "rejection_resample", "sample_from_datasets", "scan", "shuffle_and_repeat", "take_while",
    "unbatch", "unique",
]
__getattr__ = _publish(__name__)
