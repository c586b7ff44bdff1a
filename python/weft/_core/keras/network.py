"""The graph of layers between Keras tensors: its calls in order, and the layers by depth."""
from weft._core.framework.nest import flatten
from weft._core.keras.node import is_keras_tensor


class LayerGraph:
    """The nodes and layers that compute outputs from inputs.

    nodes: the calls, those that others depend on first.  layers: the layers, in Keras's order: by the longest path to an
    output, and among equals in the order in which they are met from the outputs.
    """

    def __init__(self, inputs, outputs):
        self.inputs, self.outputs = inputs, outputs
        self._indices, found = {}, []
        self._visit_all(outputs, found)
        self._depths(found)
        self._check()

    def _visit_all(self, outputs, found):
        finished, in_progress = set(), set()
        for tensor in outputs:
            self._visit(tensor, finished, in_progress, found)

    def _visit(self, tensor, finished, in_progress, found):
        layer, index, _ = tensor._keras_history
        node = layer._inbound_nodes[index]
        if node in finished:
            return
        if node in in_progress:
            raise ValueError('Tensor %s from layer "%s" is part of a cycle.' % (tensor, layer.name))
        self._indices.setdefault(layer, len(self._indices))
        in_progress.add(node)
        if not any(tensor is i for i in self.inputs):
            for given in node.keras_inputs:
                self._visit(given, finished, in_progress, found)
        finished.add(node)
        in_progress.discard(node)
        found.append(node)

    def _depths(self, found):
        nodes, layers = {}, {}
        for node in reversed(found):
            depth = max(nodes.setdefault(node, 0), layers.get(node.layer, 0))
            layers[node.layer] = nodes[node] = depth
            if any(t is i for t in flatten(node.outputs) for i in self.inputs):
                continue
            for parent in node.parent_nodes:
                nodes[parent] = max(depth + 1, nodes.get(parent, 0))
        for tensor in self.inputs:
            layer, index, _ = tensor._keras_history
            if layer not in layers:
                layers[layer], self._indices[layer] = 0, -1
                nodes[layer._inbound_nodes[index]] = 0
        self.nodes_by_depth, by_depth = {}, {}
        for node, depth in nodes.items():
            self.nodes_by_depth.setdefault(depth, []).append(node)
        for layer, depth in layers.items():
            by_depth.setdefault(depth, []).append(layer)
        self.layers = [layer for depth in sorted(by_depth, reverse=True)
                       for layer in sorted(by_depth[depth], key=lambda x: self._indices[x])]
        self.nodes = [node for depth in sorted(self.nodes_by_depth, reverse=True) for node in self.nodes_by_depth[depth]]
        self.node_set = set(self.nodes)

    def _check(self):
        """Checks that every tensor can be computed from the inputs, and that the names of layers are unique."""
        known, done = {id(t) for t in self.inputs}, []
        for node in self.nodes:
            if any(id(t) in known for t in flatten(node.outputs)) or node.is_input:
                known.update(id(t) for t in flatten(node.outputs) if id(t) in known)
                if node.is_input and not any(id(t) in known for t in flatten(node.outputs)):
                    continue
                done.append(node.layer.name)
                continue
            for tensor in node.keras_inputs:
                if id(tensor) not in known:
                    raise ValueError('Graph disconnected: cannot obtain value for tensor %s at layer "%s". The following previous layers '
                                     "were accessed without issue: %s" % (tensor, node.layer.name, done))
            known.update(id(t) for t in flatten(node.outputs))
            done.append(node.layer.name)
        for tensor in self.outputs:
            if id(tensor) not in known:
                raise ValueError('Graph disconnected: cannot obtain value for tensor %s at layer "%s". The following previous layers '
                                 "were accessed without issue: %s" % (tensor, tensor._keras_history.layer.name, done))
        names = [layer.name for layer in self.layers]
        for name in names:
            if names.count(name) != 1:
                raise ValueError('The name "%s" is used %d times in the model. All layer names should be unique.' % (
                    name, names.count(name)))

    def run(self, inputs, masks=None, training=None):
        """Returns the outputs for other inputs by calling every layer again."""
        values = {}
        for old, new, mask in zip(self.inputs, inputs, masks or [None] * len(inputs)):
            if mask is not None:
                new._keras_mask = mask
            values[id(old)] = new
        for node in self.nodes:
            if node.is_input or all(id(t) in values for t in flatten(node.outputs)):
                continue
            if any(id(t) not in values for t in node.keras_inputs):
                continue
            args, kwargs = node.map_arguments(values)
            if training is not None and node.layer._expects_training_arg and kwargs.get("training") is None:
                kwargs["training"] = training
            made = node.layer(*args, **kwargs)
            for old, new in zip(flatten(node.outputs), flatten(made)):
                values[id(old)] = new
        return [values[id(t)] for t in self.outputs]


def check_tensors(tensors, what, name):
    """Raises an error unless inputs and outputs of a model are Keras tensors."""
    for x in tensors:
        if not is_keras_tensor(x):
            if what == "inputs":
                raise ValueError("Found unexpected instance while processing input tensors for keras functional model. Expecting "
                                 "KerasTensor which is from tf.keras.Input() or output from keras layer call(). Got: %s" % (x,))
            raise ValueError("Output tensors of a %s model must be the output of a TensorFlow `Layer` (thus holding past layer metadata). "
                             "Found: %s" % (name, x))
