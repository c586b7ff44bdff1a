"""tf.data: data sets and iterators."""
from weft._core.data.components import DatasetSpec
from weft._core.data.dataset import (
    AUTOTUNE,
    Dataset,
    FixedLengthRecordDataset,
    Iterator,
    TextLineDataset,
    TFRecordDataset,
    get_output_classes,
    get_output_shapes,
    get_output_types,
    make_initializable_iterator,
    make_one_shot_iterator,
)
from weft._core.data.mixing import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from weft._core.data.options import Options, ThreadingOptions
from weft._core.public import publish as _publish
from weft.data import experimental

__all__ = [
    "AUTOTUNE", "Dataset", "DatasetSpec", "FixedLengthRecordDataset", "INFINITE_CARDINALITY", "Iterator", "Options",
    "TFRecordDataset", "TextLineDataset", "ThreadingOptions", "UNKNOWN_CARDINALITY", "experimental",
    "get_output_classes", "get_output_shapes", "get_output_types", "make_initializable_iterator",
    "make_one_shot_iterator",
]
__getattr__ = _publish(__name__)
