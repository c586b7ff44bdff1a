"""tf.contrib.ffmpeg: sound and video files of many formats."""
from weft._core.contrib.ffmpeg import decode_audio, decode_video, encode_audio
from weft._core.public import publish as _publish

__all__ = ["decode_audio", "decode_video", "encode_audio"]
__getattr__ = _publish(__name__)
