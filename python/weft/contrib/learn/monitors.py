"""tf.contrib.learn.monitors: hooks for fit."""
from weft._core.contrib.learn_data import (
    CheckpointSaver,
    NanLoss,
    PrintTensor,
    StopAtStep,
    SummarySaver,
    ValidationMonitor,
    replace_monitors_with_hooks,
)
from weft._core.public import publish as _publish

__all__ = [
    "CheckpointSaver", "NanLoss", "PrintTensor", "StopAtStep", "SummarySaver", "ValidationMonitor",
    "replace_monitors_with_hooks",
]
__getattr__ = _publish(__name__)
