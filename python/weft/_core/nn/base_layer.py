"""tf.layers.Layer: a Keras layer whose variables come from tf.get_variable.

Its variables are in a variable scope that is chosen in the first call: the given one, or a new one named after the
class. Regularization losses and updates go to the collections of the graph.  A layer that is made in
keras_style_scope() makes its variables as a layer of Keras does instead.
"""
import contextlib

from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.framework.trackable import Trackable, is_trackable
from weft._core.keras import base_layer as keras
from weft._core.keras.base_layer import snake_case, unique_name  # noqa: F401 - programs import them from here
from weft._core.keras.input_spec import InputSpec  # noqa: F401 - programs import it from here
from weft._core.keras.weights import has
from weft._core.ops.partitioned import PartitionedVariable
from weft._core.ops.variable_scope import get_variable, get_variable_scope, variable_scope

_keras_style = False  # whether layers that are created now make their variables as Keras does


@contextlib.contextmanager
def keras_style_scope():
    """Makes tf.layers and cells created inside make their own variables, as Keras layers do; names are never shared."""
    global _keras_style
    before, _keras_style = _keras_style, True
    try:
        yield
    finally:
        _keras_style = before


def set_keras_style():
    """Makes all tf.layers and cells created from now on make variables as Keras layers do. It cannot be undone."""
    global _keras_style
    _keras_style = True


def _refuse(name, value):
    if value is not None:
        raise ValueError("%s argument not allowed when keras style layers are enabled, but saw: %s" % (name, value))


class Layer(keras.Layer):
    """The base of layers. Subclasses define build(input_shape), which calls add_weight, and call(inputs)."""

    # Defaults for a subclass that does not call __init__.
    _reuse = _scope = _graph = _current_scope = None
    _keras_style = False

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        self._reuse, scope = kwargs.pop("_reuse", None), kwargs.pop("_scope", None)
        self._keras_style = _keras_style
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        if _keras_style:
            _refuse("scope", scope)
            _refuse("reuse", self._reuse)
        if scope is not None:
            with variable_scope(scope) as captured:
                self._scope = captured

    # As in TensorFlow, the attributes of these layers are not tracked: a layer has only the variables of add_weight.

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)

    def _trackable_children(self):
        return Trackable._trackable_children(self)

    def _nested_layers(self):
        return []

    def _own_weights(self, trainable):
        return list(self._trainable_weights if trainable else self._non_trainable_weights)

    def _init_set_name(self, name):
        self._base_name = snake_case(type(self).__name__) if name is None else name
        super()._init_set_name(name, zero_based=False)

    graph = property(lambda self: self._graph)

    @property
    def scope_name(self):
        if self._scope is None:
            raise ValueError('No name available for layer scope because the layer "%s" has not been used yet. The scope name is '
                             "determined the first time the layer instance is called." % self.name)
        return self._scope.name

    def _track(self, variable):
        """Records a variable that call() made as a variable of the layer."""
        for v in list(variable) if isinstance(variable, PartitionedVariable) else [variable]:
            if not has(self._trainable_weights, v) and not has(self._non_trainable_weights, v):
                (self._trainable_weights if getattr(v, "trainable", False) else self._non_trainable_weights).append(v)

    def _set_scope(self, scope=None):
        if self._keras_style:
            _refuse("scope", scope)
        if self._scope is not None or self._keras_style:
            return
        base = self.__dict__.get("_base_name") or snake_case(type(self).__name__)
        if self._reuse:
            with variable_scope(base if scope is None else scope) as captured:
                self._scope = captured
        else:
            with variable_scope(scope, default_name=base) as captured:
                self._scope = captured

    def add_weight(self, name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, constraint=None,
                   use_resource=None, synchronization=None, aggregation=None, partitioner=None, **kwargs):
        """Returns a variable of the layer, made by tf.get_variable in the layer's scope."""
        if self._keras_style:
            return super().add_weight(name, shape, dtype, initializer, regularizer, trainable, constraint, partitioner, use_resource,
                                      synchronization, aggregation, **kwargs)
        self._set_scope()
        trainable = self.trainable if trainable is None else trainable and self.trainable
        before = len(get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES))
        with variable_scope(self._scope, reuse=True if self.built else self._reuse, auxiliary_name_scope=False):
            made = get_variable(name, shape=shape, dtype=as_dtype(dtype or self._dtype or get_variable_scope().dtype),
                                initializer=initializer, regularizer=regularizer, constraint=constraint, trainable=trainable,
                                partitioner=partitioner, use_resource=use_resource, synchronization=synchronization,
                                aggregation=aggregation, **kwargs)
        self._losses.extend(get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES)[before:])
        if self._dtype is None:  # build() was called by the program: the first variable decides
            self._dtype = as_dtype(made.dtype).base_dtype
        self._track(made)
        if is_trackable(made):
            self._track_trackable(made, name, overwrite=True)
        return made

    def add_loss(self, losses, inputs=None):
        before = len(self._losses)
        super().add_loss([x() if callable(x) else x for x in (losses if isinstance(losses, (list, tuple)) else [losses])], inputs)
        for x in self._losses[before:]:
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, x)

    def _add_updates_to_collection(self):
        graph, updates = get_default_graph(), self.updates
        known = graph.get_collection(GraphKeys.UPDATE_OPS) if updates else ()
        for x in updates:
            if not has(known, x):
                graph.add_to_collection(GraphKeys.UPDATE_OPS, x)

    def call(self, inputs, **kwargs):
        raise NotImplementedError("%s has no call(): a subclass of tf.layers.Layer writes it" % type(self).__name__)

    def _name_scope(self):
        """Returns the name scope of a call; later calls use the name scope of the first."""
        if self._keras_style:
            return super()._name_scope()
        return get_default_graph().name_scope(self._current_scope.original_name_scope or None)

    def __call__(self, inputs, *args, **kwargs):
        self._set_scope(kwargs.pop("scope", None))
        if self._keras_style:
            return super().__call__(inputs, *args, **kwargs)
        self._graph = self._graph or get_default_graph()
        with variable_scope(self._scope, reuse=True if self.built else self._reuse, auxiliary_name_scope=False) as scope:
            before, self._current_scope = self._current_scope, scope
            try:
                made = super().__call__(inputs, *args, **kwargs)
            finally:
                self._current_scope = before
        self._add_updates_to_collection()
        return made
