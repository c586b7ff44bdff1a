"""tf.contrib.slim.data: the modules of data sets, readers and decoders."""
from weft._core.public import publish as _publish
from weft.contrib.slim import (
    data_decoder,
    data_provider,
    dataset,
    dataset_data_provider,
    parallel_reader,
    prefetch_queue,
    tfexample_decoder,
)

__all__ = [
    "data_decoder", "data_provider", "dataset", "dataset_data_provider", "parallel_reader", "prefetch_queue",
    "tfexample_decoder",
]
__getattr__ = _publish(__name__)
