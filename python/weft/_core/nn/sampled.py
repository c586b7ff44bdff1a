"""tf.nn.nce_loss and sampled_softmax_loss: losses over a few sampled classes instead of all classes, and the samplers.

The nodes are TensorFlow's, one by one: the seed of a random op depends on the number of nodes before it.
"""
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import name_scope
from weft._core.nn import nn
from weft._core.ops import array_ops, math_ops, random_ops, sparse


def _sampler(kind):
    def sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
        """Returns (sampled classes, expected count of each true class, expected count of each sampled class)."""
        first, second = random_ops.seeds(seed)
        return op(kind, name, true_classes=true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique,
                  range_max=range_max, seed=first, seed2=second)
    return sampler


uniform_candidate_sampler = _sampler("UniformCandidateSampler")
uniform_candidate_sampler.__name__ = uniform_candidate_sampler.__qualname__ = "uniform_candidate_sampler"
log_uniform_candidate_sampler = _sampler("LogUniformCandidateSampler")
log_uniform_candidate_sampler.__name__ = log_uniform_candidate_sampler.__qualname__ = "log_uniform_candidate_sampler"

learned_unigram_candidate_sampler = _sampler("LearnedUnigramCandidateSampler")
learned_unigram_candidate_sampler.__name__ = learned_unigram_candidate_sampler.__qualname__ = "learned_unigram_candidate_sampler"


def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """Returns every class once: (classes, expected count of each true class, expected count of each class).

    Args:
      true_classes: the true classes, a matrix of `num_true` columns.
      num_true: how many true classes an example has.
      num_sampled: the number of classes.
      unique: has no effect, since no class repeats.
      seed: has no effect on the classes.
      name: a name for the operation.
    """
    first, second = random_ops.seeds(seed)
    return op("AllCandidateSampler", name, true_classes=true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique,
              seed=first, seed2=second)


def fixed_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, vocab_file="", distortion=1.0,
                                    num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=None, name=None):
    """Returns classes drawn by given frequencies: (classes, expected count of each true class, expected count of each
    sampled class).

    Args:
      true_classes: the true classes, a matrix of `num_true` columns.
      num_true: how many true classes an example has.
      num_sampled: how many classes to draw.
      unique: whether a class is drawn at most once.
      range_max: the number of classes.
      vocab_file: a file whose lines end in the frequency of a class.
      distortion: the power of the frequencies that is drawn by.
      num_reserved_ids: how many classes before the others are never drawn.
      num_shards: in how many parts the classes are divided.
      shard: which part to draw from.
      unigrams: the frequencies, instead of a file.
      seed: a number that the random numbers follow from.
      name: a name for the operation.
    """
    first, second = random_ops.seeds(seed)
    return op("FixedUnigramCandidateSampler", name, true_classes=true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique,
              range_max=range_max, vocab_file=vocab_file, distortion=distortion, num_reserved_ids=num_reserved_ids,
              num_shards=num_shards, shard=shard, unigrams=list(unigrams), seed=first, seed2=second)


