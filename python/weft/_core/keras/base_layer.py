"""tf.keras.layers.Layer: an object that makes its variables when it is first called, and reuses them in later calls.

A subclass writes build(input_shape), which makes variables with add_weight, and call(inputs).  __call__ converts the
inputs, builds the layer once, runs call() in a name scope called as the layer, adds the loss of the activity
regularizer, and passes masks on. If all inputs are Keras tensors, the outputs are too: they carry `_keras_history`, and
the call is a Node of the layer (node.py). tf.layers.Layer (weft._core.nn.base_layer) is a subclass whose variables come
from tf.get_variable.

What a model needs of a layer, beside the public names:
  layer._inbound_nodes, layer._outbound_nodes   the calls of the layer, and the calls that use its outputs
  layer._flatten_layers(recursive, include_self) the layer and the layers that its attributes hold
  layer._batch_input_shape                       what batch_input_shape, input_shape or input_dim said, or None
  layer._expects_training_arg, _expects_mask_arg whether call() takes `training` and `mask`
  tensor._keras_mask                             the mask of an output; absent or None if it has none
  call_context()                                 what the layers now being called know (training)
"""
import contextlib
import functools
import inspect
import re
import threading

import numpy as np

from weft._core.framework.build import convert_to_tensor
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Tensor, get_default_graph, name_scope
from weft._core.framework.nest import flatten, is_nested, map_structure, pack_like
from weft._core.framework.tensor_shape import Dimension, TensorShape
from weft._core.keras import node as nodes
from weft._core.keras.input_spec import check_inputs
from weft._core.keras.weights import LayerWeights, reachable
from weft._core.ops import array_ops, math_ops

_KWARGS = ("input_dim", "input_shape", "batch_input_shape", "batch_size", "weights", "activity_regularizer", "autocast", "implementation")


def snake_case(name):
    """Converts a class name to a snake case name: BasicLSTMCell becomes basic_lstm_cell."""
    words = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    words = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
    return words if words[:1] != "_" else "private" + words


def unique_name(base, from_zero=False):
    """Returns a name for a layer without one. Layers of a graph are counted from one, Keras layers from zero."""
    counts = get_default_graph().__dict__.setdefault("_layer_counts", {})
    counts[base] = counts.get(base, 0) + 1
    number = counts[base] - from_zero
    return "%s_%d" % (base, number) if number else base


class _CallContext(threading.local):
    """The layers that are being called in this thread, and the value of `training`."""

    layer, inputs, training, in_call = None, None, None, False

    @contextlib.contextmanager
    def enter(self, layer, inputs, training):
        before = self.layer, self.inputs, self.training, self.in_call
        self.layer, self.inputs, self.training, self.in_call = layer, inputs, training, True
        try:
            yield
        finally:
            self.layer, self.inputs, self.training, self.in_call = before


_context = _CallContext()


def call_context():
    return _context


def _parameters(function):
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


@functools.lru_cache(maxsize=4096)
def _method_parameters(function):
    found = dict(_parameters(function))
    found.pop(next(iter(found), None), None)
    return found


