"""The variables, losses and updates of a layer: the part of tf.keras.layers.Layer that holds state."""
import functools

import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Operation, Tensor, name_scope
from weft._core.framework.nest import flatten
from weft._core.framework.tensor_shape import TensorShape
from weft._core.framework.trackable import AutoTrackable
from weft._core.ops.partitioned import PartitionedVariable
from weft._core.ops.variables import Variable

_LISTS = ("_trainable_weights", "_non_trainable_weights", "_updates", "_losses", "_callable_losses", "_metrics", "_inbound_nodes",
          "_outbound_nodes")
# Attributes that hold no layers of the layer's own.
_INTERNAL = frozenset(_LISTS)


def has(variables, variable):
    return any(v is variable for v in variables)


def _unique(variables):
    return list({id(v): v for v in variables}.values())


def _held(value, kind):
    """Yields the objects of a kind in a value: itself, or in lists, tuples and dicts."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _held(v, kind)
    elif isinstance(value, dict):
        for v in value.values():
            yield from _held(v, kind)


def reachable(sources, targets):
    """Returns the targets (tensors or operations) that depend on one of the source tensors, by values or by control
    dependencies.
    """
    given = {x._out for x in flatten(sources) if isinstance(x, Tensor)}
    known = {}  # of a node, whether it depends on a source
    return [t for t in targets if _depends(t, given, known)]


def _depends(target, given, known):
    """Walks back from a target; a loop's nodes count once."""
    if isinstance(target, Tensor) and target._out in given:
        return True
    op = target if isinstance(target, Operation) else target.op
    c, seen, front = op.graph._c, set(), [op._id]
    while front:
        node = front.pop()
        if node in seen or known.get(node) is False:
            continue
        seen.add(node)
        if known.get(node):
            known[op._id] = True
            return True
        for out in c.inputs(node):
            if out in given:
                known[op._id] = True
                return True
            front.append(out >> 16)
        front.extend(out >> 16 for out in c.controls(node))
    known.update((node, False) for node in seen)
    return False


