"""tf.keras.datasets: loads files in ~/.keras/datasets as arrays. A missing file is downloaded if there is a network."""
import gzip
import json
import os
import pickle

import numpy as np

from weft._core.keras.utils import get_file
from weft._core.platform import logging

_ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def boston_housing(path="boston_housing.npz", test_split=0.2, seed=113):
    """Returns ((features, prices), (test features, test prices))."""
    assert 0 <= test_split < 1
    path = get_file(path, origin=_ORIGIN + "boston_housing.npz",
                    file_hash="f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5")
    with np.load(path, allow_pickle=True) as f:
        x, y = f["x"], f["y"]
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    cut = int(len(x) * (1 - test_split))
    return (np.array(x[:cut]), np.array(y[:cut])), (np.array(x[cut:]), np.array(y[cut:]))


def _batch(path, key="labels"):
    with open(path, "rb") as f:
        found = {k.decode("utf8"): v for k, v in pickle.load(f, encoding="bytes").items()}
    return found["data"].reshape(found["data"].shape[0], 3, 32, 32), found[key]


def _channels(x):
    from weft._core.keras.session import image_data_format
    return x.transpose(0, 2, 3, 1) if image_data_format() == "channels_last" else x


def cifar10():
    """Returns ((images, labels), (test images, test labels))."""
    folder = get_file("cifar-10-batches-py", origin="https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz", untar=True,
                      file_hash="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce")
    parts = [_batch(os.path.join(folder, "data_batch_%d" % i)) for i in range(1, 6)]
    x, y = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]).astype("uint8")
    x_test, y_test = _batch(os.path.join(folder, "test_batch"))
    return (_channels(x), y.reshape((len(y), 1))), (_channels(x_test).astype(x.dtype),
                                                    np.reshape(y_test, (len(y_test), 1)).astype(y.dtype))


def cifar100(label_mode="fine"):
    """Returns ((images, labels), (test images, test labels)). label_mode: fine or coarse."""
    if label_mode not in ("fine", "coarse"):
        raise ValueError('`label_mode` must be one of `"fine"`, `"coarse"`. Received: label_mode=%s.' % label_mode)
    folder = get_file("cifar-100-python", origin="https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz", untar=True,
                      file_hash="85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7")
    (x, y), (x_test, y_test) = (_batch(os.path.join(folder, n), label_mode + "_labels") for n in ("train", "test"))
    return (_channels(x), np.reshape(y, (len(y), 1))), (_channels(x_test), np.reshape(y_test, (len(y_test), 1)))


def fashion_mnist():
    """Returns ((images, labels), (test images, test labels))."""
    names = ("train-labels-idx1-ubyte.gz", "train-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz")
    paths = [get_file(n, origin=_ORIGIN + n, cache_subdir=os.path.join("datasets", "fashion-mnist")) for n in names]

    def read(path, offset):
        with gzip.open(path, "rb") as f:
            return np.frombuffer(f.read(), np.uint8, offset=offset)
    y, y_test = read(paths[0], 8), read(paths[2], 8)
    return (read(paths[1], 16).reshape(len(y), 28, 28), y), (read(paths[3], 16).reshape(len(y_test), 28, 28), y_test)


def mnist(path="mnist.npz"):
    """Returns ((images, labels), (test images, test labels)) of an npz file, or of idx files in a folder or in
    WEFT_DATA.
    """
    from weft._core.keras import mnist as idx
    if os.path.isdir(path) or os.path.isfile(path) or os.environ.get("WEFT_DATA") or os.path.isdir("MNIST_data"):
        return idx.load_data(path)
    path = get_file(path, origin=_ORIGIN + "mnist.npz", file_hash="731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1")
    with np.load(path, allow_pickle=True) as f:
        return (f["x_train"], f["y_train"]), (f["x_test"], f["y_test"])


def _shortened(xs, labels, maxlen):
    pairs = [(x, y) for x, y in zip(xs, labels) if len(x) < maxlen]
    return [x for x, _ in pairs], [y for _, y in pairs]


def _marked(xs, start_char, index_from):
    """Returns sequences of words, shifted by index_from and with a start word."""
    if start_char is not None:
        return [[start_char] + [w + index_from for w in x] for x in xs]
    return [[w + index_from for w in x] for x in xs] if index_from else xs