class Layer(LayerWeights):
    """The base of layers. See the docstring of this module for the methods that a subclass defines."""

    # Defaults for a subclass that does not call __init__.
    built, input_spec, supports_masking, stateful = False, None, False, False
    _dtype = _name = _batch_input_shape = _initial_weights = None
    _trainable, _dynamic, _activity_regularizer = True, False, None

    def __init__(self, trainable=True, name=None, dtype=None, dynamic=False, **kwargs):
        for key in kwargs:
            if key not in _KWARGS and key not in self._more_kwargs():
                raise TypeError("Keyword argument not understood:", key)
        self._trainable, self.built, self.stateful, self._dynamic = trainable, False, False, dynamic
        self._init_set_name(name)
        self._dtype = None if dtype is None else as_dtype(dtype)
        if "activity_regularizer" in kwargs:
            self._activity_regularizer = self._regularizer(kwargs["activity_regularizer"])
        self._batch_input_shape = _batch_input_shape(kwargs)
        if self._batch_input_shape is None:
            del self._batch_input_shape
        self._initial_weights = kwargs.get("weights")

    def _more_kwargs(self):
        return ()

    def _init_set_name(self, name, zero_based=True):
        self._name = unique_name(snake_case(type(self).__name__), zero_based) if name is None else name

    # ---- properties ----

    @property
    def name(self):
        return self._name or snake_case(type(self).__name__)

    dtype = property(lambda self: None if self._dtype is None else self._dtype.name)
    compute_dtype = variable_dtype = property(lambda self: self.dtype)
    dynamic = property(lambda self: self._dynamic)
    inbound_nodes = property(lambda self: self._inbound_nodes)
    outbound_nodes = property(lambda self: self._outbound_nodes)
    submodules = property(lambda self: tuple(self._flatten_layers(include_self=False)))

    @property
    def activity_regularizer(self):
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, value):
        self._activity_regularizer = value

    # Names of the attributes that get_config adds to those of the base classes.
    _CONFIG = ()

    def get_config(self):
        """Returns the arguments that create an equal layer."""
        own = [c for c in reversed(type(self).__mro__) if c.__dict__.get("_CONFIG")]
        extra = set(_parameters(type(self).__init__)) - {"self", "name", "trainable", "dtype", "dynamic", "kwargs", "args"}
        if extra and not own and type(self).get_config is Layer.get_config:
            raise NotImplementedError("Layers with arguments in `__init__` must override `get_config`. %s has %s." % (
                type(self).__name__, ", ".join(sorted(extra))))
        return self._configured([key for c in own for key in c.__dict__["_CONFIG"]])

    def _configured(self, names):
        """Returns the configuration that every layer has, and these attributes."""
        config = {"name": self.name, "trainable": self.trainable}
        if self._batch_input_shape is not None:
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        if self._dynamic:
            config["dynamic"] = True
        config.update((key, _serialized(key, getattr(self, key))) for key in names)
        return config

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    # ---- methods that a subclass defines ----

    def build(self, input_shape):
        """Makes the variables with add_weight. It is called before the first call()."""
        self._build_input_shape = input_shape
        self.built = True

    def call(self, inputs, *args, **kwargs):
        return inputs

    def compute_output_shape(self, input_shape):
        raise NotImplementedError("Please run in eager mode or implement the `compute_output_shape` method on your layer (%s)." %
                                  type(self).__name__)

    def compute_mask(self, inputs, mask=None):
        """Returns the mask of the outputs, which is that of the inputs if the layer supports masks, and None otherwise.
        """
        if not self.supports_masking:
            if any(m is not None for m in flatten(mask)):
                raise TypeError("Layer %s does not support masking, but was passed an input_mask: %s" % (self.name, mask))
            return None
        return mask

    # ---- calls ----

    @property
    def _expects_training_arg(self):
        return "training" in self._call_parameters()

    @property
    def _expects_mask_arg(self):
        found = self._call_parameters()
        return "mask" in found or any(p.kind == p.VAR_KEYWORD for p in found.values())

    def _call_parameters(self):
        """Returns the parameters of call(), without self."""
        function = getattr(self.call, "__func__", None)
        return _parameters(self.call) if function is None else _method_parameters(function)

    def _argument(self, name, args, kwargs):
        """Returns what the caller passed for a parameter of call(), by keyword or position, or None."""
        if name in kwargs:
            return kwargs[name]
        names = [n for n in self._call_parameters()][1:]
        return args[names.index(name)] if name in names and names.index(name) < len(args) else None

    def _converted(self, inputs):
        if any(isinstance(x, (np.ndarray, float, int)) for x in flatten(inputs)):
            inputs = map_structure(lambda x: convert_to_tensor(x) if isinstance(x, (np.ndarray, np.generic, float, int)) else x, inputs)
        for x in flatten(inputs):
            if not hasattr(x, "dtype") and not hasattr(x, "_parts") and not hasattr(x, "_as_graph_element"):
                raise TypeError("Inputs to a layer should be tensors. Got '%s' (of type %s) as input for layer '%s'." % (
                    x, type(x), self.name))
        return inputs

    def _with_training(self, args, kwargs):
        """Returns the value of `training` for this layer and its inner layers, and whether the caller passed one."""
        passed = self._argument("training", args, kwargs) if self._expects_training_arg else None
        value = passed if passed is not None else _context.training
        if self._expects_training_arg and value is not None and passed is None:
            kwargs = dict(kwargs, training=value)
        return value, kwargs

    def _with_mask(self, inputs, args, kwargs):
        """Returns the masks of the inputs, and the keyword arguments, with the masks if call() takes a mask."""
        passed = self._argument("mask", args, kwargs) if "mask" in self._call_parameters() else kwargs.get("mask")
        if passed is not None:
            return passed, kwargs
        masks = [getattr(x, "_keras_mask", None) for x in flatten(inputs)]
        if all(m is None for m in masks):
            return None, kwargs
        masks = pack_like(inputs, masks) if is_nested(inputs) else masks[0]
        return masks, dict(kwargs, mask=masks) if self._expects_mask_arg else kwargs

    def __call__(self, *args, **kwargs):
        if not args and not kwargs:
            raise ValueError("The first argument to `Layer.call` must always be passed.")
        kwargs = dict(kwargs)
        first = next(iter(self._call_parameters()), "inputs")
        inputs, args = (args[0], args[1:]) if args else (kwargs.pop(first), ())
        inputs = self._converted(inputs)
        own_args, own_kwargs = args, dict(kwargs)
        if not _context.in_call and nodes.needs_history(inputs):
            from weft._core.keras import op_layer
            op_layer.create_history(inputs)
        masks, kwargs = self._with_mask(inputs, args, kwargs)
        training, kwargs = self._with_training(args, kwargs)
        with _context.enter(self, inputs, training), self._name_scope():
            self._maybe_build(inputs)
            outputs = self.call(inputs, *args, **kwargs)
            if outputs is None:
                raise ValueError("A layer's `call` method should return a Tensor or a list of Tensors, not None (layer: %s)." % self.name)
            flat = [x for x in flatten(inputs)]
            if flat and all(nodes.is_keras_tensor(x) for x in flat):
                outputs = self._connect(inputs, own_args, own_kwargs, outputs)
            self._handle_activity_regularization(inputs, outputs)
            self._set_mask_metadata(inputs, outputs, masks)
        return outputs

    def apply(self, inputs, *args, **kwargs):
        return self(inputs, *args, **kwargs)

    def _name_scope(self):
        """Returns a new name scope with the name of the layer; each call opens one."""
        return name_scope(self.name)

    def _maybe_build(self, inputs):
        if not self.built:
            check_inputs(self.input_spec, inputs, self.name)
            found = [x for x in flatten(inputs) if hasattr(x, "dtype")]
            if self._dtype is None and found:
                self._dtype = as_dtype(found[0].dtype).base_dtype
            self.build(map_structure(lambda x: TensorShape(x.shape), inputs) if is_nested(inputs) else TensorShape(inputs.shape))
            self.built = True
        else:
            check_inputs(self.input_spec, inputs, self.name)
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _connect(self, inputs, args, kwargs, outputs):
        """Records the call as a Node. An input that is returned unchanged first becomes a new tensor."""
        given = {id(x) for x in flatten(inputs)}

        def own(x):
            if id(x) not in given or not isinstance(x, Tensor):
                return x
            with name_scope(self.name):
                return array_ops.identity(x)
        outputs = map_structure(own, outputs) if is_nested(outputs) else own(outputs)
        nodes.Node(self, (inputs, *args), kwargs, outputs)
        return outputs

    def _handle_activity_regularization(self, inputs, outputs):
        if self._activity_regularizer is None:
            return
        with name_scope("ActivityRegularizer"):
            for x in flatten(outputs):
                loss = convert_to_tensor(self._activity_regularizer(x))
                self.add_loss(loss / math_ops.cast(array_ops.shape(x)[0], loss.dtype), inputs=inputs)

    def _set_mask_metadata(self, inputs, outputs, masks):
        flat = flatten(outputs)
        if all(getattr(x, "_keras_mask", None) is not None for x in flat):
            return  # call() has done it.
        overridden = type(self).compute_mask is not Layer.compute_mask
        made = self.compute_mask(inputs, masks) if overridden or self.supports_masking else None
        found = [None] * len(flat) if made is None else flatten(made)
        for x, mask in zip(flat, found):
            try:
                x._keras_mask = mask
            except AttributeError:  # The type does not allow new attributes.
                pass

    def _depends_on_call(self, target):
        """Returns True if an operation or tensor depends on the inputs of the call in progress, or of the calls so far.
        """
        given = _context.inputs if _context.in_call else [n.input_tensors for n in self._inbound_nodes]
        return bool(reachable(given, [target]))

    # ---- recorded calls ----

    def _at(self, index, attribute, what):
        if not self._inbound_nodes:
            raise RuntimeError("The layer has never been called and thus has no defined %s." % what)
        if index >= len(self._inbound_nodes):
            raise ValueError("Asked to get %s at node %d, but the layer has only %d inbound nodes." % (
                what, index, len(self._inbound_nodes)))
        found = getattr(self._inbound_nodes[index], attribute)
        return found[0] if isinstance(found, list) and len(found) == 1 else found

    def get_input_at(self, node_index):
        return self._at(node_index, "input_tensors", "input")

    def get_output_at(self, node_index):
        return self._at(node_index, "output_tensors", "output")

    def get_input_shape_at(self, node_index):
        return self._at(node_index, "input_shapes", "input shape")

    def get_output_shape_at(self, node_index):
        return self._at(node_index, "output_shapes", "output shape")

    def get_input_mask_at(self, node_index):
        return _masks(self.get_input_at(node_index))

    def get_output_mask_at(self, node_index):
        return _masks(self.get_output_at(node_index))

    @property
    def input(self):
        if not self._inbound_nodes:
            raise AttributeError("Layer %s is not connected, no input to return." % self.name)
        return self.get_input_at(0)

    @property
    def output(self):
        if not self._inbound_nodes:
            raise AttributeError("Layer %s has no inbound nodes." % self.name)
        return self.get_output_at(0)

    input_mask = property(lambda self: _masks(self._single("input")))
    output_mask = property(lambda self: _masks(self._single("output")))

    def _single(self, what):
        if len(self._inbound_nodes) != 1:
            raise AttributeError("Layer %s has multiple inbound nodes, hence the notion of 'layer %s mask' is ill-defined. Use "
                                 "`get_%s_mask_at(node_index)` instead." % (self.name, what, what))
        return getattr(self, what)

    @property
    def input_shape(self):
        if not self._inbound_nodes:
            raise AttributeError('The layer "%s" has never been called and thus has no defined input shape. Note that the `input_shape` '
                                 "property is only available for Functional and Sequential models." % self.name)
        return self._one_shape("input")

    @property
    def output_shape(self):
        if not self._inbound_nodes:
            raise AttributeError("The layer has never been called and thus has no defined output shape.")
        return self._one_shape("output")

    def _one_shape(self, what):
        found = [getattr(n, what + "_shapes") for n in self._inbound_nodes]
        if any(str(f) != str(found[0]) for f in found):
            raise AttributeError('The layer "%s" has multiple inbound nodes with different %s shapes. Hence the notion of "%s shape" is '
                                 "ill-defined for the layer. Use `get_%s_shape_at(node_index)` instead." % (self.name, what, what, what))
        return found[0]


