"""tf.distribute.experimental: strategies that TensorFlow calls experimental."""
from weft._core.distribute.collectives import CollectiveCommunication, CollectiveHints, CommunicationImplementation, CommunicationOptions
from weft._core.distribute.multi_worker import MultiWorkerMirroredStrategy
from weft._core.distribute.strategies import CentralStorageStrategy, ParameterServerStrategy, TPUStrategy
from weft._core.public import publish as _publish

__all__ = [
    "CentralStorageStrategy", "CollectiveCommunication", "CollectiveHints", "CommunicationImplementation",
    "CommunicationOptions", "MultiWorkerMirroredStrategy", "ParameterServerStrategy", "TPUStrategy",
]
__getattr__ = _publish(__name__)
