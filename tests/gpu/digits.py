"""digits.py FOLDER - idx files in MNIST's form with made-up digits, for machines that have no data set."""
import os
import struct
import sys

import numpy as np


def make(n, rng):
    labels = rng.randint(0, 10, n).astype(np.uint8)
    images = rng.randint(0, 40, (n, 28, 28)).astype(np.uint8)
    for i, label in enumerate(labels):  # a bright bar for each digit
        images[i, 2 * label + 3:2 * label + 5, 4:24] += 200
    return images, labels


def write(folder, kind, n, rng):
    images, labels = make(n, rng)
    with open(os.path.join(folder, kind + "-images-idx3-ubyte"), "wb") as f:
        f.write(struct.pack(">IIII", 2051, n, 28, 28) + images.tobytes())
    with open(os.path.join(folder, kind + "-labels-idx1-ubyte"), "wb") as f:
        f.write(struct.pack(">II", 2049, n) + labels.tobytes())


def main(folder):
    os.makedirs(folder, exist_ok=True)
    write(folder, "train", 12000, np.random.RandomState(1))
    write(folder, "t10k", 1000, np.random.RandomState(2))


if __name__ == "__main__":
    main(sys.argv[1])