def _serialized(key, value):
    """Returns an attribute in the form of a configuration."""
    from weft._core.keras import activations, constraints, initializers, regularizers
    if key == "activation" or key.endswith("_activation"):
        return activations.serialize(value)
    for end, module in (("_initializer", initializers), ("_regularizer", regularizers), ("_constraint", constraints)):
        if key.endswith(end):
            return module.serialize(value)
    return value


def output_shape(function):
    """Decorates compute_output_shape, so that the function gets shapes as tuples and its result becomes a TensorShape.
    """
    @functools.wraps(function)
    def wrapped(self, input_shape):
        return _as_shapes(function(self, _as_tuples(input_shape)))
    return wrapped


def _is_shape(x):
    return isinstance(x, TensorShape) or (isinstance(x, (list, tuple)) and all(
        d is None or isinstance(d, (int, np.integer, Dimension)) for d in x))


def _as_tuples(shape):
    """Converts shapes to tuples, also inside lists and tuples of shapes."""
    if shape is None or isinstance(shape, TensorShape) or _is_shape(shape):
        return tuple(TensorShape(shape).as_list())
    return type(shape)(_as_tuples(s) for s in shape)


def _as_shapes(shape):
    return TensorShape(shape) if _is_shape(shape) else type(shape)(_as_shapes(s) for s in shape)


def _masks(tensors):
    return [getattr(x, "_keras_mask", None) for x in tensors] if isinstance(tensors, list) else getattr(tensors, "_keras_mask", None)


def _batch_input_shape(kwargs):
    """Returns the shape with the batch from keyword arguments of a layer, or None."""
    if kwargs.get("batch_input_shape") is not None:
        return tuple(kwargs["batch_input_shape"])
    shape = kwargs.get("input_shape")
    if shape is None and kwargs.get("input_dim") is not None:
        shape = (kwargs["input_dim"],)
    return None if shape is None else (kwargs.get("batch_size"), *shape)
