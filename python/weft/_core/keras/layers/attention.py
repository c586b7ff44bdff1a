"""Layers of attention: Attention, AdditiveAttention and MultiHeadAttention, and EinsumDense, which the last one uses.
"""
import math
import re
import string

from weft._core.framework.build import convert_to_tensor
from weft._core.framework.tensor_shape import TensorShape
from weft._core.keras import activations, backend, constraints, initializers, regularizers
from weft._core.keras.base_layer import Layer, output_shape
from weft._core.keras.layers.activation import Softmax
from weft._core.keras.layers.regularization import Dropout
from weft._core.nn import nn
from weft._core.ops import array_ops, math_ops
from weft._core.ops.control_flow import smart_cond
from weft._core.ops.math_ops import einsum


class BaseDenseAttention(Layer):
    """Sums values weighted by a softmax of scores of queries and keys; inputs are [query, value] or [query, value,
    key].
    """

    _CONFIG = ("dropout",)

    def __init__(self, dropout=0.0, **kwargs):
        self.causal = kwargs.pop("causal", False)
        super().__init__(**kwargs)
        self.dropout, self.supports_masking = dropout, True

    def _calculate_scores(self, query, key):
        raise NotImplementedError("%s has no _calculate_scores()" % type(self).__name__)

    def _check(self, inputs, mask):
        for what, given in (("inputs", inputs), ("mask", mask)):
            if given is not None and not isinstance(given, list):
                raise ValueError("%s layer must be called on a list of %s, namely [query, value] or [query, value, key]. Received: %s." % (
                    type(self).__name__, what, given))
        if not 2 <= len(inputs) <= 3:
            raise ValueError("%s layer accepts inputs list of length 2 or 3, namely [query, value] or [query, value, key]. Received "
                             "length: %d." % (type(self).__name__, len(inputs)))
        if mask is not None and not 2 <= len(mask) <= len(inputs):
            raise ValueError("%s layer mask must be a list of length 2, namely [query_mask, value_mask]. Received length: %d." % (
                type(self).__name__, len(mask)))

    def call(self, inputs, mask=None, training=None, return_attention_scores=False, use_causal_mask=False):
        self._check(inputs, mask)
        query, value = inputs[:2]
        key = inputs[2] if len(inputs) > 2 else value
        scores = self._calculate_scores(query, key)
        value_mask = mask[1] if mask else None
        if value_mask is not None:
            value_mask = array_ops.expand_dims(value_mask, axis=-2)
        whole = _both(value_mask, _causal(scores) if self.causal or use_causal_mask else None)
        made, weights = self._apply(scores, value, whole, training)
        query_mask = mask[0] if mask else None
        if query_mask is not None:
            made = made * math_ops.cast(array_ops.expand_dims(query_mask, axis=-1), made.dtype)
        return (made, weights) if return_attention_scores else made

    def _apply(self, scores, value, mask, training):
        if mask is not None:
            out = math_ops.cast(math_ops.logical_not(mask), scores.dtype)
            scores = scores - (65504.0 if scores.dtype.name == "float16" else 1e9) * out
        if training is None:
            training = backend.learning_phase()
        weights = nn.softmax(scores)
        if self.dropout > 0:
            weights = smart_cond(training, lambda: nn.dropout(weights, rate=self.dropout), lambda: array_ops.identity(weights))
        return math_ops.matmul(weights, value), weights

    def compute_mask(self, inputs, mask=None):
        self._check(inputs, mask)
        return None if mask is None or mask[0] is None else convert_to_tensor(mask[0])

    @output_shape
    def compute_output_shape(self, input_shape):
        return tuple(input_shape[0][:-1]) + (input_shape[1][-1],)


def _causal(scores):
    """Returns True where a key is not after the query."""
    shape = array_ops.shape(scores)
    inside = array_ops.concat([array_ops.ones_like(shape[:-2]), shape[-2:]], axis=0)
    rows = math_ops.cumsum(array_ops.ones(inside, dtype="int32"), axis=-2)
    return math_ops.greater_equal(rows, math_ops.cumsum(array_ops.ones(inside, dtype="int32"), axis=-1))


def _both(a, b):
    return b if a is None else a if b is None else math_ops.logical_and(a, b)


