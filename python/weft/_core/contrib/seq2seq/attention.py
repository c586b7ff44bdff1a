"""The attention mechanisms of tf.contrib.seq2seq, which score each step of the memory against a query."""
import weft as tf
from weft._core.contrib.seq2seq.parts import Projection, size_of
from weft._core.framework import nest
from weft._core.framework.absent import Named


class AttentionMechanism(metaclass=Named):
    """The base of attention mechanisms: alignments, state = mechanism(query, state)"""

    @property
    def alignments_size(self):
        raise NotImplementedError("%s has no alignments_size" % type(self).__name__)

    @property
    def state_size(self):
        raise NotImplementedError("%s has no state_size" % type(self).__name__)


def _with_rank(mask, x):
    """Returns a mask of (batch, time) with the rank of x."""
    return tf.reshape(mask, tf.concat([tf.shape(mask), tf.ones([tf.rank(x) - 2], tf.int32)], 0))


def _prepare_memory(memory, lengths, check_inner_dims_defined):
    """Returns the memory, with zeros after the end of each row."""
    memory = nest.map_structure(lambda m: tf.convert_to_tensor(m, name="memory"), memory)
    if check_inner_dims_defined:
        for m in nest.flatten(memory):
            if not m.shape[2:].is_fully_defined():
                raise ValueError("Expected memory %s to have fully defined inner dims, but saw shape: %s" % (m.name, m.shape))
    if lengths is None:
        return memory
    first = nest.flatten(memory)[0]
    mask = tf.sequence_mask(lengths, maxlen=tf.shape(first)[1], dtype=first.dtype)
    return nest.map_structure(lambda m: m * _with_rank(mask, m), memory)


def _masked_score(score, lengths, score_mask_value):
    """Returns the score, with score_mask_value after the end of each row."""
    if lengths is None:
        return score
    message = "All values in memory_sequence_length must greater than zero."
    with tf.control_dependencies([tf.assert_positive(lengths, message=message)]):
        mask = tf.sequence_mask(lengths, maxlen=tf.shape(score)[1])
        return tf.where(mask, score, score_mask_value * tf.ones_like(score))


def _check_dtype(dtype, memory):
    if dtype is not None and tf.as_dtype(dtype) != memory.dtype.base_dtype:
        raise TypeError("the memory is of type %s, but the attention of dtype=%s: give the memory's type as dtype" % (
            memory.dtype.base_dtype.name, tf.as_dtype(dtype).name))


class _BaseAttentionMechanism(AttentionMechanism):
    """A memory with its keys, and a function that converts scores to probabilities."""

    def __init__(self, query_layer, memory, probability_fn, memory_sequence_length=None, memory_layer=None,
                 check_inner_dims_defined=True, score_mask_value=None, custom_key_value_fn=None, name=None):
        if not callable(probability_fn):
            raise TypeError("probability_fn must be callable, saw type: %s" % type(probability_fn).__name__)
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self._dtype = None if memory_layer is None else memory_layer.dtype
        with tf.name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            lengths = None if memory_sequence_length is None else tf.convert_to_tensor(memory_sequence_length,
                                                                                       name="memory_sequence_length")
            self._values = _prepare_memory(memory, lengths, check_inner_dims_defined)
            _check_dtype(self._dtype, nest.flatten(self._values)[0])
            self._keys = self._values if memory_layer is None else memory_layer(self._values)
            self._dtype = self._dtype or nest.flatten(self._keys)[0].dtype
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            value = -float("inf") if score_mask_value is None else score_mask_value
            self._probability_fn = lambda score, before: probability_fn(_masked_score(score, lengths, value), before)
            self._batch_size, self._alignments_size = size_of(self._keys, 0), size_of(self._keys, 1)

    memory_layer = property(lambda self: self._memory_layer)
    query_layer = property(lambda self: self._query_layer)
    values = property(lambda self: self._values)
    keys = property(lambda self: self._keys)
    batch_size = property(lambda self: self._batch_size)
    dtype = property(lambda self: tf.as_dtype(self._dtype))
    alignments_size = property(lambda self: self._alignments_size)
    state_size = property(lambda self: self._alignments_size)

    def initial_alignments(self, batch_size, dtype):
        """Returns the alignments before the first step: zeros."""
        return zero_rows(batch_size, self._alignments_size, dtype)

    def initial_state(self, batch_size, dtype):
        return self.initial_alignments(batch_size, dtype)