def _limited(xs, num_words, skip_top, oov_char):
    num_words = num_words or max(max(x) for x in xs)
    if oov_char is not None:
        return [[w if skip_top <= w < num_words else oov_char for w in x] for x in xs]
    return [[w for w in x if skip_top <= w < num_words] for x in xs]


def imdb(path="imdb.npz", num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1, oov_char=2, index_from=3, **kwargs):
    """Returns ((reviews, labels), (test reviews, test labels)); a review is a list of word numbers."""
    if "nb_words" in kwargs:
        logging.warning("The `nb_words` argument in `load_data` has been renamed `num_words`.")
        num_words = kwargs.pop("nb_words")
    if kwargs:
        raise TypeError("Unrecognized keyword arguments: %s." % (kwargs,))
    path = get_file(path, origin=_ORIGIN + "imdb.npz", file_hash="69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f")
    with np.load(path, allow_pickle=True) as f:
        x, y, x_test, y_test = f["x_train"], f["y_train"], f["x_test"], f["y_test"]
    rng, parts = np.random.RandomState(seed), []
    for values, labels in ((x, y), (x_test, y_test)):
        order = np.arange(len(values))
        rng.shuffle(order)
        parts.append((values[order], labels[order]))
    count = len(x)
    xs = np.concatenate([p[0] for p in parts])
    labels = np.concatenate([p[1] for p in parts])
    xs = _marked(xs, start_char, index_from)
    if maxlen:
        xs, labels = _shortened(xs, labels, maxlen)
        if not xs:
            raise ValueError("After filtering for sequences shorter than maxlen=%s, no sequence was kept. Increase maxlen." % maxlen)
    xs = _limited(xs, num_words, skip_top, oov_char)
    made = np.array(xs, dtype="object")
    return (made[:count], labels[:count]), (made[count:], labels[count:])


def reuters(path="reuters.npz", num_words=None, skip_top=0, maxlen=None, test_split=0.2, seed=113, start_char=1, oov_char=2,
            index_from=3, **kwargs):
    """Returns ((news, topics), (test news, test topics)); an item is a list of word numbers."""
    if "nb_words" in kwargs:
        logging.warning("The `nb_words` argument in `load_data` has been renamed `num_words`.")
        num_words = kwargs.pop("nb_words")
    if kwargs:
        raise TypeError("Unrecognized keyword arguments: %s" % (kwargs,))
    path = get_file(path, origin=_ORIGIN + "reuters.npz", file_hash="d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916")
    with np.load(path, allow_pickle=True) as f:
        xs, labels = f["x"], f["y"]
    order = np.arange(len(xs))
    np.random.RandomState(seed).shuffle(order)
    xs, labels = _marked(xs[order], start_char, index_from), labels[order]
    if maxlen:
        xs, labels = _shortened(xs, labels, maxlen)
    xs = _limited(xs, num_words, skip_top, oov_char)
    cut = int(len(xs) * (1 - test_split))
    return (np.array(xs[:cut], dtype="object"), np.array(labels[:cut])), (np.array(xs[cut:], dtype="object"), np.array(labels[cut:]))


def _index(path, origin, file_hash):
    with open(get_file(path, origin=origin, file_hash=file_hash)) as f:
        return json.load(f)


def imdb_word_index(path="imdb_word_index.json"):
    """Returns {word: its number}."""
    return _index(path, _ORIGIN + "imdb_word_index.json", "bfafd718b763782e994055a2d397834f")


def reuters_word_index(path="reuters_word_index.json"):
    """Returns {word: its number}."""
    return _index(path, _ORIGIN + "reuters_word_index.json", "4d44cc38712099c9e383dc6e5f11a921")


def reuters_label_names():
    """Returns the names of the topics, by number."""
    return ("cocoa", "grain", "veg-oil", "earn", "acq", "wheat", "copper", "housing", "money-supply", "coffee", "sugar", "trade",
            "reserves", "ship", "cotton", "carcass", "crude", "nat-gas", "cpi", "money-fx", "interest", "gnp", "meal-feed", "alum",
            "oilseed", "gold", "tin", "strategic-metal", "livestock", "retail", "ipi", "iron-steel", "rubber", "heat", "jobs", "lei",
            "bop", "zinc", "orange", "pet-chem", "dlr", "gas", "silver", "wpi", "hog", "lead")
