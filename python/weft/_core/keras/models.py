"""tf.keras.models.Model: the layers between two tensors.  A tf.Session and tf.train train them."""
from weft._core.framework.absent import Named, where
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.nest import flatten
from weft._core.keras.node import is_keras_tensor, needs_history
from weft._core.keras.op_layer import create_history


def _listed(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


class Model(metaclass=Named):
    def __init__(self, inputs=None, outputs=None, name=None, **kwargs):
        if inputs is None or outputs is None:
            raise NotImplementedError("tf.keras.models.Model without inputs and outputs is not in Weft%s: call the layers on "
                                      "tensors, and give both" % where())
        self.inputs, self.outputs, self.name = _listed(inputs), _listed(outputs), name or "model"
        self.input, self.output = inputs, outputs
        if needs_history(self.outputs):
            create_history(self.outputs)
        self.layers = []
        for out in self.outputs:
            self._walk(out)

    def _walk(self, tensor):
        """The layers before a tensor, in the order in which they are called."""
        if not is_keras_tensor(tensor):
            raise ValueError("Graph disconnected: cannot obtain value for tensor %s of a Model, which no layer made" % tensor)
        layer, index, _ = tensor._keras_history
        if not any(tensor is i for i in self.inputs):
            if layer._inbound_nodes[index].is_input:
                raise ValueError("Graph disconnected: cannot obtain value for tensor %s at layer %s" % (tensor, layer.name))
            for t in layer._inbound_nodes[index].keras_inputs:
                self._walk(t)
        if layer not in self.layers:
            self.layers.append(layer)

    def __call__(self, inputs):
        values = {id(old): convert_to_tensor(new) for old, new in zip(self.inputs, _listed(inputs))}

        def value(tensor):
            if id(tensor) not in values:
                layer, index, _ = tensor._keras_history
                node = layer._inbound_nodes[index]
                args, kwargs = node.map_arguments({id(t): value(t) for t in node.keras_inputs})
                for old, new in zip(flatten(node.outputs), flatten(layer(*args, **kwargs))):
                    values[id(old)] = new
            return values[id(tensor)]
        made = [value(t) for t in self.outputs]
        return made if isinstance(self.output, (list, tuple)) else made[0]

    weights = variables = property(lambda self: [v for layer in self.layers for v in layer.weights])
    trainable_weights = trainable_variables = property(lambda self: [v for layer in self.layers for v in layer.trainable_weights])

    def count_params(self):
        return sum(v.shape.num_elements() for v in self.weights)

    def __getattr__(self, name):
        if name in ("compile", "fit", "fit_generator", "evaluate", "predict", "train_on_batch", "save", "load_weights"):
            raise NotImplementedError("tf.keras.models.Model.%s is not in Weft%s: train model.output with an optimizer of tf.train in "
                                      "a tf.Session; tf.train.Saver keeps its weights" % (name, where()))
        raise AttributeError("tf.keras.models.Model has no %r" % name)
