"""tf.contrib.tensorrt: graphs for inference, which stay as they are."""
from weft._core.contrib.tensorrt import create_inference_graph
from weft._core.public import publish as _publish

__all__ = ["create_inference_graph"]
__getattr__ = _publish(__name__)
