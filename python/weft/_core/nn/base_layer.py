"""tf.layers.Layer: an object that makes its variables when it is first called, and uses them again after.

Its variables lie in a scope that is chosen in the first call: the one given, or one that is called as the class is.
"""
import re

from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.framework.nest import flatten
from weft._core.framework.tensor_shape import TensorShape
from weft._core.framework.trackable import Trackable, is_trackable
from weft._core.ops.partitioned import PartitionedVariable
from weft._core.ops.variable_scope import get_variable, get_variable_scope, variable_scope


def snake_case(name):
    """BasicLSTMCell as basic_lstm_cell."""
    words = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    words = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
    return words if words[:1] != "_" else "private" + words


def unique_name(base, from_zero=False):
    """The name of a layer that was given none: layers of a graph are counted from one, and those of Keras from zero."""
    counts = get_default_graph().__dict__.setdefault("_layer_counts", {})
    counts[base] = counts.get(base, 0) + 1
    number = counts[base] - from_zero
    return "%s_%d" % (base, number) if number else base


def _has(variables, variable):
    return any(v is variable for v in variables)


class Layer(Trackable, metaclass=Named):
    """A layer; subclasses write build(input_shape), which calls add_weight, and call(inputs)."""

    # Of a subclass that does not call __init__.
    trainable, built, activity_regularizer, input_spec = True, False, None, None
    _reuse = _scope = _dtype = _name = _graph = None

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        self.trainable, self.built, self._dtype = trainable, False, None if dtype is None else as_dtype(dtype)
        self._reuse, scope = kwargs.pop("_reuse", None), kwargs.pop("_scope", None)
        self.activity_regularizer = kwargs.pop("activity_regularizer", None)
        for key in ("input_shape", "batch_input_shape", "input_dim", "autocast", "dynamic"):
            kwargs.pop(key, None)  # only a Keras model that is built later needs them
        if kwargs:
            raise TypeError("Keyword argument not understood: %s" % ", ".join(sorted(kwargs)))
        self._name = unique_name(snake_case(type(self).__name__)) if name is None else name
        self._base_name = snake_case(type(self).__name__) if name is None else name
        self._lists()
        if scope is not None:
            with variable_scope(scope) as captured:
                self._scope = captured

    def _lists(self):
        """The lists of what the layer has; also of a subclass that does not call __init__."""
        lists = self.__dict__
        for key in ("_trainable_weights", "_non_trainable_weights", "_updates", "_losses"):
            lists.setdefault(key, [])
        lists.setdefault("_base_name", snake_case(type(self).__name__))
        return lists

    name = property(lambda self: self._name or self._lists()["_base_name"])
    dtype = property(lambda self: None if self._dtype is None else self._dtype.name)
    graph = property(lambda self: self._graph)
    updates = property(lambda self: list(self._lists()["_updates"]))
    losses = property(lambda self: list(self._lists()["_losses"]))

    @property
    def scope_name(self):
        if self._scope is None:
            raise ValueError('No name available for layer scope because the layer "%s" has not been used yet. The scope name is '
                             "determined the first time the layer instance is called." % self.name)
        return self._scope.name

    @property
    def trainable_weights(self):
        return list(self._lists()["_trainable_weights"]) if self.trainable else []

    @property
    def non_trainable_weights(self):
        lists = self._lists()
        return lists["_non_trainable_weights"] if self.trainable else lists["_trainable_weights"] + lists["_non_trainable_weights"]

    weights = property(lambda self: self.trainable_weights + list(self.non_trainable_weights))
    variables = property(lambda self: self.weights)
    trainable_variables = property(lambda self: self.trainable_weights)
    non_trainable_variables = property(lambda self: self.non_trainable_weights)

    def count_params(self):
        return sum(v.shape.num_elements() for v in self.weights)

    def _track(self, variable):
        """Remembers a variable as the layer's."""
        lists = self._lists()
        for v in [variable] if not isinstance(variable, PartitionedVariable) else list(variable):
            learnt = _has(get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES), v)
            if not _has(lists["_trainable_weights"] + lists["_non_trainable_weights"], v):
                lists["_trainable_weights" if learnt else "_non_trainable_weights"].append(v)

    def _set_scope(self, scope=None):
        if self._scope is not None:
            return
        base = self._lists()["_base_name"]
        if self._reuse:
            with variable_scope(base if scope is None else scope) as captured:
                self._scope = captured
        else:
            with variable_scope(scope, default_name=base) as captured:
                self._scope = captured

    def add_weight(self, name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, constraint=None,
                   use_resource=None, synchronization=None, aggregation=None, partitioner=None, **kwargs):
        self._set_scope()
        before = len(get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES))
        with variable_scope(self._scope, reuse=True if self.built else self._reuse, auxiliary_name_scope=False):
            made = get_variable(name, shape=shape, dtype=as_dtype(dtype or self._dtype or get_variable_scope().dtype),
                                initializer=initializer, regularizer=regularizer, constraint=constraint,
                                trainable=self.trainable if trainable is None else trainable and self.trainable,
                                partitioner=partitioner, use_resource=use_resource, **kwargs)
        self._lists()["_losses"].extend(get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES)[before:])
        self._track(made)
        if is_trackable(made):
            self._track_trackable(made, name, overwrite=True)
        return made

    def add_variable(self, *args, **kwargs):
        return self.add_weight(*args, **kwargs)

    def add_loss(self, losses, inputs=None):
        found = [x() if callable(x) else x for x in (losses if isinstance(losses, (list, tuple)) else [losses])]
        self._lists()["_losses"].extend(found)
        for x in found:
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, x)

    def add_update(self, updates, inputs=None):
        found = list(updates) if isinstance(updates, (list, tuple)) else [updates]
        self._lists()["_updates"].extend(found)
        for x in found:
            get_default_graph().add_to_collection(GraphKeys.UPDATE_OPS, x)

    def build(self, input_shape):
        self.built = True

    def call(self, inputs, **kwargs):
        raise NotImplementedError("%s has no call(): a subclass of tf.layers.Layer writes it" % type(self).__name__)

    def _build_once(self, inputs):
        if self.built:
            return
        found = flatten(inputs)
        if self._dtype is None and found and found[0].dtype.base_dtype.is_floating:
            self._dtype = found[0].dtype.base_dtype
        self.build([x.shape for x in inputs] if isinstance(inputs, (list, tuple)) else TensorShape(inputs.shape))
        self.built = True

    def __call__(self, inputs, *args, **kwargs):
        graph = get_default_graph()
        self._set_scope(kwargs.pop("scope", None))
        self._graph = self._graph or graph
        inputs = [convert_to_tensor(x) for x in inputs] if isinstance(inputs, (list, tuple)) else convert_to_tensor(inputs)
        with variable_scope(self._scope, reuse=True if self.built else self._reuse, auxiliary_name_scope=False) as scope:
            with graph.name_scope(scope.original_name_scope or None):
                self._build_once(inputs)
                made = self.call(inputs, *args, **kwargs)
                if self.activity_regularizer is not None:
                    self.add_loss([self.activity_regularizer(x) for x in flatten(made)])
        return made

    def apply(self, inputs, *args, **kwargs):
        return self(inputs, *args, **kwargs)
