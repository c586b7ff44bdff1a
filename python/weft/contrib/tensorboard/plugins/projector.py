"""tf.contrib.tensorboard.plugins.projector: which embeddings TensorBoard shows."""
from weft._core.contrib.projector import EmbeddingInfo, ProjectorConfig, SpriteMetadata, visualize_embeddings
from weft._core.public import publish as _publish

__all__ = ["EmbeddingInfo", "ProjectorConfig", "SpriteMetadata", "visualize_embeddings"]
__getattr__ = _publish(__name__)
