"""tf.contrib.image: images turned, moved and warped."""
from weft._core.contrib.image.transforms import (
    angles_to_projective_transforms,
    bipartite_match,
    compose_transforms,
    connected_components,
    flat_transforms_to_matrices,
    matrices_to_flat_transforms,
    rotate,
    transform,
    translate,
    translations_to_projective_transforms,
)
from weft._core.contrib.image.warps import dense_image_warp, interpolate_spline, sparse_image_warp
from weft._core.public import publish as _publish

__all__ = [
    "angles_to_projective_transforms", "bipartite_match", "compose_transforms", "connected_components",
    "dense_image_warp", "flat_transforms_to_matrices", "interpolate_spline", "matrices_to_flat_transforms", "rotate",
    "sparse_image_warp", "transform", "translate", "translations_to_projective_transforms",
]
__getattr__ = _publish(__name__)
