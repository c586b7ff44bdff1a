"""tf.contrib.session_bundle.session_bundle: loads session bundles."""
from weft._core.contrib.serving.session_bundle import load_session_bundle_from_path, maybe_session_bundle_dir
from weft._core.public import publish as _publish

__all__ = ["load_session_bundle_from_path", "maybe_session_bundle_dir"]
__getattr__ = _publish(__name__)
