"""tf.keras.Model: a layer that consists of layers and can be trained.

Model(inputs, outputs) is the graph of layers between Keras tensors (network.py).  A subclass that writes call() gets its inputs
when it first sees data.  training.py has compile, fit and the rest; saved_models.py has the files.
"""
import weft as tf
from weft._core.framework.nest import flatten, pack_like
from weft._core.keras import backend as K
from weft._core.keras.base_layer import Layer, unique_name
from weft._core.keras.network import LayerGraph, check_tensors
from weft._core.keras.node import needs_history
from weft._core.keras.op_layer import create_history
from weft._core.keras.training import Training
from weft._core.keras.weights import LayerWeights


def _is_functional(args, kwargs):
    return len(args) == 2 or (len(args) == 1 and "outputs" in kwargs) or ("inputs" in kwargs and "outputs" in kwargs)


class Model(Training, Layer):
    """A model, made as Model(inputs, outputs) or as a subclass that defines call()."""

    _is_graph_network = False

    def __new__(cls, *args, **kwargs):
        if cls is Model and _is_functional(args, kwargs):
            return super().__new__(Functional)
        return super().__new__(cls)

    def __init__(self, *args, **kwargs):
        functional = _is_functional(args, kwargs)
        names = ("inputs", "outputs", "name", "trainable") if functional else ()
        given = dict(zip(names, args), **kwargs)
        inputs, outputs = given.pop("inputs", None), given.pop("outputs", None)
        for key in given:
            if key not in ("trainable", "dtype", "dynamic", "name", "autocast"):
                raise TypeError("The following keyword arguments passed to `Model` aren't supported: {%r: %r}." % (key, given[key]))
        given.pop("autocast", None)
        if not functional and args:
            raise TypeError("Model() takes inputs and outputs, or keyword arguments alone; got %s" % (args,))
        super().__init__(**given)
        self._init_training()
        if functional:
            self._set_graph(inputs, outputs)

    # ---- a graph of layers ----

    def _set_graph(self, inputs, outputs):
        self.__dict__["_nested_inputs"], self.__dict__["_nested_outputs"] = inputs, outputs
        self.__dict__["inputs"], self.__dict__["outputs"] = flatten(inputs), flatten(outputs)
        if needs_history(self.outputs):
            create_history(self.outputs)
        check_tensors(self.inputs, "inputs", self.name)
        check_tensors(self.outputs, "outputs", self.name)
        if len({id(t) for t in self.inputs}) != len(self.inputs):
            raise ValueError("The list of inputs passed to the model contains the same input multiple times. All inputs should only "
                             "appear once. Received inputs=%s" % (self.inputs,))
        self.__dict__["_graph_of_layers"] = LayerGraph(self.inputs, self.outputs)
        self.__dict__.update(_is_graph_network=True, built=True, supports_masking=True)
        self.__dict__["input_names"] = [t._keras_history.layer.name for t in self.inputs]
        self.__dict__["output_names"] = self._unique_names([t._keras_history.layer.name for t in self.outputs])
        self._expect_inputs()

    @staticmethod
    def _unique_names(names):
        found, counts = [], {}
        for name in names:
            counts[name] = counts.get(name, 0) + 1
            found.append(name if counts[name] == 1 else "%s_%d" % (name, counts[name] - 1))
        return found

    def _nested_layers(self):
        if self._is_graph_network:
            return list(self._graph_of_layers.layers)
        return [x for x in super()._nested_layers() if isinstance(x, Layer)]

    _NOT_TRACKED = LayerWeights._NOT_TRACKED | frozenset([
        "inputs", "outputs", "input_names", "output_names", "_nested_inputs", "_nested_outputs", "_graph_of_layers", "history",
        "_training_state", "optimizer", "loss", "metrics_names", "_compile_metrics"])

    def _trackable_children(self):
        """Returns layers by their position, and layers with variables also by their position among these."""
        found = {}
        if not self._is_graph_network and not getattr(self, "_is_sequential", False):
            found.update(super()._trackable_children())
        weighted = 0
        for i, layer in enumerate(self._layers_to_save()):
            if layer.weights:
                found["layer_with_weights-%d" % weighted] = layer
                weighted += 1
            found["layer-%d" % i] = layer
        if self.optimizer is not None and hasattr(self.optimizer, "_trackable_children"):
            found["optimizer"] = self.optimizer
        return found

    def _layers_to_save(self):
        return self.layers if self._is_graph_network or getattr(self, "_is_sequential", False) else []

    @property
    def layers(self):
        return list(self._nested_layers())

    @property
    def weights(self):
        self._assert_weights_created()
        found = [v for layer in self._nested_layers() for v in layer.weights]
        found += self._own_weights(True) + self._own_weights(False)
        return list({id(v): v for v in found}.values())

    def _assert_weights_created(self):
        if not self.built and not self._is_graph_network and "build" in dir(type(self)) and not self._nested_built():
            raise ValueError("Weights for model '%s' have not yet been created. Weights are created when the model is first called on "
                             "inputs or `build()` is called with an `input_shape`." % self.name)

    def _nested_built(self):
        return any(layer.built for layer in self._nested_layers())

    @property
    def trainable_weights(self):
        self._assert_weights_created()
        return super().trainable_weights

    @property
    def non_trainable_weights(self):
        self._assert_weights_created()
        return super().non_trainable_weights

    @property
    def trainable(self):
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = value
        for layer in self._nested_layers():
            layer.trainable = value

    def call(self, inputs, training=None, mask=None):
        if not self._is_graph_network:
            raise NotImplementedError("Unimplemented `tf.keras.Model.call()`: if you intend to create a `Model` with the Functional API, "
                                      "please provide `inputs` and `outputs` arguments. Otherwise, subclass `Model` with an overridden "
                                      "`call()` method.")
        given = self._ordered(inputs)
        masks = None if mask is None else flatten(mask)
        made = self._graph_of_layers.run(given, masks, training)
        return pack_like(self._nested_outputs, made)

    def _ordered(self, inputs):
        """Returns the inputs of a call in the model's order; a dictionary is read by the names of the input layers."""
        if isinstance(inputs, dict) and isinstance(self._nested_inputs, dict):
            return [inputs[k] for k in sorted(self._nested_inputs)]
        if isinstance(inputs, dict):
            return [inputs[name] for name in self.input_names]
        return [x if isinstance(x, (tf.Tensor, tf.SparseTensor)) else tf.convert_to_tensor(x) for x in flatten(inputs)]

    def compute_mask(self, inputs, mask=None):
        if not self._is_graph_network:
            return None
        return None

    def _set_mask_metadata(self, inputs, outputs, masks):
        """Does nothing, because the last layers have set the masks of the outputs."""

    def build(self, input_shape):
        """Calls the model on placeholders, so that its layers make their variables."""
        if self._is_graph_network or self.built:
            self.built = True
            return
        shapes = input_shape if isinstance(input_shape, list) and input_shape and not isinstance(input_shape[0], (int, type(None))) \
            else [input_shape]
        graph_inputs = [tf.placeholder(self.dtype or K.floatx(), tf.TensorShape(s)) for s in shapes]
        with tf.name_scope(self.name):
            self.call(graph_inputs[0] if len(graph_inputs) == 1 else graph_inputs)
        self.built = True

    def _maybe_build(self, inputs):
        if self._is_graph_network or type(self).build is not Model.build:
            return super()._maybe_build(inputs)
        self.__dict__["built"] = True
        return None

    @property
    def input(self):
        if self._is_graph_network:
            return self._nested_inputs
        if self.__dict__.get("inputs"):
            return self.inputs if len(self.inputs) > 1 else self.inputs[0]
        return super().input

    @property
    def output(self):
        if self._is_graph_network:
            return self._nested_outputs
        if self.__dict__.get("outputs"):
            return self.outputs if len(self.outputs) > 1 else self.outputs[0]
        return super().output

    @property
    def input_shape(self):
        if self._is_graph_network:
            return pack_like(self._nested_inputs, [K.int_shape(t) for t in self.inputs])
        return super().input_shape

    @property
    def output_shape(self):
        if self._is_graph_network:
            return pack_like(self._nested_outputs, [K.int_shape(t) for t in self.outputs])
        return super().output_shape

    def compute_output_shape(self, input_shape):
        """Returns the shapes of the outputs for shapes of inputs, computed in a separate graph."""
        if not self._is_graph_network:
            return super().compute_output_shape(input_shape)
        if [tuple(tf.TensorShape(s).as_list()) for s in (input_shape if isinstance(input_shape, list) else [input_shape])] == [
                K.int_shape(t) for t in self.inputs]:
            shapes = [t.shape for t in self.outputs]
        else:
            given = input_shape if isinstance(input_shape, list) else [input_shape]
            with tf.name_scope("shapes"):
                made = self._graph_of_layers.run([tf.placeholder(t.dtype.base_dtype, s) for t, s in zip(self.inputs, given)])
            shapes = [t.shape for t in made]
        return shapes if len(shapes) > 1 else shapes[0]

    def count_params(self):
        return int(sum(v.shape.num_elements() for v in self.weights))

    def get_layer(self, name=None, index=None):
        """Returns the layer of a name or at a position."""
        if index is not None and name is not None:
            raise ValueError("Provide only a layer name or a layer index. Received: index=%s, name=%s." % (index, name))
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError("Was asked to retrieve layer at index %s but model only has %d layers." % (index, len(self.layers)))
            return self.layers[index]
        if name is None:
            raise ValueError("Provide either a layer name or layer index at `get_layer`.")
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError("No such layer: %s. Existing layers are: %s." % (name, [layer.name for layer in self.layers]))

    def reset_states(self):
        for layer in self.layers:
            if hasattr(layer, "reset_states") and getattr(layer, "stateful", False):
                layer.reset_states()

    @property
    def stateful(self):
        return any(getattr(layer, "stateful", False) for layer in self._nested_layers())

    @stateful.setter
    def stateful(self, value):
        """Whether any layer is stateful."""

    @property
    def state_updates(self):
        return [u for layer in self._nested_layers() if getattr(layer, "stateful", False) for u in layer.updates]

    @property
    def updates(self):
        """The updates of the layers, of all their calls."""
        if not self.trainable and not self.stateful:
            return []
        found = [u for layer in self._nested_layers() for u in layer.updates]
        found += [u() if callable(u) else u for u in self._updates]
        return list({id(u): u for u in found}.values())

    @property
    def losses(self):
        """The losses of the layers; those of calls outside this model's graph do not count."""
        found = super().losses
        if self._is_graph_network:
            from weft._core.keras.weights import reachable
            kept = set(map(id, reachable(self.inputs, found)))
            found = [x for x in found if id(x) in kept or getattr(x, "_unconditional_loss", True)]
        return list({id(x): x for x in found}.values())

    # ---- summaries and files ----

    def summary(self, line_length=None, positions=None, print_fn=None, expand_nested=False, show_trainable=False, layer_range=None):
        """Prints a table of the layers."""
        from weft._core.keras import summary_text
        if not self.built:
            raise ValueError("This model has not yet been built. Build the model first by calling `build()` or by calling the model on a "
                             "batch of data.")
        summary_text.print_summary(self, line_length, positions, print_fn, expand_nested, show_trainable, layer_range)

    def get_config(self):
        from weft._core.keras import cloning
        if self._is_graph_network:
            return cloning.network_config(self)
        return {}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        from weft._core.keras import cloning
        if "layers" in config and "input_layers" in config:
            return cloning.model_of(config, custom_objects, cls)
        return cls(**config)

    def to_json(self, **kwargs):
        from weft._core.keras import cloning
        return cloning.to_json(self, **kwargs)

    def to_yaml(self, **kwargs):
        raise RuntimeError("Method `model.to_yaml()` has been removed due to security risk of arbitrary code execution. Please use "
                           "`model.to_json()` instead.")

    def save(self, filepath, overwrite=True, include_optimizer=True, save_format=None, signatures=None, options=None, **kwargs):
        from weft._core.keras import saved_models
        saved_models.save_model(self, filepath, overwrite=overwrite, save_format=save_format, include_optimizer=include_optimizer,
                                signatures=signatures, options=options, **kwargs)

    def save_weights(self, filepath, overwrite=True, save_format=None, options=None):
        from weft._core.keras import weight_files
        weight_files.save(self, filepath, overwrite, save_format, options)

    def load_weights(self, filepath, by_name=False, skip_mismatch=False, options=None, **kwargs):
        from weft._core.keras import weight_files
        return weight_files.load(self, filepath, by_name, skip_mismatch, options)


class Functional(Model):
    """The class of Model(inputs, outputs)."""

    def _init_set_name(self, name, zero_based=True):
        super()._init_set_name(unique_name("model", zero_based) if name is None and type(self) is Functional else name, zero_based)
