"""tf.distribute: the server of a task."""
from weft._core.public import publish as _publish
from weft._core.session.cluster import Server

__all__ = ["Server"]
__getattr__ = _publish(__name__)