def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Returns (rows, indices among the sampled, large negative weights) where a sampled class is a true one."""
    first, second = random_ops.seeds(seed)
    return op("ComputeAccidentalHits", name, true_classes=true_classes, sampled_candidates=sampled_candidates, num_true=num_true,
              seed=first, seed2=second)


def _row_sums(x):
    """Returns the sum of each row, by a product with ones."""
    width = array_ops.shape(x)[1]
    ones = array_ops.ones(array_ops.stack([width, 1]), x.dtype.base_dtype)
    return array_ops.reshape(math_ops.matmul(x, ones), [-1])


def _true_logits(inputs, weights, biases, num_true):
    """Returns inputs (rows, width) times the weights (rows * num_true, width) of each row's classes, plus their biases.
    """
    width = array_ops.shape(weights)[1:2]
    shape = array_ops.concat([[-1, num_true], width], 0)
    products = math_ops.multiply(array_ops.expand_dims(inputs, 1), array_ops.reshape(weights, shape), name="Mul")
    sums = _row_sums(array_ops.reshape(products, array_ops.concat([[-1], width], 0)))
    sums = array_ops.reshape(sums, [-1, num_true])
    return sums, array_ops.reshape(biases, [-1, num_true])


def _without_hits(logits, labels, sampled, num_true, num_sampled):
    """Returns the sampled logits, in which those of a true class are made very small."""
    rows, places, weights = compute_accidental_hits(labels, sampled, num_true)
    rows, places = array_ops.reshape(rows, [-1, 1]), array_ops.reshape(math_ops.cast(places, dtypes.int32), [-1, 1])
    at = array_ops.concat([rows, places], 1, name="sparse_indices")
    shape = array_ops.concat([array_ops.shape(labels)[:1], array_ops.expand_dims(num_sampled, 0)], 0)
    weights = weights if weights.dtype == logits.dtype else math_ops.cast(weights, logits.dtype.base_dtype)
    return logits + sparse.sparse_to_dense(at, shape, weights, default_value=0.0, validate_indices=False)


def _gathered(weights, biases, ids, flat, sampled, inputs, strategy):
    """Returns (true weights, sampled logits without bias, true biases, sampled biases)."""
    every = nn.embedding_lookup(weights, ids, partition_strategy=strategy)
    every = every if every.dtype == inputs.dtype else math_ops.cast(every, inputs.dtype.base_dtype)
    true_w = array_ops.slice(every, [0, 0], array_ops.stack([array_ops.shape(flat)[0], -1]))
    sampled_w = array_ops.slice(every, array_ops.stack([array_ops.shape(flat)[0], 0]), [-1, -1])
    logits = math_ops.matmul(inputs, sampled_w, transpose_b=True)
    every = nn.embedding_lookup(biases, ids, partition_strategy=strategy)
    every = every if every.dtype == inputs.dtype else math_ops.cast(every, inputs.dtype.base_dtype)
    true_b = array_ops.slice(every, [0], array_ops.shape(flat))
    return true_w, logits, true_b, array_ops.slice(every, array_ops.shape(flat), [-1])


def _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_hits, strategy, seed):
    labels, inputs = convert_to_tensor(labels), convert_to_tensor(inputs)
    labels = labels if labels.dtype.base_dtype == dtypes.int64 else math_ops.cast(labels, dtypes.int64)
    flat = array_ops.reshape(labels, [-1])
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
    sampled, true_expected, sampled_expected = (array_ops.stop_gradient(s) for s in sampled_values)
    sampled = sampled if sampled.dtype.base_dtype == dtypes.int64 else math_ops.cast(sampled, dtypes.int64)
    ids = array_ops.concat([flat, sampled], 0)
    true_w, sampled_logits, true_b, sampled_b = _gathered(weights, biases, ids, flat, sampled, inputs, strategy)
    true_logits, true_b = _true_logits(inputs, true_w, true_b, num_true)
    true_logits = true_logits + true_b
    sampled_logits = sampled_logits + sampled_b
    if remove_hits:
        sampled_logits = _without_hits(sampled_logits, labels, sampled, num_true, num_sampled)
    true_logits = true_logits - math_ops.log(true_expected)
    sampled_logits = sampled_logits - math_ops.log(sampled_expected)
    out_logits = array_ops.concat([true_logits, sampled_logits], 1)
    out_labels = array_ops.concat([array_ops.ones_like(true_logits) / num_true, array_ops.zeros_like(sampled_logits)], 1)
    return out_logits, out_labels


def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_hits, strategy,
             name):
    with name_scope(name, "nce_loss"):
        logits, targets = _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_hits,
                                  strategy, None)
    return _row_sums(nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses"))


def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                         remove_hits, strategy, name, seed):
    with name_scope(name, "sampled_softmax_loss"):
        logits, targets = _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_hits,
                                  strategy, seed)
    targets = array_ops.stop_gradient(targets, name="labels_stop_gradient")
    return nn.softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits)
