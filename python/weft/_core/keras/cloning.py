"""Converts models to configurations and JSON and back, and copies models."""
import json

import numpy as np

import weft as tf
from weft._core.framework.nest import flatten, is_nested, map_structure
from weft._core.keras import serialization
from weft._core.keras.input_layer import Input, InputLayer
from weft._core.keras.node import is_keras_tensor

_VERSION = "2.15.0"


# ---- to configurations ----

def _layer_config(layer):
    return serialization.serialize_keras_object(layer)


def sequential_config(model):
    made = {"name": model.name, "layers": [_layer_config(layer) for layer in model._stack]}
    if not model._is_graph_network and model._build_shape is not None:
        made["build_input_shape"] = model._build_shape
    return made


def _kept_nodes(model, layer):
    return [n for n in layer._inbound_nodes if n in model._graph_of_layers.node_set]


def network_config(model):
    """Returns the layers of a model with the calls that connect them."""
    numbers = {}  # node -> its number among the calls of its layer in the model
    for layer in model.layers:
        for i, node in enumerate(_kept_nodes(model, layer)):
            numbers[node] = i
    layers = []
    for layer in model.layers:
        calls = [_call_config(node, numbers) for node in _kept_nodes(model, layer) if not node.is_input]
        made = _layer_config(layer)
        layers.append({**made, "name": layer.name, "inbound_nodes": calls})

    def place(tensor):
        layer, index, position = tensor._keras_history
        return [layer.name, numbers[layer._inbound_nodes[index]], position]
    return {"name": model.name, "trainable": model.trainable, "layers": layers,
            "input_layers": _placed(model._nested_inputs, place), "output_layers": _placed(model._nested_outputs, place)}


def _placed(structure, place):
    """Returns the places of tensors; a single tensor becomes a list of one."""
    if is_nested(structure):
        return map_structure(place, structure) if isinstance(structure, dict) else [place(t) for t in flatten(structure)]
    return [place(structure)]


def _call_config(node, numbers):
    def one(x):
        if not is_keras_tensor(x):
            return _plain(x)
        layer, index, position = x._keras_history
        return [layer.name, numbers.get(layer._inbound_nodes[index], 0), position]
    first = node.call_args[0] if node.call_args else None
    kwargs = {k: _plain_nest(v, one) for k, v in node.call_kwargs.items()}
    rest = node.call_args[1:]
    if rest:
        names = list(node.layer._call_parameters())[1:]
        kwargs.update((n, _plain_nest(v, one)) for n, v in zip(names, rest))
    if not is_nested(first):
        return [[*one(first), kwargs]]
    if isinstance(first, dict):
        return {k: [*one(v), kwargs] for k, v in first.items()}
    return [[*one(x), kwargs] if is_keras_tensor(x) else ["_CONSTANT_VALUE", -1, _plain(x), kwargs] for x in flatten(first)]


def _plain_nest(value, one):
    if is_nested(value):
        return map_structure(one, value)
    return one(value)


def _plain(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, tf.DType):
        return value.name
    return value


def to_json(model, **kwargs):
    made = {"class_name": type(model).__name__, "config": model.get_config(), "keras_version": _VERSION, "backend": "tensorflow"}
    return json.dumps(made, default=_json, **kwargs)


