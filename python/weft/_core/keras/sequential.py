"""tf.keras.Sequential: a model of layers in sequence."""
import weft as tf
from weft._core.framework.nest import flatten
from weft._core.keras.base_layer import Layer
from weft._core.keras.input_layer import Input, InputLayer
from weft._core.keras.models import Functional, Model


class Sequential(Functional):
    """A stack of layers. Its inputs follow from the first layer's shape, or from the first data."""

    _is_sequential = True

    def __init__(self, layers=None, name=None):
        Model.__init__(self, name=name)
        self.__dict__.update(_stack=[], _build_shape=None, supports_masking=True, built=False)
        for layer in (layers if isinstance(layers, (list, tuple)) else [layers] if layers else []):
            self.add(layer)

    _NOT_TRACKED = Model._NOT_TRACKED | frozenset(["_stack"])

    @property
    def layers(self):
        found = list(self._stack)
        return found[1:] if found and isinstance(found[0], InputLayer) else found

    def _nested_layers(self):
        return list(self._stack)

    def add(self, layer):
        """Adds a layer after the last."""
        if hasattr(layer, "_keras_history"):
            origin = layer._keras_history.layer
            if isinstance(origin, InputLayer):
                layer = origin
        if isinstance(layer, tf.Module) and not isinstance(layer, Layer):
            layer = _module_layer(layer)
        if not isinstance(layer, Layer):
            raise TypeError("The added layer must be an instance of class Layer. Received: layer=%s of type %s." % (layer, type(layer)))
        if any(x.name == layer.name and x is not layer for x in self._stack) or any(x is layer for x in self._stack):
            raise ValueError("All layers added to a Sequential model should have unique names. Name \"%s\" is already the name of a layer "
                             "in this model. Update the `name` argument to pass a unique name." % layer.name)
        self.__dict__["built"] = False
        if not self._stack:
            self._add_first(layer)
        else:
            if self.__dict__.get("outputs"):
                self._extend(layer(self.outputs[0]))
            self._stack.append(layer)
        if self.__dict__.get("outputs"):
            self._finish()

    def _add_first(self, layer):
        if isinstance(layer, InputLayer):
            self._stack.append(layer)
            self._begin(layer._inbound_nodes[-1].outputs[0])
            return
        shape, dtype = _first_shape(layer)
        if shape is not None:
            x = Input(batch_shape=shape, dtype=dtype, name=layer.name + "_input")
            made = layer(x)
            if len(flatten(made)) != 1:
                raise ValueError("All layers in a Sequential model should have a single output tensor. For multi-output layers, use the "
                                 "functional API.")
            self._stack.append(x._keras_history.layer)
            self._begin(x)
            self._extend(made)
        self._stack.append(layer)

    def _begin(self, tensor):
        self.__dict__["inputs"], self.__dict__["outputs"] = [tensor], [tensor]

    def _extend(self, made):
        if len(flatten(made)) != 1:
            raise ValueError("All layers in a Sequential model should have a single output tensor. For multi-output layers, use the "
                             "functional API.")
        self.__dict__["outputs"] = flatten(made)

    def _finish(self):
        """Updates the model's graph of layers after a layer was added."""
        self._set_graph(self.inputs[0] if len(self.inputs) == 1 else self.inputs, self.outputs[0])

    def pop(self):
        """Removes the last layer."""
        if not self._stack or not self.layers:
            raise TypeError("There are no layers in the model.")
        layer = self._stack.pop()
        if not self.layers:
            self.__dict__.update(outputs=None, inputs=None, built=False, _is_graph_network=False)
            self._stack.clear()
            layer._inbound_nodes.clear()
            layer._outbound_nodes.clear()
        elif self._is_graph_network:
            self.layers[-1]._outbound_nodes.clear()
            self.__dict__["outputs"] = flatten(self.layers[-1].output)
            self._finish()

    def build(self, input_shape=None):
        if self._is_graph_network:
            self._finish()
            return
        if input_shape is None:
            raise ValueError("Input shape must be defined when calling `build()` on a `Sequential` model.")
        self.__dict__["_build_shape"] = tuple(tf.TensorShape(input_shape).as_list())
        Model.build(self, input_shape)

    def _maybe_build(self, inputs):
        if not self._is_graph_network and self._build_shape is None:
            shape = flatten(inputs)[0].shape
            self.__dict__["_build_shape"] = None if shape.ndims is None else tuple(shape.as_list())
        self.__dict__["built"] = True

    def call(self, inputs, training=None, mask=None):
        if self._is_graph_network:
            return Model.call(self, inputs, training=training, mask=mask)
        x = inputs
        for layer in self.layers:
            kwargs = {}
            if layer._expects_training_arg and training is not None:
                kwargs["training"] = training
            x = layer(x, **kwargs)
        return x

    def compute_output_shape(self, input_shape):
        shape = input_shape
        for layer in self.layers:
            shape = layer.compute_output_shape(shape)
        return shape

    def predict_proba(self, x, batch_size=32, verbose=0):
        """Returns the probabilities that predict() returns."""
        return self.predict(x, batch_size, verbose)

    def predict_classes(self, x, batch_size=32, verbose=0):
        """Returns the class numbers of the predictions."""
        found = self.predict(x, batch_size=batch_size, verbose=verbose)
        return found.argmax(axis=-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")

    def get_config(self):
        from weft._core.keras import cloning
        return cloning.sequential_config(self)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        from weft._core.keras import cloning
        return cloning.sequential_of(config, custom_objects, cls)


def _first_shape(layer):
    """Returns (batch shape, type) of a first layer, which may be inside a model, or (None, None) if unknown."""
    while isinstance(layer, Model) and layer.layers:
        inner = layer._nested_layers()[0]
        if layer._is_graph_network:
            return tuple(layer.inputs[0].shape.as_list()), layer.inputs[0].dtype.base_dtype.name
        layer = inner
    return getattr(layer, "_batch_input_shape", None), layer.dtype


def _module_layer(module):
    from weft._core.keras.layers.core import Lambda
    return Lambda(module)