class Attention(BaseDenseAttention):
    """Dot-product attention."""

    _CONFIG = ("use_scale", "score_mode")

    def __init__(self, use_scale=False, score_mode="dot", **kwargs):
        super().__init__(**kwargs)
        self.use_scale, self.score_mode = use_scale, score_mode
        if score_mode not in ("dot", "concat"):
            raise ValueError("Invalid value for argument score_mode. Expected one of {'dot', 'concat'}. Received: score_mode=%s" % (
                score_mode,))

    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(), initializer="ones", dtype=self.dtype,
                                     trainable=True) if self.use_scale else None
        self.concat_score_weight = self.add_weight(name="concat_score_weight", shape=(), initializer="ones", dtype=self.dtype,
                                                   trainable=True) if self.score_mode == "concat" else None
        super().build(input_shape)

    def _calculate_scores(self, query, key):
        if self.score_mode == "dot":
            scores = math_ops.matmul(query, key, transpose_b=True)
            return scores if self.scale is None else scores * self.scale
        made = array_ops.expand_dims(query, axis=-2) + array_ops.expand_dims(key, axis=-3)
        made = math_ops.tanh(made if self.scale is None else self.scale * made)
        return self.concat_score_weight * math_ops.reduce_sum(made, axis=-1)


class AdditiveAttention(BaseDenseAttention):
    """Attention whose scores come from the sum of query and key."""

    _CONFIG = ("use_scale",)

    def __init__(self, use_scale=True, **kwargs):
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape):
        dim = TensorShape(input_shape[1]).as_list()[-1]
        self.scale = self.add_weight(name="scale", shape=[dim], initializer="glorot_uniform", dtype=self.dtype,
                                     trainable=True) if self.use_scale else None
        super().build(input_shape)

    def _calculate_scores(self, query, key):
        made = math_ops.tanh(array_ops.expand_dims(query, axis=-2) + array_ops.expand_dims(key, axis=-3))
        return math_ops.reduce_sum(made if self.scale is None else self.scale * made, axis=-1)


def _einsum_shapes(equation, bias_axes, input_shape, outputs):
    """Returns the shapes of the kernel, the bias and the outputs of an equation, which may begin or end with an
    ellipsis.
    """
    for pattern, left in ((r"^([a-zA-Z]+),([a-zA-Z]+)->([a-zA-Z]+)$", False),
                          (r"^\.\.\.([a-zA-Z]+),([a-zA-Z]+)->\.\.\.([a-zA-Z]+)$", True),
                          (r"^([a-zA-Z]+)\.\.\.,([a-zA-Z]+)->([a-zA-Z]+)\.\.\.$", False)):
        found = re.match(pattern, re.sub(r"\s", "", equation))
        if found:
            return _shapes_of(*found.groups(), bias_axes, input_shape, outputs, left)
    raise ValueError("Invalid einsum equation '%s'. Equations must be in the form [X],[Y]->[Z], ...[X],[Y]->...[Z], or "
                     "[X]...,[Y]->[Z]...." % equation)


def _shapes_of(inputs, kernel, made, bias_axes, input_shape, outputs, left):
    shape, outputs = list(input_shape), list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    elided = len(shape) - len(inputs)
    sizes = {c: shape[i + elided if left else i] for i, c in enumerate(inputs)}
    named = dict(zip(made[-len(outputs):], outputs)) if left or elided == 0 else dict(zip(made[1:], outputs))
    full = []
    for c in made:
        size = named.get(c)
        full.append(size if size is not None else sizes.get(c))
        if c in sizes and size is not None and sizes[c] is not None and sizes[c] != size:
            raise ValueError("Input shape and output shape do not match at shared dimension '%s'. Input shape is %s, and output shape is "
                             "%s." % (c, sizes[c], size))
    out_sizes = dict(zip(made, full))
    weights = []
    for c in kernel:
        if c not in sizes and c not in out_sizes:
            raise ValueError("Weight dimension '%s' did not have a match in either the input spec '%s' or the output spec '%s'. For this "
                             "layer, the weight must be fully specified." % (c, inputs, made))
        weights.append(sizes[c] if sizes.get(c) is not None else out_sizes.get(c))
    bias = None
    if bias_axes is not None:
        for c in bias_axes:
            if c not in out_sizes:
                raise ValueError("Bias dimension '%s' was requested, but is not part of the output spec '%s'" % (c, made))
        first = min(made.index(c) for c in bias_axes)
        bias = [out_sizes[c] if c in bias_axes else 1 for c in made[first:]]
        bias += [1] * (0 if left else elided)
    return weights, bias, (shape[:elided] + full) if left else full + shape[len(inputs):]


