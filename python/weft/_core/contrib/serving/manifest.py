"""The messages of session bundles: signatures and assets, by the names of their tensors."""
from weft._core.framework import proto_descriptor
from weft._core.framework.proto import ONEOF, message

TensorBinding = message("TensorBinding", "1 string tensor_name")
RegressionSignature = message("RegressionSignature", (1, TensorBinding, "input"), (2, TensorBinding, "output"))
ClassificationSignature = message("ClassificationSignature", (1, TensorBinding, "input"), (2, TensorBinding, "classes"),
                                  (3, TensorBinding, "scores"))
GenericSignature = message("GenericSignature", (1, TensorBinding, "map", "map"))
Signature = message("Signature", (1, RegressionSignature, "regression_signature"),
                    (2, ClassificationSignature, "classification_signature"), (3, GenericSignature, "generic_signature"))
Signatures = message("Signatures", (1, Signature, "default_signature"), (2, Signature, "named_signatures", "map"))
AssetFile = message("AssetFile", (1, TensorBinding, "tensor_binding"), "2 string filename")

ONEOF[("Signature", "type")] = ()
for _kind in (TensorBinding, RegressionSignature, ClassificationSignature, GenericSignature, Signature, Signatures, AssetFile):
    proto_descriptor.FULL_NAMES[_kind] = "tensorflow.serving.%s" % _kind.__name__
