"""Which library a program of the bench runs on: the same TensorFlow 1 source goes with both."""
import importlib
import os
import pathlib
import sys

BUILD = pathlib.Path(os.environ.get("WEFT_BUILD", pathlib.Path(__file__).resolve().parent.parent / "build"))


def load(system):
    """The module `tf` for "tf" (TensorFlow 2.15.1 through tf.compat.v1) or "weft"."""
    if system == "weft":
        sys.path.insert(0, str(BUILD / "python"))
        return importlib.import_module("weft")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    tf = importlib.import_module("tensorflow.compat.v1")
    tf.disable_v2_behavior()
    return tf
