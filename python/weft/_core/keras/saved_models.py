"""Reads and writes whole models: HDF5 files with configuration, weights and training state, and SavedModel folders."""
import json
import logging
import os

import numpy as np

import weft as tf
from weft._core.keras import backend as K, cloning, losses, metrics, optimizer_base, optimizers, serialization, weight_files

_JSON = "saved_model.json"


def save_model(model, filepath, overwrite=True, save_format=None, include_optimizer=True, signatures=None, options=None,
               save_traces=True, **kwargs):
    """Writes a model: its configuration, weights and optimizer."""
    if kwargs:
        raise TypeError("Invalid keyword argument(s) in `save_model`: %s" % list(kwargs))
    filepath = os.fspath(filepath) if not hasattr(filepath, "attrs") else filepath
    folder = save_format in ("tf", "tensorflow") or (save_format is None and isinstance(filepath, str) and os.path.isdir(filepath))
    if folder:
        if isinstance(filepath, str) and weight_files.is_h5(filepath) and save_format is not None:
            raise ValueError('The filepath looks like an hdf5 file, but save_format is "tf": leave out the ending, or the format. Got %s' %
                             filepath)
        _save_folder(model, filepath, overwrite, include_optimizer, signatures)
        return
    if not (getattr(model, "_is_graph_network", False) or getattr(model, "_is_sequential", False)):
        raise NotImplementedError(
            "Saving the model to HDF5 format requires the model to be a Functional model or a Sequential model. It does not work for "
            "subclassed models, because such models are defined via the body of a Python method, which isn't safely serializable. Consider "
            'saving to the Tensorflow SavedModel format (by setting save_format="tf") or using `save_weights`.')
    if hasattr(filepath, "attrs"):
        _save_h5(model, filepath, include_optimizer)
        return
    if not overwrite and os.path.isfile(filepath) and not weight_files.ask_to_overwrite(filepath):
        return
    os.makedirs(os.path.dirname(filepath) or ".", exist_ok=True)
    with weight_files.h5py().File(filepath, "w") as f:
        _save_h5(model, f, include_optimizer)


def _metadata(model, include_optimizer):
    made = {"keras_version": "2.15.0", "backend": "tensorflow",
            "model_config": {"class_name": type(model).__name__, "config": model.get_config()}}
    if include_optimizer and model.optimizer is not None:
        if isinstance(model.optimizer, optimizer_base.TFOptimizer):
            logging.getLogger("tensorflow").warning(
                "TensorFlow optimizers do not make it possible to access optimizer attributes or optimizer state after instantiation. As a "
                "result, we cannot save the optimizer as part of the model save file. You will have to compile your model again after "
                "loading it. Prefer using a Keras optimizer instead (see keras.io/optimizers).")
        else:
            made["training_config"] = _training_config(model)
    return made


def _training_config(model):
    return {"loss": _named(model.loss), "metrics": _named(model._compile_metrics),
            "weighted_metrics": _named(model.__dict__.get("_compile_weighted_metrics")),
            "loss_weights": model.__dict__.get("loss_weights"), "sample_weight_mode": model.__dict__.get("sample_weight_mode"),
            "optimizer_config": serialization.serialize_keras_object(model.optimizer)}


def _named(value):
    """Converts losses and metrics to names, also in nests."""
    if isinstance(value, (list, tuple)):
        return [_named(v) for v in value]
    if isinstance(value, dict):
        return {k: _named(v) for k, v in value.items()}
    return serialization.serialize_keras_object(value) if callable(value) or hasattr(value, "get_config") else value


def _save_h5(model, f, include_optimizer):
    for key, value in _metadata(model, include_optimizer).items():
        f.attrs[key] = json.dumps(value, default=cloning._json).encode("utf8") if isinstance(value, dict) else value
    weight_files.save_to_group(f.create_group("model_weights"), model)
    optimizer = model.optimizer
    if include_optimizer and isinstance(optimizer, optimizer_base.Optimizer) and optimizer.weights:
        weight_files._save_variables(f.create_group("optimizer_weights"), optimizer.weights)


def _compiled(model, config, custom_objects):
    """Compiles a model as its file specifies."""
    optimizer = optimizers.deserialize(config["optimizer_config"], custom_objects=custom_objects)
    loss = _objects(config.get("loss"), losses.get)
    found = {k: _objects(config.get(k), _metric) for k in ("metrics", "weighted_metrics")}
    model.compile(optimizer=optimizer, loss=loss, loss_weights=config.get("loss_weights"),
                  sample_weight_mode=config.get("sample_weight_mode"), **found)


def _metric(given):
    return given if given in ("accuracy", "acc", "crossentropy", "ce") else metrics.get(given)


def _objects(value, get):
    if isinstance(value, list):
        return [_objects(v, get) for v in value]
    if isinstance(value, dict) and "class_name" not in value:
        return {k: _objects(v, get) for k, v in value.items()}
    return None if value is None else get(value)


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True, **kwargs):
    """Reads a model that save_model wrote."""
    kwargs.pop("options", None)
    if kwargs:
        raise TypeError("Invalid keyword argument(s) in `load_model`: %s" % list(kwargs))
    with serialization.CustomObjectScope(custom_objects or {}):
        if hasattr(filepath, "attrs"):
            return _load_h5(filepath, compile)
        filepath = os.fspath(filepath)
        if not os.path.exists(filepath):
            raise IOError("No file or directory found at %s" % filepath)
        if os.path.isdir(filepath):
            return _load_folder(filepath, compile)
        with weight_files.h5py().File(filepath, "r") as f:
            return _load_h5(f, compile)


