"""tf.contrib.session_bundle.bundle_shim: loads session bundles and SavedModels."""
from weft._core.contrib.serving.session_bundle import load_session_bundle_or_saved_model_bundle_from_path
from weft._core.public import publish as _publish

__all__ = ["load_session_bundle_or_saved_model_bundle_from_path"]
__getattr__ = _publish(__name__)
