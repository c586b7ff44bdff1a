"""tf.contrib.boosted_trees.proto: the configuration of a learner."""
from weft._core.public import publish as _publish
from weft.contrib.boosted_trees.proto import learner_pb2

__all__ = ["learner_pb2"]
__getattr__ = _publish(__name__)
