"""Versions: tf.VERSION is that of the TensorFlow whose names these are, and weft_version is our own."""
import sys

from weft import _weft

VERSION = "1.15.0"
weft_version = _weft.version()
GIT_VERSION = "weft-" + weft_version
# What TensorFlow 2.15 writes into a GraphDef's `versions`, and the oldest that a reader or writer may be.
GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 1645, 0, 0
COMPILER_VERSION = sys.version.partition("[")[2].rstrip("]") or "unknown"
CXX11_ABI_FLAG, CXX_VERSION, MONOLITHIC_BUILD = 1, 201703, 0