def _text(value):
    return value.decode("utf-8") if hasattr(value, "decode") else value


def _load_h5(f, compile):
    if f.attrs.get("model_config") is None:
        raise ValueError("No model config found in the file at %s." % (f.filename if hasattr(f, "filename") else f))
    model = cloning.model_from_config(cloning.from_json(_text(f.attrs["model_config"])))
    weight_files.load_by_order(f["model_weights"], model)
    if not compile:
        return model
    training = f.attrs.get("training_config")
    if training is None:
        logging.getLogger("tensorflow").warning("No training configuration found in the save file, so the model was *not* compiled. "
                                                "Compile it manually.")
        return model
    _compiled(model, cloning.from_json(_text(training)), None)
    if "optimizer_weights" in f:
        model.optimizer._create_all_weights(model.trainable_weights)
        group = f["optimizer_weights"]
        model.optimizer.set_weights([np.asarray(group[n])[()] for n in weight_files._load_names(group, "weight_names")])
    return model


# ---- folders ----

def _save_folder(model, folder, overwrite, include_optimizer, signatures):
    """Writes a SavedModel for serving, with the configuration in assets and the weights as a checkpoint of the model.
    """
    if model.inputs is None:
        raise ValueError("Model %s cannot be saved because the input shapes have not been set: call it on data first." % model.name)
    if signatures is not None:
        raise NotImplementedError("tf.keras.models.save_model(signatures=...) needs functions of TensorFlow 2, which Weft has not: leave "
                                  "it out, and serving_default is written")
    if os.path.exists(folder):
        if not overwrite and not weight_files.ask_to_overwrite(folder):
            return
        _remove(folder)
    session = K.get_session()
    inputs, outputs = dict(zip(model.input_names, model.inputs)), dict(zip(model.output_names, model.outputs))
    builder = tf.saved_model.builder.SavedModelBuilder(folder)
    signature = tf.saved_model.signature_def_utils.predict_signature_def(inputs, outputs)
    builder.add_meta_graph_and_variables(session, [tf.saved_model.tag_constants.SERVING], {"serving_default": signature})
    builder.save()
    assets = os.path.join(folder, "assets")
    os.makedirs(assets, exist_ok=True)
    with open(os.path.join(assets, _JSON), "w") as f:
        json.dump(_metadata(model, include_optimizer), f, default=cloning._json)
    weight_files._Root(model).write(os.path.join(folder, "variables", "keras"), session)


def _remove(folder):
    """Removes the files of an earlier save from a folder."""
    import shutil
    for name in ("assets", "variables", "saved_model.pb", "saved_model.pbtxt", "keras_metadata.pb", "fingerprint.pb"):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)
    if os.path.isdir(folder) and not os.listdir(folder):
        os.rmdir(folder)


def _load_folder(folder, compile):
    path = os.path.join(folder, "assets", _JSON)
    if os.path.exists(path):
        with open(path) as f:
            found, weights = cloning.from_json(f.read()), os.path.join(folder, "variables", "keras")
    elif os.path.exists(os.path.join(folder, "keras_metadata.pb")):
        found, weights = _tensorflow_metadata(folder), os.path.join(folder, "variables", "variables")
    else:
        raise OSError("SavedModel at %s has no configuration of a Keras model: read it with tf.saved_model.loader.load" % folder)
    model = cloning.model_from_config(found["model_config"])
    weight_files.load(model, weights)
    if compile and found.get("training_config"):
        _compiled(model, found["training_config"], None)
        if isinstance(model.optimizer, optimizer_base.Optimizer):
            model.optimizer._create_all_weights(model.trainable_weights)
            weight_files.load(model, weights)
    return model


def _tensorflow_metadata(folder):
    """Returns the configuration that TensorFlow writes beside a SavedModel, in a message whose first node is the model.
    """
    with open(os.path.join(folder, "keras_metadata.pb"), "rb") as f:
        data = f.read()
    for node in _fields(data, 1):
        names = [v.decode() for v in _fields(node, 3)]
        for text in _fields(node, 5):
            found = cloning.from_json(text.decode())
            if names == ["root"] and "config" in found:
                made = {"model_config": {"class_name": found["class_name"], "config": found["config"]}}
                training = found.get("training_config")
                if training and isinstance(training.get("loss"), (str, dict, list, type(None))):
                    made["training_config"] = training
                return made
    raise OSError("keras_metadata.pb in %s describes no model that has a configuration" % folder)


def _fields(data, wanted):
    """Returns the values of a bytes field in a message."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            number()
        elif tag & 7 == 2:
            size = number()
            if tag >> 3 == wanted:
                yield data[at:at + size]
            at += size
        else:
            at += 8 if tag & 7 == 1 else 4
