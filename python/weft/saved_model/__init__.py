"""tf.saved_model: folders that a model is served from."""
from weft._core.files.saved_model import (
    CLASSIFY_INPUTS,
    CLASSIFY_METHOD_NAME,
    CLASSIFY_OUTPUT_CLASSES,
    CLASSIFY_OUTPUT_SCORES,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    GPU,
    PREDICT_INPUTS,
    PREDICT_METHOD_NAME,
    PREDICT_OUTPUTS,
    REGRESS_INPUTS,
    REGRESS_METHOD_NAME,
    REGRESS_OUTPUTS,
    SERVING,
    TPU,
    TRAINING,
    SavedModelBuilder as Builder,
    build_signature_def,
    build_tensor_info,
    classification_signature_def,
    contains_saved_model,
    get_tensor_from_tensor_info,
    is_valid_signature,
    load,
    main_op_with_restore,
    maybe_saved_model_directory,
    predict_signature_def,
    regression_signature_def,
    simple_save,
)
from weft._core.public import publish as _publish
from weft.saved_model import builder, constants, loader, main_op, signature_constants, signature_def_utils, tag_constants, utils

__all__ = [
    "Builder", "CLASSIFY_INPUTS", "CLASSIFY_METHOD_NAME", "CLASSIFY_OUTPUT_CLASSES", "CLASSIFY_OUTPUT_SCORES",
    "DEFAULT_SERVING_SIGNATURE_DEF_KEY", "GPU", "PREDICT_INPUTS", "PREDICT_METHOD_NAME", "PREDICT_OUTPUTS",
    "REGRESS_INPUTS", "REGRESS_METHOD_NAME", "REGRESS_OUTPUTS", "SERVING", "TPU", "TRAINING", "build_signature_def",
    "build_tensor_info", "builder", "classification_signature_def", "constants", "contains_saved_model",
    "get_tensor_from_tensor_info", "is_valid_signature", "load", "loader", "main_op", "main_op_with_restore",
    "maybe_saved_model_directory", "predict_signature_def", "regression_signature_def", "signature_constants",
    "signature_def_utils", "simple_save", "tag_constants", "utils",
]
__getattr__ = _publish(__name__)
