"""Files of weights: TensorFlow's checkpoints, and HDF5 files where the package h5py is installed."""
import os

import numpy as np

import weft as tf
from weft._core.keras import backend as K
from weft._core.train import checkpoint

_VERSION = b"2.15.0"
_LIMIT = 64512  # bytes of one attribute of an HDF5 file


def h5py():
    """Returns the package, or the error that Keras gives."""
    try:
        import h5py as found
    except ImportError:
        raise ImportError("`save_model()` using h5 format requires h5py. Could not import h5py.") from None
    return found


def is_h5(path):
    return str(path).endswith((".h5", ".keras", ".hdf5"))


def _format(path, save_format):
    if save_format is None:
        return "h5" if is_h5(path) else "tf"
    lower = save_format.lower().strip()
    if lower in ("tensorflow", "tf"):
        return "tf"
    if lower in ("hdf5", "h5", "keras"):
        return "h5"
    raise ValueError('Unknown format. Received: `save_format`=%s. Was expecting one of {"tf", "h5"}.' % save_format)


def ask_to_overwrite(path):
    """Asks at the terminal whether a file may be replaced."""
    answer = ""
    while answer not in ("y", "n"):
        answer = input("[WARNING] %s already exists - overwrite? [y/n]" % path).strip().lower()
    return answer == "y"


def save(model, filepath, overwrite=True, save_format=None, options=None):
    model._assert_weights_created()
    filepath = os.fspath(filepath)
    kind = _format(filepath, save_format)
    if kind == "tf" and is_h5(filepath):
        raise ValueError('save_weights got save_format="tf"/"tensorflow", but the filepath ("%s") looks like an HDF5 file. Omit the '
                         '".h5"/".keras" when saving in TensorFlow format.' % filepath)
    shown = filepath if kind == "h5" else filepath + ".index"
    if not overwrite and os.path.isfile(shown) and not ask_to_overwrite(shown):
        return
    if kind == "h5":
        with h5py().File(filepath, "w") as f:
            save_to_group(f, model)
        return
    K.get_session()
    _Root(model).write(filepath, K.get_session(), options)
    checkpoint.write_state(os.path.dirname(filepath), filepath, [filepath])


def load(model, filepath, by_name=False, skip_mismatch=False, options=None):
    """Assigns the weights of a file; returns the status of a checkpoint."""
    filepath = os.fspath(filepath)
    if skip_mismatch and not by_name:
        raise ValueError("When calling model.load_weights, skip_mismatch can only be set to True when by_name is True.")
    if is_h5(filepath) or (os.path.isfile(filepath) and not os.path.exists(filepath + ".index")):
        _load_h5(model, filepath, by_name, skip_mismatch)
        return None
    if by_name:
        raise NotImplementedError("Weights may only be loaded based on topology into Models when loading TensorFlow-formatted weights (got "
                                  "by_name=True to load_weights).")
    status = checkpoint._restore(model, filepath, "_save_counter")
    session = K.get_session()
    status.run_restore_ops(session)
    return status


def _load_h5(model, filepath, by_name, skip_mismatch):
    model._assert_weights_created()
    with h5py().File(filepath, "r") as f:
        group = f["model_weights"] if "layer_names" not in f.attrs and "model_weights" in f else f
        (load_by_name if by_name else load_by_order)(group, model, **({"skip_mismatch": skip_mismatch} if by_name else {}))


class _Root(checkpoint.Checkpoint):
    """A checkpoint whose root is a model."""

    def __init__(self, model):
        super().__init__()
        self.__dict__["_model"] = model

    _NOT_TRACKED = checkpoint.Checkpoint._NOT_TRACKED | frozenset(["_model"])

    def _trackable_children(self):
        return self._model._trackable_children()


# ---- HDF5 ----