def _json(value):
    if hasattr(value, "get_config"):
        return serialization.serialize_keras_object(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist() if isinstance(value, np.ndarray) else value.item()
    if callable(value):
        return value.__name__
    if isinstance(value, tf.DType):
        return value.name
    if isinstance(value, tf.TensorShape):
        return {"class_name": "TensorShape", "items": value.as_list()}
    raise TypeError("Not JSON Serializable: %s" % (value,))


# ---- from configurations ----

def from_json(text):
    """Parses JSON with the tuples and shapes that TensorFlow marks."""
    def decoded(found):
        if found.get("class_name") in ("__tuple__", "TensorShape") and set(found) == {"class_name", "items"}:
            return tuple(found["items"])
        return found
    return json.loads(text, object_hook=decoded)


def layer_of(config, custom_objects=None):
    from weft.keras import layers
    return layers.deserialize(config, custom_objects=custom_objects) if hasattr(layers, "deserialize") else _found(config, custom_objects)


def _found(config, custom_objects):
    from weft._core.keras import models, sequential
    from weft.keras import layers as public
    known = {n: getattr(public, n) for n in public.__all__}
    known.update(Sequential=sequential.Sequential, Model=models.Model, Functional=models.Functional)
    return serialization.deserialize_keras_object(config, module_objects=known, custom_objects=custom_objects,
                                                  printable_module_name="layer")


def deserialized(config, custom_objects=None):
    """Returns the layer or model of a configuration."""
    from weft._core.keras import models, sequential
    own = {"Sequential": sequential.Sequential, "Model": models.Model, "Functional": models.Functional}
    if config["class_name"] in own and config["class_name"] not in (custom_objects or {}):
        return own[config["class_name"]].from_config(config["config"], custom_objects=custom_objects)
    return layer_of(config, custom_objects)


def sequential_of(config, custom_objects, cls):
    name, shape = (config.get("name"), config.get("build_input_shape")) if isinstance(config, dict) else (None, None)
    layers = config["layers"] if isinstance(config, dict) else config
    model = cls(name=name)
    for layer in layers:
        model.add(deserialized(layer, custom_objects))
    if not model.inputs and shape and isinstance(shape, (tuple, list)):
        model.build(tuple(shape))
    return model


def model_of(config, custom_objects, cls, created=None):
    """Returns the model of a configuration from network_config. created: {name: existing layer}."""
    made, waiting = {}, []
    for given in config["layers"]:
        layer = created[given["name"]] if created and given["name"] in created else deserialized(given, custom_objects)
        made[given["name"]] = layer
        calls = given["inbound_nodes"]
        for call in calls if isinstance(calls, list) else [calls]:
            waiting.append((layer, call))
    outputs = {}
    for name, layer in made.items():
        if isinstance(layer, InputLayer):
            outputs[name] = [layer._inbound_nodes[0].outputs]
    names = {id(layer): name for name, layer in made.items()}
    while waiting:
        left = []
        for layer, call in waiting:
            if not _call(layer, call, outputs, names[id(layer)]):
                left.append((layer, call))
        if len(left) == len(waiting):
            raise ValueError("The configuration has calls whose inputs nothing makes: %s" % [(x.name, c) for x, c in left])
        waiting = left

    def tensor(place):
        return flatten(outputs[place[0]][place[1]])[place[2]]
    inputs, results = (_tensors(config[k], tensor) for k in ("input_layers", "output_layers"))
    from weft._core.keras.models import Functional, Model
    kind = Functional if cls in (Model, Functional) else cls
    model = kind(inputs=inputs, outputs=results, name=config.get("name"))
    if config.get("trainable") is False:
        model.trainable = False
    return model


def _tensors(places, tensor):
    if isinstance(places, dict):
        return {k: tensor(v) for k, v in places.items()}
    if places and not isinstance(places[0], (list, tuple)):
        return tensor(places)
    found = [tensor(p) for p in places]
    return found[0] if len(found) == 1 else found


def _call(layer, call, outputs, called):
    """Calls a layer again as a configuration says; returns False if an input does not exist yet."""
    rows = list(call.values()) if isinstance(call, dict) else call
    rows = [rows] if rows and isinstance(rows[0], str) else rows
    inputs, kwargs = [], {}
    for row in rows:
        name, node, position = row[:3]
        kwargs = row[3] if len(row) > 3 else {}
        if name == "_CONSTANT_VALUE":
            inputs.append(position)
            continue
        if len(outputs.get(name, ())) <= node:
            return False
        inputs.append(flatten(outputs[name][node])[position])
    given = {}
    for key, value in kwargs.items():
        found = _argument(value, outputs)
        if found is _WAIT:
            return False
        given[key] = found
    first = dict(zip(call, inputs)) if isinstance(call, dict) else inputs[0] if len(inputs) == 1 else inputs
    outputs.setdefault(called, []).append(layer(first, **given))
    return True


_WAIT = object()


def _argument(value, outputs):
    """Returns the value of a keyword argument; a place [layer, node, tensor] means that tensor."""
    if isinstance(value, (list, tuple)) and len(value) == 3 and isinstance(value[0], str) and isinstance(value[1], int):
        if len(outputs.get(value[0], ())) <= value[1]:
            return _WAIT
        return flatten(outputs[value[0]][value[1]])[value[2]]
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)):
        found = [_argument(v, outputs) for v in value]
        return _WAIT if any(f is _WAIT for f in found) else found
    return value


def model_from_config(config, custom_objects=None):
    """Returns the model of {"class_name": ..., "config": ...}."""
    if isinstance(config, list):
        raise TypeError("`model_from_config` expects a dictionary, not a list. Received: config=%s. Did you mean to use "
                        "`Sequential.from_config(config)`?" % (config,))
    return deserialized(config, custom_objects)


def model_from_json(json_string, custom_objects=None):
    return deserialized(from_json(json_string), custom_objects)


def model_from_yaml(yaml_string, custom_objects=None):
    raise RuntimeError("Method `model_from_yaml()` has been removed due to security risk of arbitrary code execution. Please use "
                       "`Model.to_json()` and `model_from_json()` instead.")


# ---- copies ----

def clone_model(model, input_tensors=None, clone_function=None):
    """Returns a model of the same layers with new variables."""
    from weft._core.keras.models import Functional
    from weft._core.keras.sequential import Sequential
    clone = clone_function or (lambda layer: type(layer).from_config(layer.get_config()))
    if isinstance(model, Sequential):
        return _clone_sequential(model, input_tensors, clone, Sequential)
    if not getattr(model, "_is_graph_network", False):
        if clone_function is not None or input_tensors is not None:
            raise ValueError("Expected `model` argument to be a functional `Model` instance, but got a subclassed model "
                             "instead: %s" % model)
        return type(model).from_config(model.get_config())
    created = {t._keras_history.layer.name: new._keras_history.layer for t, new in zip(model.inputs, _new_inputs(model, input_tensors))}
    for layer in model.layers:
        if layer.name not in created:
            created[layer.name] = clone_model(layer) if isinstance(layer, Functional) and clone_function is None else clone(layer)
    return model_of(network_config(model), None, Functional, created)


def _new_inputs(model, given):
    if given is not None:
        return [t if is_keras_tensor(t) else Input(tensor=t, name="input_wrapper_for_" + x._keras_history.layer.name)
                for t, x in zip(flatten(given), model.inputs)]
    return [Input(batch_shape=tuple(t.shape.as_list()), dtype=t.dtype.base_dtype.name, name=t._keras_history.layer.name)
            for t in model.inputs]


def _clone_sequential(model, input_tensors, clone, cls):
    layers = [clone(layer) for layer in model.layers]
    if input_tensors is None:
        first = [model._stack[0]] if model._stack and isinstance(model._stack[0], InputLayer) else []
        return cls([InputLayer.from_config(x.get_config()) for x in first] + layers, name=model.name)
    tensor = flatten(input_tensors)[0]
    tensor = tensor if is_keras_tensor(tensor) else Input(tensor=tensor, name="input_wrapper_for_" + str(model.name))
    return cls([tensor._keras_history.layer] + layers, name=model.name)
