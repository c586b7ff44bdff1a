"""Reads MNIST's idx files as TensorFlow's tutorials do, with the same splits, scaling, order of batches and output."""
import collections
import gzip
import os

import numpy as np

from weft import _weft
from weft._core.framework import dtypes
from weft._core.framework.absent import Named

FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])


def dense_to_one_hot(labels_dense, num_classes):
    out = np.zeros((labels_dense.shape[0], num_classes))
    out[np.arange(labels_dense.shape[0]), labels_dense.ravel()] = 1
    return out


class DataSet(metaclass=Named):
    """Images and labels in batches, which are shuffled for each epoch."""

    def __init__(self, images, labels, fake_data=False, one_hot=False, dtype=dtypes.float32, reshape=True, seed=None):
        from weft._core.framework.graph import get_default_graph
        graph_seed = get_default_graph().seed
        if seed is not None or graph_seed is not None:
            np.random.seed(seed if graph_seed is None else graph_seed)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError("Invalid image dtype %r, expected uint8 or float32" % dtype)
        self.one_hot = one_hot
        if fake_data:
            self._num_examples = 10000
        else:
            assert images.shape[0] == labels.shape[0], "images.shape: %s labels.shape: %s" % (images.shape, labels.shape)
            self._num_examples = images.shape[0]
            if reshape:
                assert images.shape[3] == 1
                images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels
        self._fake, self._epochs_completed, self._index_in_epoch = fake_data, 0, 0

    images = property(lambda self: self._images)
    labels = property(lambda self: self._labels)
    num_examples = property(lambda self: self._num_examples)
    epochs_completed = property(lambda self: self._epochs_completed)

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        if fake_data or self._fake:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        if start + batch_size <= self._num_examples:
            self._index_in_epoch += batch_size
            end = self._index_in_epoch
            return self._images[start:end], self._labels[start:end]
        self._epochs_completed += 1
        images, labels = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        end = self._index_in_epoch = batch_size - (self._num_examples - start)
        return np.concatenate((images, self._images[:end])), np.concatenate((labels, self._labels[:end]))

    def _shuffle(self):
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def _folders(train_dir):
    """Returns the folders to search: the given one, WEFT_DATA, and Fashion-MNIST's folder if the name says so."""
    folders = [str(train_dir)]
    if os.environ.get("WEFT_DATA"):
        folders += [os.environ["WEFT_DATA"], os.path.join(os.environ["WEFT_DATA"], "MNIST_data")]
    if "fashion" in str(train_dir).lower():
        folders.append("/usr/share/datasets/fashion-mnist")
    return folders


def _path(train_dir, name):
    """Returns the path of a file, plain or gz, or None if it is in no folder."""
    paths = [os.path.join(folder, name + end) for folder in _folders(train_dir) for end in (".gz", "")]
    return next(filter(os.path.exists, paths), None)


def _find(train_dir, name):
    found = _path(train_dir, name)
    if found is None:
        missing = [n for n in FILES if _path(train_dir, n) is None]
        raise FileNotFoundError("MNIST is not there: put %s (plain, or with .gz) into the folder '%s', or name a folder that has "
                                "them in WEFT_DATA; Debian's Fashion-MNIST is read for the folder 'fashion-mnist'" % (
                                    ", ".join(missing), train_dir))
    return found


def _read(path):
    print("Extracting", path)
    return _weft.idx_read(path)


def _records(f, magic, kind):
    """Returns the array of a gz file that is open in binary mode; the magic number says which kind it is."""
    name = getattr(f, "name", "a file")
    print("Extracting", name)
    data = gzip.decompress(f.read())
    found = int.from_bytes(data[:4], "big")
    if found != magic:
        raise ValueError("Invalid magic number %d in MNIST %s file: %s" % (found, kind, name))
    start = 4 + 4 * (magic & 255)
    shape = np.frombuffer(data[4:start], ">i4")
    if len(data) - start < np.prod(shape):
        raise ValueError("the MNIST %s file %s is cut off: it says %s and has %d bytes" % (kind, name, shape.tolist(), len(data) - start))
    return np.frombuffer(data, np.uint8, np.prod(shape), start).reshape(shape).copy()


def extract_images(f):
    """Returns the images of an idx file, [images, height, width, 1], as uint8.

    Args:
      f: the gz file, open in binary mode.
    """
    return _records(f, 2051, "image")[..., None]


def extract_labels(f, one_hot=False, num_classes=10):
    """Returns the labels of an idx file as uint8, or as rows of zeros with a one.

    Args:
      f: the gz file, open in binary mode.
      one_hot: whether a label is a row.
      num_classes: the length of a row.
    """
    labels = _records(f, 2049, "label")
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def load_mnist(train_dir="MNIST-data"):
    """Returns the training, validation and test images that are in a folder.

    Args:
      train_dir: the folder with the four files of MNIST.
    """
    return read_data_sets(train_dir)


def read_data_sets(train_dir, fake_data=False, one_hot=False, dtype=dtypes.float32, reshape=True, validation_size=5000,
                   seed=None, source_url=None):
    if fake_data:
        def fake():
            return DataSet([], [], fake_data=True, one_hot=one_hot, dtype=dtype, seed=seed)
        return Datasets(fake(), fake(), fake())
    paths = [_find(train_dir, name) for name in FILES]
    arrays = [_read(p) for p in paths]
    images, test_images = (a.reshape(a.shape + (1,)) for a in (arrays[0], arrays[2]))
    labels, test_labels = (dense_to_one_hot(a, 10) if one_hot else a for a in (arrays[1], arrays[3]))
    if not 0 <= validation_size <= len(images):
        raise ValueError("Validation size should be between 0 and %d. Received: %d." % (len(images), validation_size))
    options = dict(dtype=dtype, reshape=reshape, seed=seed, one_hot=one_hot)
    n = validation_size
    return Datasets(DataSet(images[n:], labels[n:], **options), DataSet(images[:n], labels[:n], **options),
                    DataSet(test_images, test_labels, **options))
