"""tf.contrib.slim.queues: queue runners for as long as a `with` lasts."""
from weft._core.contrib.queues import QueueRunners
from weft._core.public import publish as _publish

__all__ = ["QueueRunners"]
__getattr__ = _publish(__name__)
