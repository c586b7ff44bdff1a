"""Layers that wrap layers: TimeDistributed and Bidirectional."""
import copy

from weft._core.framework.graph import name_scope
from weft._core.framework.nest import flatten
from weft._core.framework.tensor_shape import TensorShape
from weft._core.keras import backend
from weft._core.keras.base_layer import Layer
from weft._core.keras.input_spec import InputSpec
from weft._core.keras.layers.recurrent import _inherit_dtype, _standard
from weft._core.keras.layers.serialization import deserialize, serialize
from weft._core.keras.node import int_shape, is_keras_tensor
from weft._core.ops import array_ops, math_ops


class Wrapper(Layer):
    """The base of layers that wrap a layer."""

    def __init__(self, layer, **kwargs):
        self.layer = layer
        super().__init__(**kwargs)

    def build(self, input_shape=None):
        if not self.layer.built:
            _inherit_dtype(self, self.layer)
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    @property
    def activity_regularizer(self):
        return getattr(self.layer, "activity_regularizer", None)

    @activity_regularizer.setter
    def activity_regularizer(self, value):
        self._activity_regularizer = value

    def get_config(self):
        return dict(self._configured(()), layer=serialize(self.layer))

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = copy.deepcopy(config)
        return cls(deserialize(config.pop("layer"), custom_objects=custom_objects), **config)


class TimeDistributed(Wrapper):
    """Applies a layer to every step of a sequence."""

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError("Please initialize `TimeDistributed` layer with a `tf.keras.layers.Layer` instance. Received: %s" % (layer,))
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        dims = TensorShape(input_shape).as_list()
        if len(dims) < 3:
            raise ValueError("`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 dimensions, received: %s" % dims)
        self.input_spec = InputSpec(shape=[None, None] + dims[2:])
        super().build(TensorShape([dims[0]] + dims[2:]))

    def compute_output_shape(self, input_shape):
        dims = TensorShape(input_shape).as_list()
        made = TensorShape(self.layer.compute_output_shape(TensorShape([dims[0]] + dims[2:]))).as_list()
        return TensorShape([made[0], dims[1]] + made[1:])

    def call(self, inputs, training=None, mask=None):
        given = {"training": training} if "training" in self.layer._call_parameters() else {}
        shape = int_shape(inputs)
        return self._flat(inputs, shape, given, mask)

    def _flat(self, inputs, shape, given, mask):
        """Applies the layer to all steps of all examples at once."""
        steps = shape[1] if shape[1] else array_ops.shape(inputs)[1]
        flat = array_ops.reshape(inputs, [-1] + [n if n is not None else array_ops.shape(inputs)[2 + i] for i, n in enumerate(shape[2:])])
        if "mask" in self.layer._call_parameters() and mask is not None:
            rest = int_shape(mask)[2:]
            given = dict(given, mask=array_ops.reshape(mask, [-1] + list(rest)))
        made = self.layer(flat, **given)
        out = int_shape(made)
        batch = shape[0] or -1
        made = array_ops.reshape(made, [batch, steps] + [n if n is not None else array_ops.shape(made)[1 + i]
                                                         for i, n in enumerate(out[1:])])
        made.set_shape([shape[0], shape[1]] + list(out[1:]))
        return made

    def compute_mask(self, inputs, mask=None):
        overridden = type(self.layer).compute_mask is not Layer.compute_mask
        if mask is None or not (overridden or self.layer.supports_masking):
            return mask
        if not overridden:
            return mask
        shape = int_shape(inputs)
        flat = array_ops.reshape(inputs, [-1] + list(shape[2:]))
        found = self.layer.compute_mask(flat, array_ops.reshape(mask, [-1] + list(int_shape(mask)[2:])))
        if found is None:
            out = mask
            for _ in range(2, len(int_shape(mask))):
                out = math_ops.reduce_any(out, axis=-1)
            return out
        return array_ops.reshape(found, [-1, shape[1] or array_ops.shape(inputs)[1]] + list(int_shape(found)[1:]))


_NO_CONSTANTS = "Support for passing constants to `Bidirectional` layers is not in Weft: pass them to the cell"


