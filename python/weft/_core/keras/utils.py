"""tf.keras.utils: labels as rows, normalized arrays, files, names."""
import hashlib
import os
import shutil
import tarfile
import urllib.error
import urllib.request
import zipfile

import numpy as np

from weft._core.keras import serialization
from weft._core.keras.progbar import Progbar, print_msg


def to_categorical(y, num_classes=None, dtype="float32"):
    """Returns class numbers as one-hot rows."""
    y = np.array(y, dtype="int")
    shape = y.shape[:-1] if y.shape and y.shape[-1] == 1 and y.ndim > 1 else y.shape
    y = y.reshape(-1)
    num_classes = num_classes or np.max(y) + 1
    made = np.zeros((y.shape[0], num_classes), dtype=dtype)
    made[np.arange(y.shape[0]), y] = 1
    return np.reshape(made, shape + (num_classes,))


def to_ordinal(y, num_classes=None, dtype="float32"):
    """Class numbers as rows with as many ones."""
    y = np.array(y, dtype="int")
    shape = y.shape[:-1] if y.shape and y.shape[-1] == 1 and y.ndim > 1 else y.shape
    y = y.reshape(-1)
    num_classes = num_classes or np.max(y) + 1
    made = (np.arange(num_classes - 1)[None, :] < y[:, None]).astype(dtype)
    return np.reshape(made, shape + (num_classes - 1,))


def normalize(x, axis=-1, order=2):
    """Returns an array divided by its norms along an axis."""
    norm = np.atleast_1d(np.linalg.norm(x, order, axis))
    norm[norm == 0] = 1
    return x / np.expand_dims(norm, axis)


def deserialize_keras_object(config, custom_objects=None, safe_mode=True, **kwargs):
    """Returns the object for a dictionary of serialize_keras_object, or for a name."""
    return serialization.deserialize_keras_object(config, kwargs.get("module_objects"), custom_objects,
                                                  kwargs.get("printable_module_name", "object"))


def plot_model(model, to_file="model.png", show_shapes=False, show_dtype=False, show_layer_names=True, rankdir="TB",
               expand_nested=False, dpi=96, layer_range=None, show_layer_activations=False, show_trainable=False):
    """Returns a picture of a model, if pydot and graphviz are there."""
    if not model.built:
        raise ValueError("This model has not yet been built. Build the model first by calling `build()` or by calling the model on a batch "
                         "of data.")
    if _pydot() is None or shutil.which("dot") is None:
        raise ImportError("You must install pydot (`pip install pydot`) and install graphviz (see instructions at "
                          "https://graphviz.gitlab.io/download/) for plot_model to work.")
    dot = model_to_dot(model, show_shapes, show_dtype, show_layer_names, rankdir, expand_nested, dpi, False, layer_range,
                       show_layer_activations, show_trainable)
    extension = os.path.splitext(str(to_file))[1][1:] or "png"
    dot.write(str(to_file), format=extension)
    return None


def _pydot():
    for name in ("pydot_ng", "pydotplus", "pydot"):
        try:
            return __import__(name)
        except ImportError:
            continue
    return None


def model_to_dot(model, show_shapes=False, show_dtype=False, show_layer_names=True, rankdir="TB", expand_nested=False, dpi=96,
                 subgraph=False, layer_range=None, show_layer_activations=False, show_trainable=False):
    """Returns a model as a graph of pydot."""
    pydot = _pydot()
    if pydot is None:
        raise ImportError("You must install pydot (`pip install pydot`) for model_to_dot to work.")
    dot = pydot.Cluster(style="dashed", graph_name=model.name) if subgraph else pydot.Dot()
    dot.set("rankdir", rankdir)
    dot.set("dpi", dpi)
    dot.set_node_defaults(shape="record")
    for layer in model.layers:
        label = "%s|%s" % (layer.name, type(layer).__name__) if show_layer_names else type(layer).__name__
        if show_dtype:
            label += "|%s" % layer.dtype
        if show_layer_activations and hasattr(layer, "activation"):
            label += "|%s" % getattr(layer.activation, "__name__", "None")
        if show_trainable:
            label += "|%s" % ("T" if layer.trainable else "NT")
        if show_shapes:
            label += "|{input:|output:}|{{%s}|{%s}}" % (getattr(layer, "input_shape", "?"), getattr(layer, "output_shape", "?"))
        dot.add_node(pydot.Node(str(id(layer)), label=label))
    for layer in model.layers:
        for node in layer._inbound_nodes:
            for inbound, _, _, _ in node.iterate_inbound():
                dot.add_edge(pydot.Edge(str(id(inbound)), str(id(layer))))
    return dot


