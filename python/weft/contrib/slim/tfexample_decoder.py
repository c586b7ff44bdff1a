"""tf.contrib.slim.tfexample_decoder: decodes tf.train.Example records into items."""
from weft._core.contrib.tfexample_decoder import (
    BackupHandler,
    BoundingBox,
    BoundingBoxSequence,
    Image,
    ItemHandler,
    ItemHandlerCallback,
    KeypointsSequence,
    LookupTensor,
    NumBoxesSequence,
    SparseTensor,
    Tensor,
    TFExampleDecoder,
    TFSequenceExampleDecoder,
)
from weft._core.public import publish as _publish

__all__ = [
    "BackupHandler", "BoundingBox", "BoundingBoxSequence", "Image", "ItemHandler", "ItemHandlerCallback",
    "KeypointsSequence", "LookupTensor", "NumBoxesSequence", "SparseTensor", "TFExampleDecoder",
    "TFSequenceExampleDecoder", "Tensor",
]
__getattr__ = _publish(__name__)
