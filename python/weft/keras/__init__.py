"""tf.keras: its MNIST reader, and layers as parts of a graph that a tf.Session trains.  Training loops are not here."""
import types

import numpy as np

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


def _module(name, **names):
    made = types.ModuleType("weft.keras." + name)
    vars(made).update(names)
    return made


datasets = _module("datasets", mnist=_module("datasets.mnist", load_data=_load_mnist))
utils = _module("utils", to_categorical=_to_categorical)
# Parts that are not here: what is taken from one says what to use instead (absent.py).
optimizers, applications = _module("optimizers"), _module("applications")
preprocessing = _module("preprocessing", image=_module("preprocessing.image"))