def zero_rows(batch_size, size, dtype):
    """Returns zeros of (batch_size, size); either may be a tensor."""
    made = tf.zeros(tf.stack([tf.convert_to_tensor(batch_size, tf.int32), tf.convert_to_tensor(size, tf.int32)]), dtype)
    made.set_shape([x if isinstance(x, int) else None for x in (batch_size, size)])
    return made


def _plain(probability_fn):
    """Returns a function of the score and of the alignments before, of one of the score alone."""
    fn = tf.nn.softmax if probability_fn is None else probability_fn
    return lambda score, _: fn(score)


def _luong_score(query, keys, scale):
    depth, units = query.shape.as_list()[-1], keys.shape.as_list()[-1]
    if depth != units:
        raise ValueError("Incompatible or unknown inner dimensions between query and keys.  Query (%s) has units: %s.  Keys (%s) "
                         "have units: %s.  Perhaps you need to set num_units to the keys' dimension (%s)?" % (
                             query, depth, keys, units, units))
    score = tf.squeeze(tf.matmul(tf.expand_dims(query, 1), keys, transpose_b=True), [1])
    return score if scale is None else scale * score


def _bahdanau_score(query, keys, v, g=None, b=None):
    query = tf.expand_dims(query, 1)
    if g is None:
        return tf.reduce_sum(v * tf.tanh(keys + query), [2])
    normed = g * v * tf.rsqrt(tf.reduce_sum(tf.square(v)))
    return tf.reduce_sum(normed * tf.tanh(keys + query + b), [2])


class _Luong(_BaseAttentionMechanism):
    """Scores the product of query and key."""

    _SCOPE, _BIASED = "luong_attention", False

    def _setup(self, num_units, memory, memory_sequence_length, scale, probability_fn, score_mask_value, dtype, key_value_fn, name):
        self._num_units, self._scale, self._name = num_units, scale, name
        super().__init__(query_layer=None, memory=memory, probability_fn=probability_fn,
                         memory_sequence_length=memory_sequence_length,
                         memory_layer=Projection(num_units, "memory_layer", dtype or tf.float32),
                         score_mask_value=score_mask_value, custom_key_value_fn=key_value_fn, name=name)

    def _score(self, query):
        g = tf.get_variable("attention_g", dtype=query.dtype, initializer=tf.ones_initializer(), shape=()) if self._scale else None
        return _luong_score(query, self._keys, g)

    def __call__(self, query, state):
        with tf.variable_scope(None, self._SCOPE, [query]):
            score = self._score(query)
            if self._BIASED:
                score += tf.get_variable("attention_score_bias", shape=(), dtype=query.dtype,
                                         initializer=tf.constant_initializer(self._score_bias_init))
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class LuongAttention(_Luong):
    """Attention by the product of query and key, which must have the same width."""

    def __init__(self, num_units, memory, memory_sequence_length=None, scale=False, probability_fn=None, score_mask_value=None,
                 dtype=None, custom_key_value_fn=None, name="LuongAttention"):
        self._setup(num_units, memory, memory_sequence_length, scale, _plain(probability_fn), score_mask_value, dtype,
                    custom_key_value_fn, name)


class _Bahdanau(_Luong):
    """Scores with a small network of query and key."""

    _SCOPE = "bahdanau_attention"

    def _setup(self, num_units, memory, memory_sequence_length, normalize, probability_fn, score_mask_value, dtype, key_value_fn,
               name):
        self._num_units, self._normalize, self._name, dtype = num_units, normalize, name, dtype or tf.float32
        _BaseAttentionMechanism.__init__(
            self, query_layer=Projection(num_units, "query_layer", dtype), memory=memory, probability_fn=probability_fn,
            memory_sequence_length=memory_sequence_length, memory_layer=Projection(num_units, "memory_layer", dtype),
            score_mask_value=score_mask_value, custom_key_value_fn=key_value_fn, name=name)

    def _score(self, query):
        processed, n = self._query_layer(query), self._num_units
        v = tf.get_variable("attention_v", [n], dtype=query.dtype)
        if not self._normalize:
            return _bahdanau_score(processed, self._keys, v)
        g = tf.get_variable("attention_g", dtype=query.dtype, initializer=tf.constant_initializer((1.0 / n) ** 0.5), shape=())
        b = tf.get_variable("attention_b", [n], dtype=query.dtype, initializer=tf.zeros_initializer())
        return _bahdanau_score(processed, self._keys, v, g, b)


