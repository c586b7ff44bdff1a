"""tf.contrib.session_bundle.constants: the names of files and collections."""
from weft._core.contrib.serving.constants import (
    ASSETS_DIRECTORY,
    ASSETS_KEY,
    GRAPH_KEY,
    INIT_OP_KEY,
    META_GRAPH_DEF_FILENAME,
    SIGNATURES_KEY,
    VARIABLES_FILENAME,
    VARIABLES_FILENAME_PATTERN,
    VARIABLES_FILENAME_PATTERN_V2,
)
from weft._core.public import publish as _publish

__all__ = [
    "ASSETS_DIRECTORY", "ASSETS_KEY", "GRAPH_KEY", "INIT_OP_KEY", "META_GRAPH_DEF_FILENAME", "SIGNATURES_KEY",
    "VARIABLES_FILENAME", "VARIABLES_FILENAME_PATTERN", "VARIABLES_FILENAME_PATTERN_V2",
]
__getattr__ = _publish(__name__)
