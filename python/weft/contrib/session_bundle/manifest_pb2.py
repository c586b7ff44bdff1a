"""tf.contrib.session_bundle.manifest_pb2: the messages of signatures and assets."""
from weft._core.contrib.serving.manifest import (
    AssetFile,
    ClassificationSignature,
    GenericSignature,
    RegressionSignature,
    Signature,
    Signatures,
    TensorBinding,
)
from weft._core.public import publish as _publish

__all__ = [
    "AssetFile", "ClassificationSignature", "GenericSignature", "RegressionSignature", "Signature", "Signatures", "TensorBinding",
]
__getattr__ = _publish(__name__)
