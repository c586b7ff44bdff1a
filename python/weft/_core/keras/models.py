"""tf.keras.models.Model: the layers between two tensors.  A tf.Session and tf.train train them."""
from weft._core.framework.absent import Named, where
from weft._core.framework.build import convert_to_tensor


def _listed(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


class Model(metaclass=Named):
    def __init__(self, inputs=None, outputs=None, name=None, **kwargs):
        if inputs is None or outputs is None:
            raise NotImplementedError("tf.keras.models.Model without inputs and outputs is not in Weft%s: call the layers on "
                                      "tensors, and give both" % where())
        self.inputs, self.outputs, self.name = _listed(inputs), _listed(outputs), name or "model"
        self.input, self.output = inputs, outputs
        self._made = self.outputs[0].graph.__dict__.get("_keras_made", {})
        self.layers = []
        for out in self.outputs:
            self._walk(out)

    def _walk(self, tensor):
        """The layers before a tensor, in the order in which they are called."""
        if any(tensor is i for i in self.inputs):
            return
        if tensor._out not in self._made:
            raise ValueError("Graph disconnected: cannot obtain value for tensor %s of a Model, which no layer made" % tensor)
        layer, before = self._made[tensor._out]
        for t in _listed(before):
            self._walk(t)
        if layer not in self.layers:
            self.layers.append(layer)

    def __call__(self, inputs):
        values = {id(old): convert_to_tensor(new) for old, new in zip(self.inputs, _listed(inputs))}

        def value(tensor):
            if id(tensor) not in values:
                layer, before = self._made[tensor._out]
                values[id(tensor)] = layer([value(t) for t in before] if isinstance(before, list) else value(before))
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
