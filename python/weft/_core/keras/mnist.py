"""tf.keras.datasets.mnist."""
import os

import numpy as np

from weft._core.run import mnist


def load_data(path="mnist.npz"):
    """Returns ((images, labels), (test images, test labels)) from idx files in the folder or WEFT_DATA, or from an npz
    file.
    """
    if os.path.isfile(path):
        with np.load(path) as f:
            return (f["x_train"], f["y_train"]), (f["x_test"], f["y_test"])
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "MNIST_data"
    arrays = [mnist._weft.idx_read(mnist._find(folder, name)) for name in mnist.FILES]
    return (arrays[0], arrays[1]), (arrays[2], arrays[3])
