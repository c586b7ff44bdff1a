"""Small modules of contrib: tf.contrib.sparsemax, tf.contrib.nn and tf.contrib.text."""
import numbers

import weft as tf
from weft._core.framework.build import constant_value


def sparsemax(logits, name=None):
    """Returns a softmax that gives zeros: the point of the simplex that is nearest to the logits (Martins and
    Astudillo).
    """
    with tf.name_scope(name, "sparsemax", [logits]):
        z = tf.convert_to_tensor(logits, name="logits")
        rows, size = tf.shape(z)[0], tf.shape(z)[1]
        ordered, _ = tf.nn.top_k(z, k=size)
        sums = tf.cumsum(ordered, axis=1)
        k = tf.range(1, tf.cast(size, z.dtype) + 1, dtype=z.dtype)
        count = tf.reduce_sum(tf.cast(1 + k * ordered > sums, tf.int32), axis=1)
        place = tf.stack([tf.range(rows), tf.maximum(count, 1) - 1], axis=1)
        tau = (tf.gather_nd(sums, place) - 1) / tf.cast(count, z.dtype)
        p = tf.maximum(tf.zeros([], z.dtype), z - tf.expand_dims(tau, 1))
        wrong = tf.logical_or(tf.equal(count, 0), tf.is_nan(sums[:, -1]))
        made = tf.where(wrong, tf.fill(tf.stack([rows, size]), tf.constant(float("nan"), z.dtype)), p)
        made.set_shape(z.shape)
        return made


def sparsemax_loss(logits, sparsemax, labels, name=None):
    """Returns the loss whose gradient is sparsemax minus labels."""
    with tf.name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits, p, labels = (tf.convert_to_tensor(x) for x in (logits, sparsemax, labels))
        used = tf.where(tf.logical_or(p > 0, tf.is_nan(p)), p * (logits - 0.5 * p), tf.zeros_like(p))
        wanted = labels * (0.5 * labels - logits)
        wanted = tf.where(tf.logical_and(tf.equal(labels, 0), tf.is_inf(logits)), tf.zeros_like(logits), wanted)
        return tf.reduce_sum(used + wanted, axis=1)


def alpha_dropout(x, keep_prob, noise_shape=None, seed=None, name=None):
    """Applies dropout for selu, which keeps the mean and the variance of the inputs."""
    with tf.name_scope(name, "alpha_dropout", [x]):
        x = tf.convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < keep_prob <= 1.0:
            raise ValueError("keep_prob must be a scalar tensor or a float in the range (0, 1], got %g" % keep_prob)
        keep_prob = tf.convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        if constant_value(keep_prob) == 1.0:
            return x
        noise_shape = tf.shape(x) if noise_shape is None else noise_shape
        kept = tf.floor(keep_prob + tf.random_uniform(noise_shape, seed=seed, dtype=x.dtype))
        alpha = -1.7580993408473766
        mixed = x * kept + alpha * (1 - kept)
        a = tf.pow(keep_prob + keep_prob * (1 - keep_prob) * alpha ** 2, -0.5)
        made = a * mixed - a * alpha * (1 - keep_prob)
        made.set_shape(x.shape)
        return made


def deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels, dim=-1, name=None):
    """Calls tf.nn.softmax_cross_entropy_with_logits; the logits are the first argument."""
    return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, labels, name=None):
    """Calls tf.nn.sparse_softmax_cross_entropy_with_logits; the logits are the first argument."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, targets, name=None):
    """Calls tf.nn.sigmoid_cross_entropy_with_logits; the logits are the first argument."""
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


def scaled_softplus(x, alpha, clip=None, name=None):
    """Returns alpha * softplus(x / alpha), limited to `clip`."""
    with tf.name_scope(name, "scaled_softplus", [x, alpha]):
        x, alpha = tf.convert_to_tensor(x, name="x"), tf.convert_to_tensor(alpha, name="alpha")
        made = alpha * tf.nn.softplus(x / alpha)
        return made if clip is None else tf.minimum(made, clip)


# ---- skip-grams ----

def _frequent(tokens, table, min_count, subsampling, corpus_size, seed):
    """Removes rare words, and removes very frequent words at random."""
    if table is None:
        return tokens
    counts = table.lookup(tokens)
    if min_count is not None:
        keep = tf.greater_equal(counts, tf.cast(min_count, counts.dtype))
        tokens, counts = tf.boolean_mask(tokens, keep), tf.boolean_mask(counts, keep)
    if subsampling is not None:
        if corpus_size is None:
            raise ValueError("corpus_size must be given with vocab_subsampling")
        share = tf.cast(counts, tf.float64) / corpus_size
        chance = (tf.sqrt(share / subsampling) + 1.0) * (subsampling / share)
        keep = tf.less(tf.random_uniform(tf.shape(chance), dtype=tf.float64, seed=seed), chance)
        tokens = tf.boolean_mask(tokens, keep)
    return tokens


def skip_gram_sample(input_tensor, min_skips=1, max_skips=5, start=0, limit=-1, emit_self_as_target=False, vocab_freq_table=None,
                     vocab_min_count=None, vocab_subsampling=None, corpus_size=None, batch_size=None, batch_capacity=None,
                     seed=None, name=None):
    """Returns (words, neighbors): of each word those within a distance that is drawn between min_skips and max_skips.
    """
    if vocab_freq_table is None and (vocab_min_count is not None or vocab_subsampling is not None or corpus_size is not None):
        raise ValueError("vocab_freq_table is not provided, but vocab_min_count=%s, vocab_subsampling=%s, or corpus_size=%s is not "
                         "None." % (vocab_min_count, vocab_subsampling, corpus_size))
    with tf.name_scope(name, "skip_gram_sample", values=[input_tensor]):
        tokens = tf.convert_to_tensor(input_tensor)
        end = tf.size(tokens) if limit < 0 else tf.minimum(tf.size(tokens), start + limit)
        tokens = _frequent(tokens[start:end], vocab_freq_table, vocab_min_count, vocab_subsampling, corpus_size, seed)
        n = tf.size(tokens)
        skips = tf.random_uniform(tf.stack([n, 1]), min_skips, max_skips + 1, dtype=tf.int32, seed=seed)
        offset = tf.expand_dims(tf.range(-max_skips, max_skips + 1), 0)
        place = tf.expand_dims(tf.range(n), 1) + offset
        chosen = tf.logical_and(tf.abs(offset) <= skips, tf.logical_and(place >= 0, place < n))
        if not emit_self_as_target:
            chosen = tf.logical_and(chosen, tf.not_equal(offset, 0))
        pairs = tf.where(chosen)
        words = tf.gather(tokens, pairs[:, 0])
        labels = tf.gather(tokens, tf.gather_nd(place, pairs))
        if batch_size is None:
            return words, labels
        return tuple(tf.train.batch([words, labels], batch_size, capacity=batch_capacity or 32, enqueue_many=True))