class EinsumDense(Layer):
    """activation(einsum(equation, inputs, kernel) + bias)"""

    _CONFIG = ("output_shape", "equation", "activation", "bias_axes", "kernel_initializer", "bias_initializer", "kernel_regularizer",
               "bias_regularizer", "activity_regularizer", "kernel_constraint", "bias_constraint")

    def __init__(self, equation, output_shape, activation=None, bias_axes=None, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(**kwargs)  # As in TensorFlow, activity_regularizer has no effect on this layer.
        self.equation, self.activation, self.bias_axes = equation, activations.get(activation), bias_axes
        self.partial_output_shape = list(output_shape) if isinstance(output_shape, (list, tuple)) else [output_shape]
        self.kernel_initializer, self.bias_initializer = initializers.get(kernel_initializer), initializers.get(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = regularizers.get(kernel_regularizer), regularizers.get(bias_regularizer)
        self.kernel_constraint, self.bias_constraint = constraints.get(kernel_constraint), constraints.get(bias_constraint)

    def build(self, input_shape):
        kernel, bias, full = _einsum_shapes(self.equation, self.bias_axes, TensorShape(input_shape).as_list(), self.partial_output_shape)
        self.full_output_shape = TensorShape(full)
        self.kernel = self.add_weight("kernel", shape=kernel, initializer=self.kernel_initializer, regularizer=self.kernel_regularizer,
                                      constraint=self.kernel_constraint, dtype=self.dtype, trainable=True)
        self.bias = self.add_weight("bias", shape=bias, initializer=self.bias_initializer, regularizer=self.bias_regularizer,
                                    constraint=self.bias_constraint, dtype=self.dtype, trainable=True) if bias is not None else None
        super().build(input_shape)

    def compute_output_shape(self, input_shape):
        return TensorShape(_einsum_shapes(self.equation, self.bias_axes, TensorShape(input_shape).as_list(),
                                          self.partial_output_shape)[2])

    def get_config(self):
        config = self._configured(self._CONFIG[1:])
        config["output_shape"] = self.partial_output_shape
        return config

    def call(self, inputs):
        made = einsum(self.equation, inputs, self.kernel)
        if self.bias is not None:
            made = made + self.bias
        return made if self.activation is None else self.activation(made)


def _projection(free, bound, outputs):
    """Returns the equation of a projection of `bound` axes to `outputs` axes, the axes of its bias, and the rank of its
    result.
    """
    letters = iter(string.ascii_lowercase)
    inputs = [next(letters) for _ in range(free)]
    inside = [next(letters) for _ in range(bound)]
    made = [next(letters) for _ in range(outputs)]
    return "%s,%s->%s" % ("".join(inputs + inside), "".join(inside + made), "".join(inputs + made)), "".join(made), free + outputs


class MultiHeadAttention(Layer):
    """Attention with several heads, each with its own projections."""

    def __init__(self, num_heads, key_dim, value_dim=None, dropout=0.0, use_bias=True, output_shape=None, attention_axes=None,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, **kwargs):
        self._shapes = tuple(kwargs.pop(k, None) for k in ("query_shape", "key_shape", "value_shape"))
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.supports_masking = True
        self.num_heads, self.key_dim, self.value_dim = num_heads, key_dim, value_dim or key_dim
        self.dropout, self.use_bias, self.given_output_shape = dropout, use_bias, output_shape
        self.kernel_initializer, self.bias_initializer = initializers.get(kernel_initializer), initializers.get(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = regularizers.get(kernel_regularizer), regularizers.get(bias_regularizer)
        self.kernel_constraint, self.bias_constraint = constraints.get(kernel_constraint), constraints.get(bias_constraint)
        if attention_axes is not None and not isinstance(attention_axes, (list, tuple)):
            attention_axes = (attention_axes,)
        self.attention_axes = None if attention_axes is None else tuple(attention_axes)
        self._built_from_signature = False

    def get_config(self):
        config = self._configured(("num_heads", "key_dim", "value_dim", "dropout", "use_bias"))
        config.update(output_shape=self.given_output_shape, attention_axes=self.attention_axes)
        config.update({k: v for k, v in self._configured((
            "kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer", "activity_regularizer",
            "kernel_constraint", "bias_constraint")).items() if k not in config})
        config.update(zip(("query_shape", "key_shape", "value_shape"), self._shapes))
        return config

    def _dense(self, equation, output_shape, bias_axes, name):
        """Returns a projection. Its initializers are copies, so that each draws different numbers."""
        def again(x):
            return type(x).from_config(x.get_config()) if hasattr(x, "get_config") else x
        return EinsumDense(equation, output_shape=output_shape, bias_axes=bias_axes if self.use_bias else None, name=name,
                           kernel_initializer=again(self.kernel_initializer), bias_initializer=again(self.bias_initializer),
                           kernel_regularizer=self.kernel_regularizer, bias_regularizer=self.bias_regularizer,
                           activity_regularizer=self._activity_regularizer, kernel_constraint=self.kernel_constraint,
                           bias_constraint=self.bias_constraint)

    def _build_from_signature(self, query, value, key=None):
        self._built_from_signature = True
        self._query_shape, self._value_shape = TensorShape(query), TensorShape(value)
        self._key_shape = self._value_shape if key is None else TensorShape(key)
        self._shapes = self._query_shape, self._key_shape, self._value_shape
        self._set_equations()
        for name, shape, dim in (("query", self._query_shape, self.key_dim), ("key", self._key_shape, self.key_dim),
                                 ("value", self._value_shape, self.value_dim)):
            equation, bias, rank = _projection(shape.ndims - 1, 1, 2)
            out = ([None] * (rank - 1) + [self.num_heads, dim])[-(rank - 1):]
            setattr(self, "_%s_dense" % name, self._dense(equation, out, bias, name))
        self._softmax = Softmax(axis=self._norm_axes, name="softmax")
        self._dropout_layer = Dropout(rate=self.dropout, name="dropout")
        out = self.given_output_shape
        out = [self._query_shape.as_list()[-1]] if not out else list(out) if isinstance(out, (list, tuple)) else [out]
        equation, bias, rank = _projection(self._query_shape.ndims - 1, 2, len(out))
        self._output_dense = self._dense(equation, ([None] * (rank - 1) + out)[-(rank - 1):], bias, "attention_output")

    def _set_equations(self):
        """Sets the two einsum equations of attention for any choice of attention axes."""
        rank = self._query_shape.ndims + 1
        axes = self.attention_axes or tuple(range(1, rank - 2))
        self.attention_axes = axes
        target = string.ascii_lowercase[:rank]
        batch = tuple(i for i in range(rank) if i not in axes + (rank - 1,))
        letter, source = rank, ""
        for i in range(rank):
            if i in batch or i == rank - 1:
                source += target[i]
            else:
                source += string.ascii_lowercase[letter]
                letter += 1
        product = "".join([target[i] for i in batch] + [target[i] for i in axes] + [source[i] for i in axes])
        self._dot_equation, self._combine_equation = "%s,%s->%s" % (source, target, product), "%s,%s->%s" % (product, source, target)
        self._norm_axes = tuple(range(len(product) - len(axes), len(product)))

    def _call_parameters(self):
        import inspect
        return dict(inspect.signature(self.call).parameters)

    def call(self, query, value, key=None, attention_mask=None, return_attention_scores=False, training=None, use_causal_mask=False):
        attention_mask = self._attention_mask(query, value, key, attention_mask, use_causal_mask)
        if not self._built_from_signature:
            self._build_from_signature(query.shape, value.shape, None if key is None else key.shape)
        key = value if key is None else key
        q, k, v = self._query_dense(query), self._key_dense(key), self._value_dense(value)
        q = math_ops.multiply(q, 1.0 / math.sqrt(float(self.key_dim)))
        scores = einsum(self._dot_equation, k, q)
        if attention_mask is not None:
            at = -len(self.attention_axes) * 2 - 1
            for _ in range(scores.shape.ndims - attention_mask.shape.ndims):
                attention_mask = array_ops.expand_dims(attention_mask, axis=at)
            scores = self._softmax(scores, mask=attention_mask)
        else:
            scores = self._softmax(scores)
        dropped = self._dropout_layer(scores, training=training)
        made = self._output_dense(einsum(self._combine_equation, dropped, v))
        return (made, scores) if return_attention_scores else made

    def _attention_mask(self, query, value, key, attention_mask, causal):
        """Returns all masks combined: those of the tensors, the given one, and the causal one."""
        found = None
        masks = [getattr(x, "_keras_mask", None) for x in (query, value, key)]
        for mask, axis in zip(masks, ("query", "value", "key")):
            if mask is not None:
                mask = math_ops.cast(mask, "bool")
                found = _both(found, mask[:, :, None] if axis == "query" else mask[:, None, :])
        if causal:
            rows, columns = array_ops.shape(query)[1], array_ops.shape(query if value is None else value)[1]
            ones = array_ops.ones(array_ops.stack([1, rows, columns]), dtype="int32")
            found = _both(found, math_ops.greater_equal(math_ops.cumsum(ones, axis=-2), math_ops.cumsum(ones, axis=-1)))
        if found is None:
            return attention_mask
        return found if attention_mask is None else math_ops.cast(attention_mask, bool) & found

    def compute_output_shape(self, query_shape, value_shape=None, key_shape=None):
        query = TensorShape(query_shape).as_list()
        out = self.given_output_shape
        if out:
            return TensorShape(query[:-1] + (list(out) if isinstance(out, (list, tuple)) else [out]))
        return TensorShape(query)