# ---- files ----

def _hash(path, algorithm):
    made = hashlib.sha256() if algorithm == "sha256" else hashlib.md5()
    with open(path, "rb") as f:
        for chunk in iter(lambda: f.read(65535), b""):
            made.update(chunk)
    return made.hexdigest()


def _valid(path, file_hash, algorithm):
    if file_hash is None:
        return True
    algorithm = ("sha256" if len(file_hash) == 64 else "md5") if algorithm == "auto" else algorithm
    return _hash(path, algorithm) == str(file_hash)


def cache_folder(cache_dir, cache_subdir):
    """Returns the folder of downloaded files, which is made; /tmp/.keras where the home folder cannot be written."""
    base = cache_dir or os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    if not os.access(os.path.dirname(base) if not os.path.exists(base) else base, os.W_OK):
        base = os.path.join("/tmp", ".keras")
    folder = os.path.join(os.path.expanduser(base), cache_subdir)
    os.makedirs(folder, exist_ok=True)
    return folder


def get_file(fname=None, origin=None, untar=False, md5_hash=None, file_hash=None, cache_subdir="datasets", hash_algorithm="auto",
             extract=False, archive_format="auto", cache_dir=None):
    """Returns the path of a file in the cache, which is downloaded if it is not there."""
    if origin is None:
        raise ValueError('Please specify the "origin" argument (URL of the file to download).')
    if md5_hash is not None and file_hash is None:
        file_hash, hash_algorithm = md5_hash, "md5"
    folder = cache_folder(cache_dir, cache_subdir)
    name = os.fspath(fname) if fname is not None else os.path.basename(urllib.request.urlparse(origin).path)
    if not name:
        raise ValueError("Can't parse the file name from the origin provided: '%s'.Please specify the `fname` as the input param." % origin)
    untarred = os.path.join(folder, name)
    path = untarred + ".tar.gz" if untar else untarred
    if not os.path.exists(path) or not _valid(path, file_hash, hash_algorithm):
        if os.path.exists(path):
            print_msg("A local file was found, but it seems to be incomplete or outdated because the %s file hash does not match the "
                      "original value of %s so we will re-download the data." % (hash_algorithm, file_hash))
        _download(origin, path)
        if not _valid(path, file_hash, hash_algorithm):
            raise ValueError("Incomplete or corrupted file detected. The %s file hash does not match the provided value of %s." % (
                hash_algorithm, file_hash))
    if untar:
        if not os.path.exists(untarred):
            _extract(path, folder, "tar")
        return untarred
    if extract:
        _extract(path, folder, archive_format)
    return path


def _download(origin, path):
    print_msg("Downloading data from %s" % origin)
    bar = []

    def shown(count, size, total):
        if not bar:
            bar.append(Progbar(None if total == -1 else total))
        bar[0].update(min(count * size, total) if total != -1 else count * size)
    try:
        urllib.request.urlretrieve(origin, path, shown)
    except urllib.error.HTTPError as e:
        raise Exception("URL fetch failure on %s: %s -- %s" % (origin, e.code, e.msg)) from e
    except urllib.error.URLError as e:
        raise Exception("URL fetch failure on %s: %s -- %s" % (origin, e.errno, e.reason)) from e
    except BaseException:
        if os.path.exists(path):
            os.remove(path)
        raise


def _extract(path, folder, archive_format):
    wanted = ["tar", "zip"] if archive_format == "auto" else [archive_format] if isinstance(archive_format, str) else archive_format or []
    for kind in wanted:
        if kind == "tar" and tarfile.is_tarfile(path):
            with tarfile.open(path) as f:
                f.extractall(folder, filter="data")
            return True
        if kind == "zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as f:
                f.extractall(folder)
            return True
    return False




def warmstart_embedding_matrix(base_vocabulary, new_vocabulary, base_embeddings, new_embeddings_initializer="uniform"):
    """Returns an embedding for a new vocabulary; rows of words that the old one has are kept."""
    from weft._core.keras import backend as K, initializers
    base_embeddings = np.asarray(K.get_value(base_embeddings))

    def words(given):
        if isinstance(given, str):
            with open(given) as f:
                return f.read().splitlines()
        return list(given)
    old = {w: i for i, w in enumerate(words(base_vocabulary))}
    new = words(new_vocabulary)
    start = initializers.get(new_embeddings_initializer)
    made = np.array(K.get_value(start((len(new), base_embeddings.shape[1]))))
    for i, word in enumerate(new):
        if word in old:
            made[i] = base_embeddings[old[word]]
    return made
