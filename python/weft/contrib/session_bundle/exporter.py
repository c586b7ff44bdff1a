"""tf.contrib.session_bundle.exporter: writes session bundles."""
from weft._core.contrib.serving.exporter import (
    Exporter,
    classification_signature,
    generic_signature,
    gfile_copy_callback,
    regression_signature,
)
from weft._core.public import publish as _publish

__all__ = ["Exporter", "classification_signature", "generic_signature", "gfile_copy_callback", "regression_signature"]
__getattr__ = _publish(__name__)
