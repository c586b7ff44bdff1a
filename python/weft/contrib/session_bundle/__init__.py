"""tf.contrib.session_bundle: models as TensorFlow Serving read them before SavedModel."""
from weft._core.public import publish as _publish
from weft.contrib.session_bundle import bundle_shim, constants, exporter, gc, manifest_pb2, session_bundle

__all__ = ["bundle_shim", "constants", "exporter", "gc", "manifest_pb2", "session_bundle"]
__getattr__ = _publish(__name__)
