"""tf.nn.nce_loss and sampled_softmax_loss: a loss over a few sampled classes instead of all of them."""
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import name_scope
from weft._core.nn import nn
from weft._core.ops import array_ops, math_ops, random_ops


def _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, subtract_log_q,
            remove_hits, strategy, seed):
    labels = math_ops.cast(convert_to_tensor(labels), dtypes.int64)
    flat = array_ops.reshape(labels, [-1])
    if sampled_values is None:
        first, second = random_ops.get_seed(seed)
        sampled_values = op("LogUniformCandidateSampler", true_classes=labels, num_true=num_true, num_sampled=num_sampled,
                            unique=True, range_max=num_classes, seed=first, seed2=second)
    sampled, true_expected, sampled_expected = (array_ops.stop_gradient(s) for s in sampled_values)
    sampled = math_ops.cast(sampled, dtypes.int64)
    ids = array_ops.concat([flat, sampled], 0)
    n = array_ops.shape(flat)[0]
    all_w = nn.embedding_lookup(weights, ids, partition_strategy=strategy)
    all_b = nn.embedding_lookup(biases, ids, partition_strategy=strategy)
    true_w, sampled_w = all_w[:n], all_w[n:]
    true_b, sampled_b = all_b[:n], all_b[n:]
    dim = all_w.shape.as_list()[1] or array_ops.shape(all_w)[1]
    sampled_logits = math_ops.matmul(inputs, sampled_w, transpose_b=True) + sampled_b
    rows = array_ops.reshape(true_w, array_ops.stack([-1, num_true, dim]))
    true_logits = math_ops.reduce_sum(array_ops.expand_dims(inputs, 1) * rows, 2)
    true_logits = true_logits + array_ops.reshape(true_b, [-1, num_true])
    if remove_hits:
        same = math_ops.cast(math_ops.equal(array_ops.expand_dims(labels, 2), array_ops.reshape(sampled, [1, 1, -1])),
                             sampled_logits.dtype.base_dtype)
        sampled_logits = sampled_logits + math_ops.reduce_sum(same, 1) * -1e37
    if subtract_log_q:
        true_logits = true_logits - math_ops.log(true_expected)
        sampled_logits = sampled_logits - math_ops.log(sampled_expected)
    out_logits = array_ops.concat([true_logits, sampled_logits], 1)
    out_labels = array_ops.concat([array_ops.ones_like(true_logits) / num_true, array_ops.zeros_like(sampled_logits)], 1)
    return out_logits, out_labels


def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_hits, strategy,
             name):
    with name_scope(name, "nce_loss"):
        logits, targets = _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
                                  remove_hits, strategy, None)
        losses = nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits)
        return math_ops.reduce_sum(losses, 1)


def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                         remove_hits, strategy, name, seed):
    with name_scope(name, "sampled_softmax_loss"):
        logits, targets = _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
                                  remove_hits, strategy, seed)
        return nn.softmax_cross_entropy_with_logits_v2(labels=array_ops.stop_gradient(targets), logits=logits)
