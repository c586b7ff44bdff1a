"""tf.keras: its MNIST reader, and layers as parts of a graph that a tf.Session trains.  Training loops are not here."""
import types

import numpy as np

from ..runner import _where
from . import backend, layers, models  # noqa: F401
from .layers import Input  # noqa: F401
from .models import Model  # noqa: F401


def _load_mnist(path="mnist.npz"):
    """((images, labels), (test images, test labels)) from idx files in the folder, in WEFT_DATA, or an npz file."""
    import os
    from .. import mnist
    if os.path.isfile(path):
        with np.load(path) as f:
            return (f["x_train"], f["y_train"]), (f["x_test"], f["y_test"])
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "MNIST_data"
    arrays = [mnist._weft.idx_read(mnist._find(folder, name)) for name in mnist.FILES]
    return (arrays[0], arrays[1]), (arrays[2], arrays[3])


def _to_categorical(y, num_classes=None, dtype="float32"):
    y = np.asarray(y, dtype="int").ravel()
    return np.eye(num_classes or int(y.max()) + 1, dtype=dtype)[y]


class _Missing(types.ModuleType):
    """A part of Keras that is not in Weft: what is taken from it says what to use instead."""

    def __init__(self, name, instead):
        super().__init__(name)
        self._instead = instead

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError("tf.keras.%s.%s is not in Weft%s: %s" % (self.__name__, name, _where(), self._instead))


datasets, utils = types.ModuleType("datasets"), types.ModuleType("utils")
datasets.mnist = types.ModuleType("mnist")
datasets.mnist.load_data, utils.to_categorical = _load_mnist, _to_categorical
optimizers = _Missing("optimizers", "use the optimizer of that name in tf.train (Adagrad: tf.train.AdagradOptimizer)")
applications = _Missing("applications", "build the network of tf.layers or tf.keras.layers")
preprocessing = types.ModuleType("preprocessing")
preprocessing.image = _Missing("preprocessing.image", "use tf.image in the input pipeline")


def __getattr__(name):
    raise AttributeError("tf.keras.%s is not in Weft%s: tf.layers, tf.nn and tf.train have what it stands on" % (name, _where()))
