"""tf.contrib.hooks: hooks for sessions."""
from weft._core.public import publish as _publish
from weft._core.train.hooks import ProfilerHook

__all__ = ["ProfilerHook"]
__getattr__ = _publish(__name__)
