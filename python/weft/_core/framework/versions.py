"""tf.VERSION is of the TensorFlow whose names these are; weft_version is our own."""
from weft import _weft

VERSION = "1.15.0"
weft_version = _weft.version()
GIT_VERSION = "weft-" + weft_version
