"""tf.contrib.losses.metric_learning: losses that draw embeddings of one class together."""
from weft._core.contrib.metric_learning import contrastive_loss, lifted_struct_loss, npairs_loss, triplet_semihard_loss
from weft._core.public import publish as _publish

__all__ = ["contrastive_loss", "lifted_struct_loss", "npairs_loss", "triplet_semihard_loss"]
__getattr__ = _publish(__name__)