class LayerWeights(AutoTrackable, metaclass=Named):
    """What a layer keeps.  Variables that are assigned to attributes are the layer's, and layers are its children."""

    def __new__(cls, *args, **kwargs):
        """Makes the lists before __init__, which a subclass may not call."""
        self = super().__new__(cls)
        for key in _LISTS:
            self.__dict__[key] = []
        return self

    _NOT_TRACKED = _INTERNAL

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if isinstance(value, Variable) and name not in _INTERNAL:
            self._track_variable(value)

    def _track_variable(self, variable):
        if not has(self._trainable_weights, variable) and not has(self._non_trainable_weights, variable):
            (self._trainable_weights if variable.trainable else self._non_trainable_weights).append(variable)

    # ---- layers within ----

    def _nested_layers(self):
        """Returns the layers that the attributes hold, in the order in which they were assigned."""
        found = {}
        for key, value in list(self.__dict__.items()):
            if key not in _INTERNAL:
                found.update((id(x), x) for x in _held(value, LayerWeights) if x is not self)
        return list(found.values())

    def _flatten_layers(self, recursive=True, include_self=True):
        """Yields the layer and the layers within, each once, parents first."""
        seen, front = {id(self)}, self._nested_layers()
        if include_self:
            yield self
        while front:
            layer = front.pop(0)
            if id(layer) not in seen:
                seen.add(id(layer))
                yield layer
                front = (layer._nested_layers() if recursive else []) + front

    # ---- variables ----

    def _regularizer(self, given):
        from weft._core.keras import regularizers
        return regularizers.get(given)

    def _own_weights(self, trainable):
        """Returns the variables of the layer itself; those in lists and dicts follow those that it made."""
        own = list(self._trainable_weights if trainable else self._non_trainable_weights)
        for key, value in self.__dict__.items():
            if key not in _INTERNAL and isinstance(value, (list, tuple, dict)):
                own.extend(v for v in _held(value, Variable) if bool(v.trainable) is trainable)
        return own

    @property
    def trainable(self):
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = value
        for key, x in self.__dict__.items():
            if key not in _INTERNAL and isinstance(x, LayerWeights):
                x.trainable = value

    @property
    def trainable_weights(self):
        if not self.trainable:
            return []
        return _unique(self._own_weights(True) + [v for x in self._nested_layers() for v in x.trainable_weights])

    @property
    def non_trainable_weights(self):
        nested = self._nested_layers()
        if self.trainable:
            return _unique(self._own_weights(False) + [v for x in nested for v in x.non_trainable_weights])
        return _unique(self._own_weights(True) + self._own_weights(False) + [v for x in nested for v in x.weights])

    weights = property(lambda self: _unique(self.trainable_weights + list(self.non_trainable_weights)))
    variables = property(lambda self: self.weights)
    trainable_variables = property(lambda self: self.trainable_weights)
    non_trainable_variables = property(lambda self: self.non_trainable_weights)

    def add_weight(self, name=None, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, constraint=None,
                   partitioner=None, use_resource=None, synchronization=None, aggregation=None, **kwargs):
        """Returns a variable of the layer, called name in the current name scope; a resource variable unless
        use_resource is False.
        """
        from weft._core.keras import backend, constraints, initializers
        for key in kwargs:
            if key not in ("getter", "collections", "experimental_autocast", "caching_device"):
                raise TypeError("Unknown keyword argument:", key)
        dtype = as_dtype(dtype or self._dtype or backend.floatx())
        if self._dtype is None:
            self._dtype = dtype.base_dtype
        shape = TensorShape(() if shape is None else shape)
        if not shape.is_fully_defined():
            raise ValueError("Shape of a new variable (%s) must be fully defined, but instead was %s." % (name, shape))
        initializer = initializers.get(initializer) if initializer is not None else _default_initializer(name, dtype, self.name)
        trainable = _learnt(trainable, synchronization)
        make = functools.partial(initializer, shape.as_list(), dtype=dtype)
        if isinstance(initializer, Tensor):
            make = initializer
        variable = Variable(make, name=name, dtype=dtype, trainable=trainable, collections=kwargs.get("collections"),
                            caching_device=kwargs.get("caching_device"), constraint=constraints.get(constraint),
                            use_resource=True if use_resource is None else use_resource, synchronization=synchronization,
                            aggregation=aggregation)
        self._keep(variable, trainable)
        if name is not None:
            self._track_trackable(variable, name, overwrite=True)
        self._regularize(variable.op.name, variable, self._regularizer(regularizer))
        return variable

    def _keep(self, variable, trainable):
        """Remembers a variable that the layer made, and tells tf.keras.backend to initialize it."""
        from weft._core.keras import backend
        kept = self._trainable_weights if trainable else self._non_trainable_weights
        for v in list(variable) if isinstance(variable, PartitionedVariable) else [variable]:
            backend.track_variable(v)
            if not has(self._trainable_weights, v) and not has(self._non_trainable_weights, v):
                kept.append(v)

    def _regularize(self, name, variable, regularizer):
        """Adds a function that makes the regularization loss again whenever it is read."""
        if regularizer is None:
            return

        def loss():
            with name_scope(name + "/Regularizer"):
                return regularizer(variable)
        self._callable_losses.append(loss)

    def add_variable(self, *args, **kwargs):
        return self.add_weight(*args, **kwargs)

    def count_params(self):
        if not self.built:
            raise ValueError("You tried to call `count_params` on %s, but the layer isn't built. You can build it manually via: "
                             "`%s.build(batch_input_shape)`." % (self.name, self.name))
        return int(sum(v.shape.num_elements() for v in self.weights))

    def get_weights(self):
        """Returns the values of the variables, as numpy arrays."""
        from weft._core.keras import backend
        return backend.batch_get_value(self.weights)

    def set_weights(self, weights):
        """Assigns numpy arrays to the variables, in the order of `weights`."""
        from weft._core.keras import backend
        own, weights = self.weights, list(weights)
        if len(own) != len(weights):
            raise ValueError('You called `set_weights(weights)` on layer "%s" with a weight list of length %d, but the layer was '
                             "expecting %d weights. Provided weights: %s..." % (self.name, len(weights), len(own), str(weights)[:50]))
        for v, value in zip(own, weights):
            if tuple(v.shape.as_list()) != np.shape(value):
                raise ValueError("Layer weight shape %s not compatible with provided weight shape %s" % (
                    tuple(v.shape.as_list()), np.shape(value)))
        backend.batch_set_value(list(zip(own, weights)))

    # ---- losses and updates ----

    @property
    def losses(self):
        """The losses that add_loss was given, and those of the regularizers, of the layer and the layers within."""
        found = []
        for layer in self._flatten_layers():
            found.extend(layer._losses)
            found.extend(x for x in (make() for make in layer._callable_losses) if x is not None)
        return found

    @property
    def updates(self):
        found = []
        for layer in self._flatten_layers():
            if layer.trainable or layer.stateful:
                found.extend(u() if callable(u) else u for u in layer._updates)
        return found

    def add_loss(self, losses, inputs=None, **kwargs):
        """Adds losses: tensors, or functions of no arguments that make one."""
        for x in flatten(losses):
            if callable(x):
                self._callable_losses.append(functools.partial(_loss, x))
            elif x is not None:
                x = _loss(lambda x=x: x)
                x._unconditional_loss = inputs is None
                x._apart_from_inputs = getattr(self, "_is_graph_network", False) and not reachable(self.inputs, [x])
                self._losses.append(x)

    def add_update(self, updates, inputs=None):
        """Adds operations that run with every training step."""
        for x in updates if isinstance(updates, (list, tuple)) else [updates]:
            if callable(x) and not isinstance(x, (Operation, Tensor, Variable)):
                x = x()
            if x is None:
                continue
            x = x if isinstance(x, Operation) else x.op if hasattr(x, "op") else convert_to_tensor(x)
            x._unconditional_update = not self._depends_on_call(x)
            self._updates.append(x)

    def get_losses_for(self, inputs):
        """Returns the losses that depend on the inputs; those that depend on no inputs for None."""
        if inputs is None:
            return [x for x in self.losses if getattr(x, "_unconditional_loss", True)]
        return reachable(inputs, [x for x in self.losses if not getattr(x, "_unconditional_loss", True)])

    def get_updates_for(self, inputs):
        if inputs is None:
            return [x for x in self.updates if getattr(x, "_unconditional_update", True)]
        return reachable(inputs, [x for x in self.updates if not getattr(x, "_unconditional_update", True)])

    # ---- metrics ----

    @property
    def metrics(self):
        return [m for layer in self._flatten_layers() for m in layer._metrics]

    def add_metric(self, value, aggregation=None, name=None):
        """Adds a metric of a tensor; aggregation is "mean", or None for the result of a tf.keras.metrics.Metric."""
        from weft._core.keras import layer_metrics
        layer_metrics.add(self, value, aggregation, name)


def _loss(make):
    """Returns the tensor of a loss; a number becomes one of the type of Keras."""
    from weft._core.keras import backend
    x = make()
    return None if x is None else convert_to_tensor(x, None if hasattr(x, "op") else backend.floatx())


def _learnt(trainable, synchronization):
    on_read = getattr(synchronization, "name", None) == "ON_READ"
    if on_read and trainable:
        raise ValueError("Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. You "
                         "have specified trainable=True and synchronization=VariableSynchronization.ON_READ.")
    return not on_read if trainable is None else bool(trainable)


def _default_initializer(name, dtype, layer):
    from weft._core.keras import initializers
    if dtype.is_floating:
        return initializers.get("glorot_uniform")
    if dtype.is_integer or dtype == dtypes.bool:
        return initializers.get("zeros")
    raise ValueError("An initializer for variable %s of type %s is required for layer %s" % (name, dtype.base_dtype.name, layer))
