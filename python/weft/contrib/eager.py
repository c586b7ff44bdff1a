"""tf.contrib.eager: what programs import of it; Weft has no eager mode."""
from weft._core.contrib.eager import (
    defun,
    enable_eager_execution,
    in_eager_mode,
    in_graph_mode,
    list_devices,
    num_gpus,
    run_test_in_graph_and_eager_modes,
)
from weft._core.framework.eager import executing_eagerly
from weft._core.ops.variables import Variable
from weft._core.public import publish as _publish

__all__ = [
    "Variable", "defun", "enable_eager_execution", "executing_eagerly", "in_eager_mode", "in_graph_mode",
    "list_devices", "num_gpus", "run_test_in_graph_and_eager_modes",
]
__getattr__ = _publish(__name__)
