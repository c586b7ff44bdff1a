"""tf.data.experimental: transformations for Dataset.apply."""
from weft._core.data.columns import CsvDataset, make_batched_features_dataset, make_csv_dataset, parse_example_dataset
from weft._core.data.components import DatasetSpec as DatasetStructure
from weft._core.data.composites import (
    RaggedTensorStructure,
    SparseTensorStructure,
    TensorArrayStructure,
    TensorStructure,
    dense_to_ragged_batch,
    dense_to_sparse_batch,
    from_variant,
    get_structure,
    to_variant,
)
from weft._core.data.dataset import AUTOTUNE
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
    snapshot,
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
from weft._core.data.optional import Optional, get_next_as_optional
from weft._core.data.options import AutotuneOptions, OptimizationOptions, ThreadingOptions
from weft._core.data.policies import SHARD_HINT, AutoShardPolicy, AutotuneAlgorithm, DistributeOptions, ExternalStatePolicy
from weft._core.data.saving import CheckpointInputPipelineHook, TFRecordWriter, make_saveable_from_iterator
from weft._core.data.sources import SqlDataset, copy_to_device, from_list, pad_to_cardinality
from weft._core.data.tables import DatasetInitializer, index_table_from_dataset, table_from_dataset
from weft._core.framework.type_spec import OptionalSpec as OptionalStructure, TypeSpec as Structure
from weft._core.public import publish as _publish

__all__ = [
    "AUTOTUNE", "AutoShardPolicy", "AutotuneAlgorithm", "AutotuneOptions", "CheckpointInputPipelineHook", "Counter",
    "CsvDataset", "DatasetInitializer", "DatasetStructure", "DistributeOptions", "ExternalStatePolicy",
    "INFINITE_CARDINALITY", "OptimizationOptions", "Optional", "OptionalStructure", "RaggedTensorStructure",
    "RandomDataset", "Reducer", "SHARD_HINT", "SparseTensorStructure", "SqlDataset", "Structure", "TFRecordWriter",
    "TensorArrayStructure", "TensorStructure", "ThreadingOptions", "UNKNOWN_CARDINALITY", "assert_cardinality",
    "bucket_by_sequence_length", "cardinality", "choose_from_datasets", "copy_to_device", "dense_to_ragged_batch",
    "dense_to_sparse_batch", "enumerate_dataset", "from_list", "from_variant", "get_next_as_optional",
    "get_single_element", "get_structure", "group_by_reducer", "group_by_window", "ignore_errors",
    "index_table_from_dataset", "make_batched_features_dataset", "make_csv_dataset", "make_saveable_from_iterator",
    "map_and_batch", "map_and_batch_with_legacy_function", "pad_to_cardinality", "parallel_interleave",
    "parse_example_dataset", "prefetch_to_device", "rejection_resample", "sample_from_datasets", "scan",
    "shuffle_and_repeat", "snapshot", "table_from_dataset", "take_while", "to_variant", "unbatch", "unique",
]
__getattr__ = _publish(__name__)
