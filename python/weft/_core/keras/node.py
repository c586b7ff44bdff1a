"""Records which layers made the tensors of Keras.

A tensor that a layer made of Keras tensors carries `_keras_history`: the layer, which of the layer's calls made it (an
index into layer._inbound_nodes), and which output of that call it is.  A Node is one call of a layer.
"""
import collections

from weft._core.framework.graph import Tensor
from weft._core.framework.nest import flatten, is_nested, map_structure, pack_like

KerasHistory = collections.namedtuple("KerasHistory", ["layer", "node_index", "tensor_index"])


def is_keras_tensor(x):
    return hasattr(x, "_keras_history")


def tensors_of(*structures):
    """Returns the tensors of nests, in order."""
    return [x for x in flatten(structures) if isinstance(x, Tensor) or hasattr(x, "_keras_history")]


def int_shape(x):
    """Returns the shape as a tuple of numbers and None, or None for an unknown rank."""
    shape = x.shape if hasattr(x, "shape") else x.get_shape()
    return None if shape.ndims is None else tuple(shape.as_list())


def shapes_of(structure):
    return map_structure(int_shape, structure) if is_nested(structure) else int_shape(structure)


class Node:
    """One call of a layer: layer(*call_args, **call_kwargs) gave outputs.

    layer, outbound_layer: the layer.  outputs, output_tensors: what call() returned.  input_tensors: the first argument.
    keras_inputs: all Keras tensors among the arguments.  iterate_inbound(): (layer, node_index, tensor_index, tensor) of each of
    them.  parent_nodes: the nodes that made them.  map_arguments(values): the arguments with each Keras tensor replaced by
    values[id(tensor)].
    """

    def __init__(self, layer, call_args=(), call_kwargs=None, outputs=None):
        self.layer = self.outbound_layer = layer
        self.is_input = not call_args and not call_kwargs
        self.call_args, self.call_kwargs = tuple(call_args), dict(call_kwargs or {})
        self.outputs = self.output_tensors = [outputs] if self.is_input else outputs
        self.keras_inputs = [x for x in tensors_of(self.call_args, self.call_kwargs) if is_keras_tensor(x)]
        self.input_tensors = self.outputs if self.is_input else self.call_args[0] if self.call_args else self.keras_inputs[0]
        for history in [x._keras_history for x in self.keras_inputs]:
            history.layer._outbound_nodes.append(self)
        index = len(layer._inbound_nodes)
        layer._inbound_nodes.append(self)
        for i, tensor in enumerate(flatten(outputs)):
            tensor._keras_history = KerasHistory(layer, index, i)
            tensor.graph.__dict__["_has_keras_tensors"] = True
            if self.is_input:
                tensor.graph.__dict__.pop("_keras_free", None)
        self.input_shapes, self.output_shapes = shapes_of(self.input_tensors), shapes_of(self.outputs)
        self.flat_input_ids = [str(id(x)) for x in self.keras_inputs]
        self.flat_output_ids = [str(id(x)) for x in flatten(outputs)]

    def iterate_inbound(self):
        for tensor in self.keras_inputs:
            yield (*tensor._keras_history, tensor)

    @property
    def inbound_layers(self):
        if self.is_input:
            return []
        found = [x._keras_history.layer for x in flatten(self.call_args[0] if self.call_args else []) if is_keras_tensor(x)]
        return pack_like(self.call_args[0], found) if is_nested(self.call_args[0]) and \
            len(found) == len(flatten(self.call_args[0])) else found[0] if len(found) == 1 else found

    @property
    def parent_nodes(self):
        found = [layer._inbound_nodes[index] for layer, index, _, _ in self.iterate_inbound()]
        return list(dict.fromkeys(found))

    def map_arguments(self, values):
        """Returns (args, kwargs) with every Keras tensor replaced by its entry of `values`, whose keys are id(tensor).
        """
        def replaced(x):
            return values.get(id(x), x) if is_keras_tensor(x) else x
        return map_structure(replaced, self.call_args), map_structure(replaced, self.call_kwargs)


def uses_history(tensor):
    """Returns True if the tensor is a Keras tensor or computed from one.

    Nodes that are not are remembered until a tensor becomes the input of a model, so that long graphs are not walked
    again.
    """
    graph, seen, front = tensor.graph, set(), [tensor._out]
    if not graph.__dict__.get("_has_keras_tensors"):
        return False
    free = graph.__dict__.setdefault("_keras_free", set())
    while front:
        out = front.pop()
        if out >> 16 in seen or out >> 16 in free:
            continue
        if is_keras_tensor(graph._tensor(out)):
            return True
        seen.add(out >> 16)
        front.extend(graph._c.inputs(out >> 16))
    free.update(seen)
    return False


def needs_history(structure):
    """Returns True if there are ops without a layer between Keras tensors and these."""
    found = [x for x in flatten(structure) if isinstance(x, Tensor)]
    return any(not is_keras_tensor(x) and uses_history(x) for x in found)
