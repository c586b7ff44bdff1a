"""google.protobuf.text_format: text of TensorFlow's messages."""
from weft._core.framework.text_format import *  # noqa: F403