class BahdanauAttention(_Bahdanau):
    """Attention by a small network of query and key."""

    def __init__(self, num_units, memory, memory_sequence_length=None, normalize=False, probability_fn=None,
                 score_mask_value=None, dtype=None, custom_key_value_fn=None, name="BahdanauAttention"):
        self._setup(num_units, memory, memory_sequence_length, normalize, _plain(probability_fn), score_mask_value, dtype,
                    custom_key_value_fn, name)


# ---- monotonic attention ----

def safe_cumprod(x, *args, **kwargs):
    """Returns the products of numbers between 0 and 1, through the sum of their logarithms."""
    with tf.name_scope(None, "SafeCumprod", [x]):
        x = tf.convert_to_tensor(x, name="x")
        import numpy as np
        tiny = float(np.finfo(x.dtype.as_numpy_dtype).tiny)
        return tf.exp(tf.cumsum(tf.log(tf.clip_by_value(x, tiny, 1)), *args, **kwargs))


def _recursive_attention(p, before):
    """Returns each step of the memory after the one before it."""
    rows = size_of(p, 0)
    shifted = tf.concat([tf.ones([rows, 1], p.dtype), 1 - p[:, :-1]], 1)
    kept = tf.scan(lambda x, yz: tf.reshape(yz[0] * x + yz[1], [rows]), [tf.transpose(shifted), tf.transpose(before)],
                   tf.zeros([rows], p.dtype))
    return p * tf.transpose(kept)


def monotonic_attention(p_choose_i, previous_attention, mode):
    """Returns the distribution of a place in the memory that never moves back."""
    p = tf.convert_to_tensor(p_choose_i, name="p_choose_i")
    before = tf.convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        return _recursive_attention(p, before)
    if mode == "parallel":
        left = safe_cumprod(1 - p, axis=1, exclusive=True)
        return p * left * tf.cumsum(before / tf.clip_by_value(left, 1e-10, 1.0), axis=1)
    if mode == "hard":
        p *= tf.cumsum(before, axis=1)
        return p * tf.cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _monotonic(sigmoid_noise, mode, seed):
    def probability_fn(score, before):
        if sigmoid_noise > 0:
            score += sigmoid_noise * tf.random_normal(tf.shape(score), dtype=score.dtype, seed=seed)
        p = tf.cast(score > 0, score.dtype) if mode == "hard" else tf.sigmoid(score)
        return monotonic_attention(p, before, mode)
    return probability_fn


class _BaseMonotonicAttentionMechanism(metaclass=Named):
    """The base of monotonic attention, which begins at the first step of the memory."""

    _BIASED = True

    def initial_alignments(self, batch_size, dtype):
        return tf.one_hot(tf.zeros(tf.reshape(batch_size, [1]), tf.int32), self._alignments_size, dtype=dtype)


class BahdanauMonotonicAttention(_BaseMonotonicAttentionMechanism, _Bahdanau):
    """Attention by a small network of query and key that never moves back."""

    _SCOPE = "bahdanau_monotonic_attention"

    def __init__(self, num_units, memory, memory_sequence_length=None, normalize=False, score_mask_value=None, sigmoid_noise=0.0,
                 sigmoid_noise_seed=None, score_bias_init=0.0, mode="parallel", dtype=None, name="BahdanauMonotonicAttention"):
        self._score_bias_init = score_bias_init
        self._setup(num_units, memory, memory_sequence_length, normalize, _monotonic(sigmoid_noise, mode, sigmoid_noise_seed),
                    score_mask_value, dtype, None, name)


class LuongMonotonicAttention(_BaseMonotonicAttentionMechanism, _Luong):
    """Attention by the product of query and key that never moves back."""

    _SCOPE = "luong_monotonic_attention"

    def __init__(self, num_units, memory, memory_sequence_length=None, scale=False, score_mask_value=None, sigmoid_noise=0.0,
                 sigmoid_noise_seed=None, score_bias_init=0.0, mode="parallel", dtype=None, name="LuongMonotonicAttention"):
        self._score_bias_init = score_bias_init
        self._setup(num_units, memory, memory_sequence_length, scale, _monotonic(sigmoid_noise, mode, sigmoid_noise_seed),
                    score_mask_value, dtype, None, name)


def hardmax(logits, name=None):
    """Returns one where the logits are largest, and zero elsewhere."""
    with tf.name_scope(name, "Hardmax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        return tf.one_hot(tf.argmax(logits, -1), size_of(logits, -1), dtype=logits.dtype)