def _save_names(group, key, names):
    """Names as an attribute, in parts where they are too long for one."""
    data = [n.encode("utf8") for n in names]
    if [x for x in data if len(x) > _LIMIT]:
        raise RuntimeError("The following attributes cannot be saved to HDF5 file because they are larger than %d bytes: %s" % (
            _LIMIT, [x for x in data if len(x) > _LIMIT]))
    array, parts = np.asarray(data), 1
    found = np.array_split(array, parts)
    while any(x.nbytes > _LIMIT for x in found):
        parts += 1
        found = np.array_split(array, parts)
    if parts > 1:
        for i, part in enumerate(found):
            group.attrs["%s%d" % (key, i)] = part
    else:
        group.attrs[key] = data


def _load_names(group, key):
    def text(n):
        return n.decode("utf8") if hasattr(n, "decode") else n
    if key in group.attrs:
        return [text(n) for n in group.attrs[key]]
    found, part = [], 0
    while "%s%d" % (key, part) in group.attrs:
        found += [text(n) for n in group.attrs["%s%d" % (key, part)]]
        part += 1
    return found


def _weights_of(layer):
    """Returns the variables of a layer in the order of its file: first those that are trained."""
    return layer.trainable_weights + layer.non_trainable_weights


def _save_variables(group, variables):
    _save_names(group, "weight_names", [v.name for v in variables])
    for variable, value in zip(variables, K.batch_get_value(variables)):
        value = np.asarray(value)
        data = group.create_dataset(variable.name, value.shape, dtype=value.dtype)
        if value.shape:
            data[:] = value
        else:
            data[()] = value


def save_to_group(group, model):
    layers = model.layers
    _save_names(group, "layer_names", [layer.name for layer in layers])
    group.attrs["backend"], group.attrs["keras_version"] = b"tensorflow", _VERSION
    for layer in sorted(layers, key=lambda x: x.name):
        _save_variables(group.create_group(layer.name), _weights_of(layer))
    _save_variables(group.create_group("top_level_model_weights"), model._own_weights(True) + model._own_weights(False))


def _values(group):
    return [np.asarray(group[name]) for name in _load_names(group, "weight_names")]


def load_by_order(group, model):
    """Assigns weights layer after layer."""
    layers = [layer for layer in model.layers if _weights_of(layer)]
    names = [n for n in _load_names(group, "layer_names") if _load_names(group[n], "weight_names")]
    if len(names) != len(layers):
        raise ValueError("Layer count mismatch when loading weights from file. Model expected %d layers, found %d saved layers." % (
            len(layers), len(names)))
    pairs = []
    for i, (name, layer) in enumerate(zip(names, layers)):
        values, variables = _values(group[name]), _weights_of(layer)
        if len(values) != len(variables):
            raise ValueError("Weight count mismatch for layer #%d (named %s in the current model, %s in the save file). Layer expects %d "
                             "weight(s). Received %d saved weight(s)" % (i, layer.name, name, len(variables), len(values)))
        pairs += zip(variables, values)
    _assign(pairs)
    if "top_level_model_weights" in group:
        own = model._own_weights(True) + model._own_weights(False)
        _assign(list(zip(own, _values(group["top_level_model_weights"]))))


def load_by_name(group, model, skip_mismatch=False):
    """Assigns the weights of layers whose names are in the file."""
    names, pairs = _load_names(group, "layer_names"), []
    for name in names:
        for layer in [x for x in model.layers if x.name == name]:
            values, variables = _values(group[name]), _weights_of(layer)
            fits = len(values) == len(variables) and all(v.shape.as_list() == list(x.shape) for v, x in zip(variables, values))
            if not fits and skip_mismatch:
                tf.logging.warning("Skipping loading of weights for layer %s due to mismatch in number of weights or their shapes.", name)
                continue
            if len(values) != len(variables):
                raise ValueError("Weight count mismatch for layer #%d (named %s). Layer expects %d weight(s). Received %d saved "
                                 "weight(s)" % (names.index(name), name, len(variables), len(values)))
            pairs += zip(variables, values)
    _assign(pairs)


def _assign(pairs):
    for variable, value in pairs:
        if variable.shape.as_list() != list(value.shape):
            raise ValueError("Shape mismatch in the file for %s: the variable has the shape %s, and the saved weight %s." % (
                variable.name, variable.shape.as_list(), list(value.shape)))
    K.batch_set_value(pairs)
