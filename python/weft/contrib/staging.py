"""tf.contrib.staging: areas where tensors wait between two parts of a graph."""
from weft._core.ops.staging import MapStagingArea, StagingArea
from weft._core.public import publish as _publish

__all__ = ["MapStagingArea", "StagingArea"]
__getattr__ = _publish(__name__)
