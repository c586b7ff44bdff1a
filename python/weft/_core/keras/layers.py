"""tf.keras.layers: tf.layers as objects.  A layer makes its variables when it is first called, and uses them again after."""
from weft._core.framework import dtypes
from weft._core.framework.absent import Named, where
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.keras import backend, initializers
from weft._core.nn import layers as core, nn
from weft._core.nn.base_layer import snake_case, unique_name
from weft._core.ops import array_ops
from weft._core.ops.variable_scope import get_variable, get_variable_scope, variable_scope

_initializer = initializers.get


def _activation(given):
    if given is None or given == "linear":
        return None
    if callable(given):
        return given
    found = getattr(nn, given, None)
    if found is None:
        raise ValueError("Unknown activation function:%s" % given)
    return found


class Layer(metaclass=Named):
    """One layer; its outputs remember it, so that a Model finds its layers."""

    _KIND = None

    def __init__(self, name=None, trainable=True, dtype=None, **kwargs):
        for key in ("input_shape", "batch_input_shape", "input_dim"):
            kwargs.pop(key, None)  # only a model that is built later needs them
        if kwargs:
            raise TypeError("%s: unexpected keyword arguments %s" % (type(self).__name__, ", ".join(sorted(kwargs))))
        kind = self._KIND or snake_case(type(self).__name__)
        self._name, self.trainable, self._graph = name or unique_name(kind, from_zero=True), trainable, None
        self._prefix, self._own, self._dtype = None, {}, None if dtype is None else as_dtype(dtype)
        self.built, self._losses, self._updates = False, [], []

    name = property(lambda self: self._name)
    dtype = property(lambda self: None if self._dtype is None else self._dtype.name)
    losses = property(lambda self: list(self._losses))
    updates = property(lambda self: list(self._updates))

    # ---- what a subclass writes and calls ----

    def build(self, input_shape):
        """Makes the variables with add_weight; called before the first call()."""
        self.built = True

    def call(self, inputs):
        raise NotImplementedError("%s has no call()" % type(self).__name__)

    def add_weight(self, name=None, shape=(), dtype=None, initializer=None, regularizer=None, trainable=None, constraint=None,
                   partitioner=None, use_resource=None, **kwargs):
        if kwargs:
            raise TypeError("Unknown keyword argument: %s" % ", ".join(sorted(kwargs)))
        learnt = self.trainable if trainable is None else trainable
        return get_variable(name or "weight", list(shape), as_dtype(dtype or self._dtype or dtypes.float32),
                            _initializer("glorot_uniform" if initializer is None else initializer), regularizer=regularizer,
                            trainable=learnt, constraint=constraint, partitioner=partitioner, use_resource=use_resource)

    def add_variable(self, *args, **kwargs):
        return self.add_weight(*args, **kwargs)

    def add_loss(self, losses, **kwargs):
        self._losses += losses if isinstance(losses, (list, tuple)) else [losses]

    def add_update(self, updates, **kwargs):
        self._updates += updates if isinstance(updates, (list, tuple)) else [updates]

    def get_config(self):
        return {"name": self._name, "trainable": self.trainable, "dtype": self.dtype}

    def count_params(self):
        return sum(v.shape.num_elements() for v in self.weights)

    def _weight(self, scope):
        """A getter of variables: called as the name scope of the first call, whatever the variable scope is."""
        def getter(true_getter, name, **given):
            key = name.removeprefix(scope.name + "/" if scope.name else "")
            if key not in self._own:
                if given.get("regularizer") is scope.regularizer:
                    given["regularizer"] = None
                shared, full = self._graph._variable_store, self._prefix + key
                other = shared.pop(full, None)
                self._own[key] = true_getter(full, **{**given, "reuse": False, "partitioner": None})
                del shared[full]  # tf.get_variable does not find what Keras made
                if other is not None:
                    shared[full] = other
            return self._own[key]
        return getter

    def _build_once(self, inputs):
        if self.built:
            return
        many = isinstance(inputs, list)
        self._dtype = self._dtype or (inputs[0] if many else inputs).dtype.base_dtype
        self.build([x.shape for x in inputs] if many else inputs.shape)
        self.built = True

    def __call__(self, inputs, *args, **kwargs):
        inputs = [convert_to_tensor(i) for i in inputs] if isinstance(inputs, (list, tuple)) else convert_to_tensor(inputs)
        with get_default_graph().name_scope(self._name) as prefix:
            if self._graph is not get_default_graph():
                self._graph, self._prefix, self._own, self.built = get_default_graph(), prefix, {}, False
            outer = get_variable_scope()
            with variable_scope(outer, custom_getter=self._weight(outer), auxiliary_name_scope=False):
                self._build_once(inputs)
                made = self.call(inputs, *args, **kwargs)
        get_default_graph().__dict__.setdefault("_keras_made", {})[made._out] = self, inputs
        self.input, self.output = inputs, made
        return made

    def _trainable(self):
        found = [] if self._graph is None else self._graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        return [v for v in self._own.values() if any(v is f for f in found)]

    weights = variables = property(lambda self: list(self._own.values()))
    trainable_weights = trainable_variables = property(_trainable)
    non_trainable_weights = property(lambda self: [v for v in self.weights if all(v is not t for t in self.trainable_weights)])
    non_trainable_variables = property(lambda self: self.non_trainable_weights)


