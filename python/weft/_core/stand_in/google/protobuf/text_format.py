"""google.protobuf.text_format"""
from weft._core.framework.text_format import *  # noqa: F403