class Bidirectional(Wrapper):
    """Runs a recurrent layer forwards and a copy of it backwards, and merges the outputs."""

    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError("Please initialize `Bidirectional` layer with a `tf.keras.layers.Layer` instance. Received: %s" % (layer,))
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError("`backward_layer` need to be a `tf.keras.layers.Layer` instance. Received: %s" % (backward_layer,))
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError("Invalid merge mode. Received: %s. Merge mode should be one of {\"sum\", \"mul\", \"ave\", \"concat\", None}" %
                             merge_mode)
        super().__init__(layer, **{k: v for k, v in kwargs.items()})
        self.forward_layer = self._again(layer)
        given = backward_layer is not None
        self.backward_layer = backward_layer if given else self._again(layer, go_backwards=True)
        if given:
            self._backward_layer_config = serialize(backward_layer)
        self.forward_layer._name = "forward_" + self.forward_layer.name
        self.backward_layer._name = "backward_" + self.backward_layer.name
        self._check_layers()
        self.merge_mode, self.stateful, self.return_sequences = merge_mode, layer.stateful, layer.return_sequences
        self.return_state, self.supports_masking = layer.return_state, True
        self._runs_backward_given, self._num_constants, self.input_spec = given, 0, layer.input_spec
        if weights:
            half = len(weights) // 2
            self.forward_layer._initial_weights, self.backward_layer._initial_weights = weights[:half], weights[half:]

    def _nested_layers(self):
        return [self.forward_layer, self.backward_layer]

    @staticmethod
    def _again(layer, go_backwards=None):
        config = layer.get_config()
        if go_backwards:
            config["go_backwards"] = not config["go_backwards"]
        return type(layer).from_config(config)

    def _check_layers(self):
        if self.forward_layer.go_backwards == self.backward_layer.go_backwards:
            raise ValueError("Forward layer and backward layer should have different `go_backwards` value. Received: "
                             "forward_layer.go_backwards %s, backward_layer.go_backwards=%s" % (
                                 self.forward_layer.go_backwards, self.backward_layer.go_backwards))
        for name in ("stateful", "return_sequences", "return_state"):
            a, b = getattr(self.forward_layer, name), getattr(self.backward_layer, name)
            if a != b:
                raise ValueError("Forward layer and backward layer are expected to have the same value for attribute \"%s\", got \"%s\" "
                                 "for forward layer and \"%s\" for backward layer" % (name, a, b))

    def build(self, input_shape):
        for layer in (self.forward_layer, self.backward_layer):
            _inherit_dtype(self, layer)
            with name_scope(layer.name):
                layer.build(input_shape)
                layer.built = True
        self.built = True

    def compute_output_shape(self, input_shape):
        found = self.forward_layer.compute_output_shape(input_shape)
        states = found[1:] if self.return_state else []
        dims = TensorShape(found[0] if self.return_state else found).as_list()
        if self.merge_mode == "concat":
            dims[-1] *= 2
        made = [TensorShape(dims)] * (2 if self.merge_mode is None else 1)
        if self.return_state:
            return made + states + list(states)
        return made if self.merge_mode is None else made[0]

    def __call__(self, inputs, initial_state=None, constants=None, **kwargs):
        inputs, initial_state, constants = _standard(inputs, initial_state, constants, self._num_constants)
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        if constants is not None:
            raise NotImplementedError(_NO_CONSTANTS)
        if len(initial_state) % 2:
            raise ValueError("When passing `initial_state` to a Bidirectional RNN, the state should be a list containing the states of "
                             "the underlying RNNs. Received: %s" % (initial_state,))
        if is_keras_tensor(flatten(initial_state)[0]):
            own, self.input_spec = self.input_spec, None
            try:
                return super().__call__([inputs] + list(initial_state), **kwargs)
            finally:
                self.input_spec = own
        return super().__call__(inputs, initial_state=initial_state, **kwargs)

    def call(self, inputs, training=None, mask=None, initial_state=None, constants=None):
        if constants is not None:
            raise NotImplementedError(_NO_CONSTANTS)
        given = {}
        if "training" in self.forward_layer._call_parameters():
            given["training"] = training
        if "mask" in self.forward_layer._call_parameters():
            given["mask"] = mask
        forward, backward = dict(given), dict(given)
        if isinstance(inputs, list):
            inputs, initial_state = inputs[0], inputs[1:]
        if initial_state is not None:
            half = len(initial_state) // 2
            forward["initial_state"], backward["initial_state"] = initial_state[:half], initial_state[half:]
        y, back = self.forward_layer(inputs, **forward), self.backward_layer(inputs, **backward)
        states = []
        if self.return_state:
            states, y, back = y[1:] + back[1:], y[0], back[0]
        if self.return_sequences:
            time = 0 if getattr(self.forward_layer, "time_major", False) else 1
            back = array_ops.reverse(back, [time])
        made = self._merged(y, back)
        if self.return_state:
            return (made if isinstance(made, list) else [made]) + states
        return made

    def _merged(self, y, back):
        if self.merge_mode == "concat":
            return backend.concatenate([y, back])
        if self.merge_mode == "sum":
            return y + back
        if self.merge_mode == "ave":
            return (y + back) / 2
        return y * back if self.merge_mode == "mul" else [y, back]

    def reset_states(self, states=None):
        """Sets the states of both layers to zeros, or to arrays: those of the forward layer come first."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        half = 0 if states is None else len(states) // 2
        self.forward_layer.reset_states(None if states is None else states[:half])
        self.backward_layer.reset_states(None if states is None else states[half:])

    def compute_mask(self, inputs, mask):
        if isinstance(mask, list):
            mask = mask[0]
        made = None
        if self.return_sequences:
            made = [mask, mask] if not self.merge_mode else mask
        elif not self.merge_mode:
            made = [None, None]
        if self.return_state:
            more = [None for _ in self.forward_layer.states] * 2
            return (made if isinstance(made, list) else [made]) + more
        return made

    def get_config(self):
        config = dict(super().get_config(), merge_mode=self.merge_mode)
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if hasattr(self, "_backward_layer_config"):
            config["backward_layer"] = self._backward_layer_config
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = copy.deepcopy(config)
        config.pop("num_constants", None)
        config["layer"] = deserialize(config["layer"], custom_objects=custom_objects)
        if config.get("backward_layer") is not None:
            config["backward_layer"] = deserialize(config["backward_layer"], custom_objects=custom_objects)
        return cls(**config)

