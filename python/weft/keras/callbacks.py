"""tf.keras.callbacks: objects that a training loop calls."""
from weft._core.keras.callbacks import (
    BaseLogger,
    Callback,
    CallbackList,
    CSVLogger,
    EarlyStopping,
    History,
    LambdaCallback,
    LearningRateScheduler,
    ProgbarLogger,
    ReduceLROnPlateau,
    RemoteMonitor,
    TerminateOnNaN,
)
from weft._core.keras.callbacks_files import ModelCheckpoint
from weft._core.keras.tensorboard import TensorBoard
from weft._core.public import publish as _publish

__all__ = [
    "BaseLogger", "CSVLogger", "Callback", "CallbackList", "EarlyStopping", "History", "LambdaCallback",
    "LearningRateScheduler", "ModelCheckpoint", "ProgbarLogger", "ReduceLROnPlateau", "RemoteMonitor", "TensorBoard",
    "TerminateOnNaN",
]
__getattr__ = _publish(__name__)
