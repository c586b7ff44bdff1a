"""tf.contrib.learn.learn_runner: runs an Experiment."""
from weft._core.contrib.learn_runner import run, tune
from weft._core.public import publish as _publish

__all__ = ["run", "tune"]
__getattr__ = _publish(__name__)
