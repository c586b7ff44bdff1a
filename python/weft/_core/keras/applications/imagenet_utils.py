"""preprocess_input and decode_predictions of tf.keras.applications."""
import json

import numpy as np

from weft._core.keras import backend as K
from weft._core.keras.utils import get_file

_CLASSES = "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # red, green, blue
_CAFFE_MEAN = (103.939, 116.779, 123.68)  # blue, green, red
_modes = {}


def preprocess_input(x, data_format=None, mode="caffe"):
    """Converts images with values from 0 to 255 to the form that a model expects. mode: caffe, tf or torch."""
    if mode not in ("caffe", "tf", "torch"):
        raise ValueError("Expected mode to be one of `caffe`, `tf` or `torch`. Received: mode=%s" % mode)
    if data_format is None:
        data_format = K.image_data_format()
    elif data_format not in ("channels_first", "channels_last"):
        raise ValueError("Expected data_format to be one of `channels_first` or `channels_last`. Received: data_format=%s" % data_format)
    if isinstance(x, np.ndarray):
        return _array(x, data_format == "channels_first", mode)
    return _tensor(x, data_format == "channels_first", mode)


def _array(x, first, mode):
    """Preprocesses an array. As in Keras, an array of floats is changed in place."""
    x = x if np.issubdtype(x.dtype, np.floating) else x.astype(K.floatx(), copy=False)
    if mode == "tf":
        x /= 127.5
        x -= 1.0
        return x
    axis = x.ndim - 3 if first else x.ndim - 1
    shape = [-1 if i == axis else 1 for i in range(x.ndim)]
    if mode == "caffe":
        x = np.flip(x, axis)
        x -= np.reshape(_CAFFE_MEAN, shape).astype(x.dtype)
        return x
    x /= 255.0
    x -= np.reshape(_MEAN, shape).astype(x.dtype)
    x /= np.reshape(_STD, shape).astype(x.dtype)
    return x


def _tensor(x, first, mode):
    if mode == "tf":
        x = x / 127.5
        return x - 1.0
    rank = K.ndim(x)
    axis = rank - 3 if first else rank - 1
    if mode == "torch":
        x = x / 255.0
        mean, std = _MEAN, _STD
    else:
        x = K.reverse(x, axis)
        mean, std = _CAFFE_MEAN, None
    kind = "channels_first" if first else "channels_last"
    mean = K.constant(-np.array(mean))
    x = K.bias_add(x, K.cast(mean, K.dtype(x)) if K.dtype(x) != K.dtype(mean) else mean, kind)
    if std is not None:
        std = K.constant(np.array(std), dtype=K.dtype(x))
        x = x / (K.reshape(std, (-1, 1, 1)) if first else std)
    return x


def decode_predictions(preds, top=5):
    """Returns [[(id, name, score) of the best classes] for each row of predictions]."""
    if len(preds.shape) != 2 or preds.shape[1] != 1000:
        raise ValueError("`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, 1000)). Found array "
                         "with shape: " + str(preds.shape))
    if not _modes:
        path = get_file("imagenet_class_index.json", _CLASSES, cache_subdir="models", file_hash="c2c37ea517e94d9795004a39431a14cb")
        with open(path, encoding="utf-8") as f:
            _modes.update(json.load(f))
    return [[(*_modes[str(i)], row[i]) for i in row.argsort()[-top:][::-1]] for row in preds]


def of_mode(mode):
    """Returns preprocess_input of one family of models."""
    def preprocess(x, data_format=None):
        return preprocess_input(x, data_format=data_format, mode=mode) if mode else x
    preprocess.__name__ = preprocess.__qualname__ = "preprocess_input"
    return preprocess


caffe, tf, torch, unchanged = of_mode("caffe"), of_mode("tf"), of_mode("torch"), of_mode(None)
