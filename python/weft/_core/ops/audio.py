"""tf.audio: decodes and encodes WAV files."""
from weft._core.framework import wrap

wrap.functions("""
decode_wav DecodeWav contents desired_channels=-1 desired_samples=-1
encode_wav EncodeWav audio sample_rate
""", globals())
