"""The basic layers of tf.keras: Dense, Activation, Flatten, Reshape, Lambda, Embedding, Masking and so on."""
import inspect

import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.build import constant, convert_to_tensor
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.nest import map_structure
from weft._core.framework.tensor_shape import TensorShape
from weft._core.keras import activations, arguments, backend, constraints, functions, initializers, regularizers
from weft._core.keras.base_layer import Layer, output_shape
from weft._core.keras.input_spec import InputSpec
from weft._core.nn import nn
from weft._core.ops import array_ops, math_ops


class Dense(Layer):
    """Computes activation(inputs * kernel + bias) along the last axis."""

    _CONFIG = ("units", "activation", "use_bias", "kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer",
               "activity_regularizer", "kernel_constraint", "bias_constraint")

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
                 **kwargs):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.units = int(units) if not isinstance(units, int) else units
        if self.units < 0:
            raise ValueError("Received an invalid value for `units`, expected a positive integer. Received: units=%s" % units)
        self.activation, self.use_bias = activations.get(activation), use_bias
        self.kernel_initializer, self.bias_initializer = initializers.get(kernel_initializer), initializers.get(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = regularizers.get(kernel_regularizer), regularizers.get(bias_regularizer)
        self.kernel_constraint, self.bias_constraint = constraints.get(kernel_constraint), constraints.get(bias_constraint)
        self.input_spec, self.supports_masking = InputSpec(min_ndim=2), True

    def build(self, input_shape):
        dtype = as_dtype(self.dtype or backend.floatx())
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError("A Dense layer can only be built with a floating-point dtype. Received: dtype=%s" % dtype)
        shape = TensorShape(input_shape)
        depth = None if shape.ndims is None else shape.as_list()[-1]
        if depth is None:
            raise ValueError("The last dimension of the inputs to a Dense layer should be defined. Found None. Full input shape "
                             "received: %s" % (input_shape,))
        self.input_spec = InputSpec(min_ndim=2, axes={-1: depth})
        self.kernel = self.add_weight("kernel", shape=[depth, self.units], initializer=self.kernel_initializer, dtype=self.dtype,
                                      regularizer=self.kernel_regularizer, constraint=self.kernel_constraint, trainable=True)
        self.bias = self.add_weight("bias", shape=[self.units], initializer=self.bias_initializer, dtype=self.dtype, trainable=True,
                                    regularizer=self.bias_regularizer, constraint=self.bias_constraint) if self.use_bias else None
        self.built = True

    def call(self, inputs):
        if inputs.dtype.base_dtype != self._dtype:
            inputs = math_ops.cast(inputs, self._dtype)
        rank = inputs.shape.ndims
        if rank in (2, None):
            made = math_ops.matmul(inputs, self.kernel)
        else:
            made = math_ops.tensordot(inputs, self.kernel, [[rank - 1], [0]])
        if self.use_bias:
            made = nn.bias_add(made, self.bias)
        return made if self.activation is None else self.activation(made)

    def compute_output_shape(self, input_shape):
        dims = TensorShape(input_shape).with_rank_at_least(2).as_list()
        if dims[-1] is None:
            raise ValueError("The last dimension of the input shape of a Dense layer should be defined. Found None. Received: "
                             "input_shape=%s" % (input_shape,))
        return TensorShape(dims[:-1] + [self.units])


class Activation(Layer):
    """Applies a function, given directly or by name."""

    _CONFIG = ("activation",)

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking, self.activation = True, activations.get(activation)

    def call(self, inputs):
        return self.activation(inputs)

    def compute_output_shape(self, input_shape):
        return input_shape


class ActivityRegularization(Layer):
    """Returns the inputs unchanged, and adds a loss of their size."""

    _CONFIG = ("l1", "l2")

    def __init__(self, l1=0.0, l2=0.0, **kwargs):
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking, self.l1, self.l2 = True, l1, l2

    def compute_output_shape(self, input_shape):
        return input_shape


class Identity(Layer):
    """Returns the inputs unchanged."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.supports_masking = True

    def call(self, inputs):
        return map_structure(array_ops.identity, inputs)


class Flatten(Layer):
    """Reshapes each example of the batch into one row."""

    _CONFIG = ("data_format",)

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = arguments.layout(data_format)
        self.input_spec = InputSpec(min_ndim=1)
        self._channels_first = self.data_format == "channels_first"

    def call(self, inputs):
        rank = inputs.shape.ndims
        if self._channels_first and rank is not None and rank > 1:
            inputs = array_ops.transpose(inputs, perm=[0, *range(2, rank), 1])
        dims = None if rank is None else inputs.shape.as_list()
        if rank == 1:
            return array_ops.expand_dims(inputs, axis=1)
        if dims is not None and None not in dims[1:]:
            return array_ops.reshape(inputs, constant([-1, int(np.prod(dims[1:]))]))
        made = array_ops.reshape(inputs, (array_ops.shape(inputs)[0], -1))
        return made

    def compute_output_shape(self, input_shape):
        dims = TensorShape(input_shape).as_list()
        if not dims:
            return TensorShape([1])
        return TensorShape([dims[0], None if None in dims[1:] else int(np.prod(dims[1:]))])


class Reshape(Layer):
    """Reshapes the inputs; target_shape does not include the batch."""

    _CONFIG = ("target_shape",)

    def __init__(self, target_shape, **kwargs):
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def _completed(self, dims, target):
        """Returns the target shape with its -1 replaced, for inputs of a known size."""
        made = list(target)
        said = "total size of new array must be unchanged, input_shape = %s, output_shape = %s" % (list(dims), list(target))
        unknown = [i for i, d in enumerate(target) if d < 0]
        if len(unknown) > 1:
            raise ValueError("There must be at most one unknown dimension in output_shape. Received: output_shape=%s." % (list(target),))
        known, size = int(np.prod([d for d in target if d >= 0])), int(np.prod(dims))
        if unknown:
            if known == 0 or size % known:
                raise ValueError(said)
            made[unknown[0]] = size // known
        elif size != known:
            raise ValueError(said)
        return made

    def compute_output_shape(self, input_shape):
        dims = TensorShape(input_shape).as_list()
        if None in dims[1:]:
            return TensorShape([dims[0]] + [None if d == -1 else d for d in self.target_shape])
        return TensorShape([dims[0]] + self._completed(dims[1:], self.target_shape))

    def call(self, inputs):
        made = array_ops.reshape(inputs, (array_ops.shape(inputs)[0],) + self.target_shape)
        made.set_shape(self.compute_output_shape(inputs.shape))
        return made


class Permute(Layer):
    """Permutes the axes after the batch, which are counted from one."""

    _CONFIG = ("dims",)

    def __init__(self, dims, **kwargs):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError("Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` must be consecutive and "
                             "start from 1. Received dims=%s" % (dims,))
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def compute_output_shape(self, input_shape):
        dims = TensorShape(input_shape).as_list()
        return TensorShape([dims[0]] + [dims[d] for d in self.dims])

    def call(self, inputs):
        return array_ops.transpose(inputs, perm=(0,) + self.dims)


class RepeatVector(Layer):
    """Repeats each row n times."""

    _CONFIG = ("n",)

    def __init__(self, n, **kwargs):
        super().__init__(**kwargs)
        self.n = n
        if not isinstance(n, int):
            raise TypeError("Expected an integer value for `n`, got %s." % type(n))
        self.input_spec = InputSpec(ndim=2)

    def compute_output_shape(self, input_shape):
        dims = TensorShape(input_shape).as_list()
        return TensorShape([dims[0], self.n, dims[1]])

    def call(self, inputs):
        with_time = array_ops.expand_dims(inputs, 1)
        return array_ops.tile(with_time, array_ops.stack([1, self.n, 1]))


class Lambda(Layer):
    """Applies a function of the program. Variables that it makes do not belong to the layer."""

    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        self.arguments, self.function, self.mask = arguments or {}, function, mask
        if mask is not None:
            self.supports_masking = True
        self._output_shape = output_shape
        takes = inspect.signature(function).parameters if callable(function) else {}
        self._passes = [n for n in ("mask", "training") if n in takes]

    def _call_parameters(self):
        found = dict(inspect.signature(self.call).parameters)
        return {n: p for n, p in found.items() if n == "inputs" or n in self._passes}

    def call(self, inputs, mask=None, training=None):
        given = dict(self.arguments)
        given.update({n: v for n, v in (("mask", mask), ("training", training)) if n in self._passes})
        return self.function(inputs, **given)

    def compute_output_shape(self, input_shape):
        if self._output_shape is None:
            return self._shape_by_call(input_shape)
        if callable(self._output_shape):
            found = self._output_shape(input_shape)
            return TensorShape(found) if not isinstance(found, list) or not isinstance(found[0], (tuple, list)) else found
        if not isinstance(input_shape, TensorShape) and input_shape and isinstance(input_shape[0], (tuple, list, TensorShape)):
            input_shape = input_shape[0]
        batch = TensorShape(input_shape).as_list()[0]
        return TensorShape([batch] + list(TensorShape(self._output_shape).as_list()))

    def _shape_by_call(self, input_shape):
        """Returns the output shape by calling the function on placeholders in a separate graph."""
        from weft._core.framework.graph import Graph
        with Graph().as_default():
            def placeholder(shape):
                return array_ops.placeholder(as_dtype(self.dtype or backend.floatx()), shape)
            nested = not isinstance(input_shape, TensorShape) and input_shape and isinstance(input_shape[0], (tuple, list, TensorShape))
            made = self.function([placeholder(s) for s in input_shape] if nested else placeholder(input_shape), **self.arguments)
            return map_structure(lambda t: t.shape, made)

    def compute_mask(self, inputs, mask=None):
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def get_config(self):
        config = Layer.get_config.__get__(self)() if type(self) is Lambda else super().get_config()
        function, kind, module = functions.serialize(self.function)
        shape, shape_kind, shape_module = functions.serialize(self._output_shape)
        config.update(function=function, function_type=kind, module=module, output_shape=shape, output_shape_type=shape_kind,
                      output_shape_module=shape_module, arguments=self.arguments)
        if self.mask is not None:
            config["mask"], config["mask_type"], config["mask_module"] = functions.serialize(self.mask)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        for key, kind, module in (("function", "function_type", "module"), ("output_shape", "output_shape_type", "output_shape_module"),
                                  ("mask", "mask_type", "mask_module")):
            config[key] = functions.deserialize(config.get(key), config.pop(kind, "raw"), config.pop(module, None), custom_objects)
        return cls(**config)


class Masking(Layer):
    """Masks the steps of a sequence whose values all equal mask_value."""

    _CONFIG = ("mask_value",)

    def __init__(self, mask_value=0.0, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking, self.mask_value = True, mask_value

    def compute_mask(self, inputs, mask=None):
        return math_ops.reduce_any(math_ops.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs):
        kept = math_ops.reduce_any(math_ops.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        made = inputs * math_ops.cast(kept, inputs.dtype)
        made._keras_mask = array_ops.squeeze(kept, axis=-1)
        return made

    def compute_output_shape(self, input_shape):
        return input_shape


class Embedding(Layer):
    """Looks up a row of a matrix for each integer."""

    _CONFIG = ("input_dim", "output_dim", "embeddings_initializer", "embeddings_regularizer", "activity_regularizer",
               "embeddings_constraint", "mask_zero", "input_length")

    def __init__(self, input_dim, output_dim, embeddings_initializer="uniform", embeddings_regularizer=None, activity_regularizer=None,
                 embeddings_constraint=None, mask_zero=False, input_length=None, sparse=False, **kwargs):
        if "input_shape" not in kwargs and "batch_input_shape" not in kwargs:
            kwargs["input_shape"] = (input_length,) if input_length else (None,)
        if input_dim <= 0 or output_dim <= 0:
            raise ValueError("Both `input_dim` and `output_dim` should be positive, Received input_dim = %s and output_dim = %s" % (
                input_dim, output_dim))
        kwargs.setdefault("dtype", backend.floatx())
        kwargs["activity_regularizer"] = activity_regularizer
        super().__init__(**{k: v for k, v in kwargs.items() if k != "autocast"})
        self.input_dim, self.output_dim, self.mask_zero, self.input_length = input_dim, output_dim, mask_zero, input_length
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)
        self.supports_masking, self.sparse = mask_zero, sparse
        if sparse:
            raise NotImplementedError("tf.keras.layers.Embedding(sparse=True) is not in Weft: it changes how a SparseTensor of ids is "
                                      "looked up; use tf.nn.embedding_lookup_sparse")

    def build(self, input_shape=None):
        self.embeddings = self.add_weight(shape=(self.input_dim, self.output_dim), initializer=self.embeddings_initializer,
                                          name="embeddings", regularizer=self.embeddings_regularizer,
                                          constraint=self.embeddings_constraint)
        self.built = True

    def compute_mask(self, inputs, mask=None):
        return math_ops.not_equal(inputs, 0) if self.mask_zero else None

    @output_shape
    def compute_output_shape(self, input_shape):
        if self.input_length is None:
            return input_shape + (self.output_dim,)
        lengths = list(self.input_length) if isinstance(self.input_length, (list, tuple)) else [self.input_length]
        if len(lengths) != len(input_shape) - 1:
            raise ValueError('"input_length" is %s, but received input has shape %s' % (self.input_length, input_shape))
        for i, (given, found) in enumerate(zip(lengths, input_shape[1:])):
            if given is not None and found is not None and given != found:
                raise ValueError('"input_length" is %s, but received input has shape %s' % (self.input_length, input_shape))
            lengths[i] = found if given is None else given
        return (input_shape[0],) + tuple(lengths) + (self.output_dim,)

    def call(self, inputs):
        inputs = convert_to_tensor(inputs)
        if inputs.dtype.base_dtype not in (dtypes.int32, dtypes.int64):
            inputs = math_ops.cast(inputs, dtypes.int32)
        return nn.embedding_lookup(self.embeddings, inputs)
