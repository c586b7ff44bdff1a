"""tf.contrib.session_bundle.gc: which exports stay."""
from weft._core.contrib.serving.gc import (
    Path,
    get_paths,
    largest_export_versions,
    mod_export_version,
    negation,
    one_of_every_n_export_versions,
    union,
)
from weft._core.public import publish as _publish

__all__ = [
    "Path", "get_paths", "largest_export_versions", "mod_export_version", "negation", "one_of_every_n_export_versions", "union",
]
__getattr__ = _publish(__name__)
