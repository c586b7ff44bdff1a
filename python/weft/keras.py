"""tf.keras: its MNIST reader and to_categorical; the layers and models are not in Weft."""
import types

import numpy as np


def _load_mnist(path="mnist.npz"):
    """((images, labels), (test images, test labels)) from idx files in the folder, in WEFT_DATA, or an npz file."""
    import os
    from . import mnist
    if os.path.isfile(path):
        with np.load(path) as f:
            return (f["x_train"], f["y_train"]), (f["x_test"], f["y_test"])
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "MNIST_data"
    arrays = [mnist._weft.idx_read(mnist._find(folder, name)) for name in mnist.FILES]
    return (arrays[0], arrays[1]), (arrays[2], arrays[3])


def _to_categorical(y, num_classes=None, dtype="float32"):
    y = np.asarray(y, dtype="int").ravel()
    return np.eye(num_classes or int(y.max()) + 1, dtype=dtype)[y]


datasets, utils = types.ModuleType("datasets"), types.ModuleType("utils")
datasets.mnist = types.ModuleType("mnist")
datasets.mnist.load_data, utils.to_categorical = _load_mnist, _to_categorical


def __getattr__(name):
    raise AttributeError("tf.keras.%s is not in Weft: tf.layers and tf.nn have layers" % name)
