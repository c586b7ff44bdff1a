"""Prints the table of tf.keras.Model.summary, and finds the inputs of a tensor."""
import math
import re

from weft._core.framework.nest import flatten
from weft._core.keras.progbar import print_msg


def count(weights):
    return int(sum(v.shape.num_elements() for v in {id(v): v for v in weights}.values()))


def _bytes(weights):
    total = float(sum(v.shape.num_elements() * v.dtype.base_dtype.size for v in {id(v): v for v in weights}.values()))
    if total == 0:
        return "0.00 Byte"
    unit = min(math.floor(math.log(total, 1024)), 5)
    return "%.2f %s" % (total / 1024 ** unit, ("Byte", "KB", "MB", "GB", "TB", "PB")[unit])


def _is_sequential(model):
    """Returns whether the layers are in sequence, so that the table needs no connections."""
    if getattr(model, "_is_sequential", False) or not model._is_graph_network:
        return True
    for nodes in model._graph_of_layers.nodes_by_depth.values():
        if len(nodes) > 1 or (len(nodes) == 1 and len(nodes[0].keras_inputs) > 1):
            return False
    found = [node for layer in model.layers for node in layer._inbound_nodes if node in model._graph_of_layers.node_set]
    return len(found) <= len(model.layers)


class _Table:
    def __init__(self, model, line_length, positions, print_fn, show_trainable):
        self.model, self.sequential, self.print = model, _is_sequential(model), print_fn
        length, places = (65, [0.45, 0.85, 1.0]) if self.sequential else (98, [0.3, 0.6, 0.70, 1.0])
        titles = ["Layer (type)", "Output Shape", "Param #"]
        if not self.sequential:
            titles.append("Connected to")
        if show_trainable:
            length += 11
            titles.append("Trainable")
            places = [p * (length - 11) / length for p in places] + [1.0] if places[-1] <= 1 else places
        self.length, places, self.titles, self.trainable = line_length or length, positions or places, titles, show_trainable
        self.places = [int(self.length * p) for p in places] if places[-1] <= 1 else places

    def row(self, fields, depth=0):
        """Prints a row of fields, on several lines if they are wide; a list has a line for each element."""
        left = [_listed(f) if isinstance(f, list) else str(f) for f in fields]
        while any(left):
            line = "|" * depth + " "
            for i, end in enumerate(self.places[:len(left)]):
                if i:
                    line += " " * max(0, self.places[i - 1] - len(line))
                room = end - len(line) - ((3 if i else 2) if i < len(self.places) - 1 else 0)
                if isinstance(left[i], list):
                    part, rest = _cut(left[i][0] if left[i] else "", max(1, room))
                    left[i] = ([rest] if rest else []) + left[i][1:]
                else:
                    part, left[i] = _cut(left[i], max(1, room))
                line += part
                line += " " * (end - len(line))
            self.print(line[:-depth] + "|" * depth if depth else line)

    def connections(self, layer):
        found = []
        for node in layer._inbound_nodes:
            if self.model._is_graph_network and node not in self.model._graph_of_layers.node_set:
                continue
            for inbound, index, tensor_index, _ in node.iterate_inbound():
                found.append("%s[%s][%s]" % (inbound.name, index, tensor_index))
        return found


def _listed(names):
    """Returns the lines that show a list."""
    if not names:
        return ["[]"]
    lines = ["%r," % n for n in names]
    lines[0], lines[-1] = "[" + lines[0], lines[-1][:-1] + "]"
    if len(lines) == 1:
        return ["[%r]" % names[0]]
    return [lines[0]] + [" " + line for line in lines[1:]]


def _cut(text, room):
    """Returns (the part that fits in a field, the rest)."""
    return (text, "") if len(text) <= room else (text[:room], text[room:])


def _output_shape(layer):
    from weft._core.keras.input_layer import InputLayer
    from weft._core.keras.op_layer import TensorFlowOpLayer
    try:
        shape = layer.output_shape
    except (AttributeError, RuntimeError):
        return "multiple"
    return "[%s]" % (shape,) if isinstance(layer, (InputLayer, TensorFlowOpLayer)) and not isinstance(shape, list) else str(shape)


def _in_model(model, layer):
    """Returns whether the layer was called on Keras tensors, so that its shape is known."""
    return bool(layer._inbound_nodes)


def _params(layer):
    if not layer.built and not getattr(layer, "_is_graph_network", False):
        return "0 (unused)"
    return count(layer.weights)


def _rows(table, layers, depth, expand_nested):
    for layer in layers:
        name = "%s (%s)" % (layer.name, type(layer).__name__)
        shape = _output_shape(layer) if _in_model(table.model, layer) else "multiple"
        fields = [name, shape, _params(layer)]
        if not table.sequential:
            fields.append(table.connections(layer))
        if table.trainable:
            fields.append("Y" if layer.trainable else "N")
        table.row(fields, depth)
        nested = [x for x in getattr(layer, "layers", [])] if hasattr(layer, "_is_graph_network") else []
        if expand_nested and nested:
            table.print("|" * (depth + 1) + "¯" * (table.length - 2 * depth - 2) + "|" * (depth + 1))
            _rows(table, nested, depth + 1, expand_nested)
            table.print("|" * depth + "¯" * (table.length - 2 * depth) + "|" * depth)
        elif layer is not layers[-1] or not depth:
            table.print("|" * depth + " " * (table.length - 2 * depth) + "|" * depth)


def _ranged(layers, layer_range):
    if not layer_range:
        return layers
    if len(layer_range) != 2 or not all(isinstance(r, str) for r in layer_range):
        raise ValueError("layer_range must be a list or tuple of 2 strings; got %s" % (layer_range,))
    low = [i for i, x in enumerate(layers) if re.match(layer_range[0], x.name)]
    high = [i for i, x in enumerate(layers) if re.match(layer_range[1], x.name)]
    if not low or not high:
        raise ValueError("Passed layer_names do not match the layer names in the model. Received: %s" % (layer_range,))
    return layers[min(low + high):max(low + high) + 1]


def print_summary(model, line_length=None, positions=None, print_fn=None, expand_nested=False, show_trainable=False, layer_range=None):
    """Prints the layers of a model with their shapes and numbers of parameters."""
    table = _Table(model, line_length, positions, print_fn or print_msg, show_trainable)
    table.print('Model: "%s"' % model.name)
    table.print("_" * table.length)
    table.row(table.titles)
    table.print("=" * table.length)
    _rows(table, _ranged(model.layers, layer_range), 0, expand_nested)
    table.print("=" * table.length)
    learnt, fixed = model.trainable_weights, model.non_trainable_weights
    table.print("Total params: %d (%s)" % (count(learnt + fixed), _bytes(learnt + fixed)))
    table.print("Trainable params: %d (%s)" % (count(learnt), _bytes(learnt)))
    table.print("Non-trainable params: %d (%s)" % (count(fixed), _bytes(fixed)))
    table.print("_" * table.length)


def get_source_inputs(tensor, layer=None, node_index=None):
    """Returns the inputs that a Keras tensor is computed from."""
    if not hasattr(tensor, "_keras_history"):
        return [tensor]
    if layer is None or node_index:
        layer, node_index, _ = tensor._keras_history
    if not layer._inbound_nodes:
        return [tensor]
    node = layer._inbound_nodes[node_index]
    if node.is_input:
        return flatten(node.outputs)
    found = []
    for x in node.keras_inputs:
        found += [t for t in get_source_inputs(x) if all(t is not f for f in found)]
    return found
