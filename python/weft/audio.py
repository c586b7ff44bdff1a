"""tf.audio: sound files."""
from weft._core.ops.audio import decode_wav, encode_wav
from weft._core.public import publish as _publish

__all__ = ["decode_wav", "encode_wav"]
__getattr__ = _publish(__name__)