class Dense(Layer):
    _KIND = "dense"

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, **kwargs):
        super().__init__(**kwargs)
        self.units, self.activation, self.use_bias = int(units), _activation(activation), use_bias
        self._with = dict(kernel_initializer=_initializer(kernel_initializer), bias_initializer=_initializer(bias_initializer),
                          kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
                          activity_regularizer=activity_regularizer)

    def call(self, inputs):
        return core.dense(inputs, self.units, self.activation, self.use_bias, trainable=self.trainable, name=core.HERE, **self._with)


class Conv2D(Layer):
    _KIND = "conv2d"

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1),
                 activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, **kwargs):
        super().__init__(**kwargs)
        self.filters, self.kernel_size, self.activation = filters, kernel_size, _activation(activation)
        self._with = dict(strides=strides, padding=padding, data_format=data_format or "channels_last",
                          dilation_rate=dilation_rate, use_bias=use_bias, kernel_initializer=_initializer(kernel_initializer),
                          bias_initializer=_initializer(bias_initializer), kernel_regularizer=kernel_regularizer,
                          bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer)

    def call(self, inputs):
        return core.conv2d(inputs, self.filters, self.kernel_size, activation=self.activation, trainable=self.trainable,
                           name=core.HERE, **self._with)


class MaxPool2D(Layer):
    _KIND, _POOL = "max_pooling2d", staticmethod(core.max_pooling2d)

    def __init__(self, pool_size=(2, 2), strides=None, padding="valid", data_format=None, **kwargs):
        super().__init__(**kwargs)
        self._with = dict(pool_size=pool_size, strides=pool_size if strides is None else strides, padding=padding,
                          data_format=data_format or "channels_last")

    def call(self, inputs):
        return self._POOL(inputs, name=core.HERE, **self._with)


MaxPooling2D = MaxPool2D


class AveragePooling2D(MaxPool2D):
    _KIND, _POOL = "average_pooling2d", staticmethod(core.average_pooling2d)


AvgPool2D = AveragePooling2D


class Flatten(Layer):
    _KIND = "flatten"

    def call(self, inputs):
        return core.flatten(inputs, name=core.HERE)


class Activation(Layer):
    _KIND = "activation"

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.activation = _activation(activation)

    def call(self, inputs):
        return array_ops.identity(inputs) if self.activation is None else self.activation(inputs)


class Dropout(Layer):
    _KIND = "dropout"

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs):
        return core.dropout(inputs, self.rate, self.noise_shape, self.seed, training=backend.learning_phase(), name=core.HERE)


def Input(shape=None, batch_size=None, name=None, dtype=None, sparse=False, tensor=None, **kwargs):
    """Where a model begins: a placeholder, or the tensor that is given."""
    if sparse or kwargs:
        raise NotImplementedError("tf.keras.layers.Input(%s=...) is not in Weft%s" % (
            "sparse" if sparse else sorted(kwargs)[0], where()))
    if tensor is not None:
        return tensor
    if shape is None:
        raise ValueError("Please provide to Input either a `shape` or a `tensor` argument.")
    dims = [batch_size] + list(shape)
    graph = get_default_graph()
    return array_ops.placeholder(as_dtype(dtype or dtypes.float32), dims, name=name or "input_%d" % _count(graph))


def _count(graph):
    graph._keras_inputs = getattr(graph, "_keras_inputs", 0) + 1
    return graph._keras_inputs

