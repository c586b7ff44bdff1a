"""tf.contrib.losses.metric_learning: losses that make embeddings of the same class close and of different classes
distant.
"""
import weft as tf


def pairwise_distance(feature, squared=False):
    """Returns the distances between all rows, with zeros on the diagonal."""
    squares = tf.reduce_sum(tf.square(feature), axis=[1], keepdims=True)
    d = tf.maximum(squares + tf.transpose(squares) - 2.0 * tf.matmul(feature, tf.transpose(feature)), 0.0)
    zero = tf.less_equal(d, 0.0)
    if not squared:
        d = tf.sqrt(d + tf.cast(zero, tf.float32) * 1e-16)
    d = d * tf.cast(tf.logical_not(zero), tf.float32)
    n = tf.shape(feature)[0]
    return d * (tf.ones_like(d) - tf.diag(tf.ones([n])))


def contrastive_loss(labels, embeddings_anchor, embeddings_positive, margin=1.0):
    """Returns the mean of the squared distances of pairs with label 1, and of the squared violations of the margin by
    other pairs.
    """
    d = tf.sqrt(tf.reduce_sum(tf.squared_difference(embeddings_anchor, embeddings_positive), 1))
    labels = tf.cast(labels, tf.float32)
    return tf.reduce_mean(labels * tf.square(d) + (1.0 - labels) * tf.square(tf.maximum(margin - d, 0.0)), name="contrastive_loss")


def _masked_maximum(data, mask, dim=1):
    low = tf.reduce_min(data, dim, keepdims=True)
    return tf.reduce_max((data - low) * mask, dim, keepdims=True) + low


def _masked_minimum(data, mask, dim=1):
    high = tf.reduce_max(data, dim, keepdims=True)
    return tf.reduce_min((data - high) * mask, dim, keepdims=True) + high


def _column(labels):
    labels = tf.convert_to_tensor(labels)
    if labels.shape.ndims != 1:
        raise ValueError("labels must be a vector: %s" % labels.shape)
    return tf.reshape(labels, [-1, 1])


def triplet_semihard_loss(labels, embeddings, margin=1.0):
    """Returns the loss of triplets: an anchor, a positive and the nearest negative that is farther away (Schroff et
    al.).
    """
    labels, embeddings = _column(labels), tf.convert_to_tensor(embeddings)
    d, n = pairwise_distance(embeddings, squared=True), tf.size(labels)
    same = tf.equal(labels, tf.transpose(labels))
    other = tf.logical_not(same)
    wide = tf.tile(d, tf.stack([n, 1]))
    mask = tf.logical_and(tf.tile(other, tf.stack([n, 1])), tf.greater(wide, tf.reshape(tf.transpose(d), [-1, 1])))
    mask = tf.cast(mask, tf.float32)
    some = tf.transpose(tf.reshape(tf.greater(tf.reduce_sum(mask, 1, keepdims=True), 0.0), tf.stack([n, n])))
    outside = tf.transpose(tf.reshape(_masked_minimum(wide, mask), tf.stack([n, n])))
    inside = tf.tile(_masked_maximum(d, tf.cast(other, tf.float32)), tf.stack([1, n]))
    loss = margin + d - tf.where(some, outside, inside)
    positive = tf.cast(same, tf.float32) - tf.diag(tf.ones([n]))
    return tf.truediv(tf.reduce_sum(tf.maximum(loss * positive, 0.0)), tf.reduce_sum(positive), name="triplet_semihard_loss")


def lifted_struct_loss(labels, embeddings, margin=1.0):
    """Returns the loss of all positive and negative pairs of a batch at once (Song et al.)."""
    labels, embeddings = _column(labels), tf.convert_to_tensor(embeddings)
    d, n = pairwise_distance(embeddings), tf.size(labels)
    same = tf.equal(labels, tf.transpose(labels))
    other = tf.cast(tf.logical_not(same), tf.float32)
    difference = margin - d
    low = tf.reduce_min(difference, 1, keepdims=True)
    row_max = tf.reduce_max((difference - low) * other, 1, keepdims=True) + low
    most = tf.maximum(row_max, tf.transpose(row_max))
    wide, mask = tf.tile(difference, tf.stack([n, 1])), tf.tile(other, tf.stack([n, 1]))
    shifted = tf.exp(wide - tf.reshape(tf.transpose(most), [-1, 1])) * mask
    sums = tf.reshape(tf.reduce_sum(shifted, 1, keepdims=True), tf.stack([n, n]))
    loss = tf.log(sums + tf.transpose(sums)) + most + d
    positive = tf.cast(same, tf.float32) - tf.diag(tf.ones([n]))
    pairs = tf.reduce_sum(positive) / 2.0
    return tf.truediv(0.25 * tf.reduce_sum(tf.square(tf.maximum(loss * positive, 0.0))), pairs, name="liftedstruct_loss")


def npairs_loss(labels, embeddings_anchor, embeddings_positive, reg_lambda=0.002, print_losses=False):
    """Returns the cross entropy of which positive belongs to each anchor, plus a multiple of the lengths (Sohn)."""
    anchor, positive = tf.convert_to_tensor(embeddings_anchor), tf.convert_to_tensor(embeddings_positive)
    reg = tf.reduce_mean(tf.reduce_sum(tf.square(anchor), 1)) + tf.reduce_mean(tf.reduce_sum(tf.square(positive), 1))
    reg = tf.multiply(0.25 * reg_lambda, reg, name="l2loss")
    similarity = tf.matmul(anchor, positive, transpose_a=False, transpose_b=True)
    labels = _column(labels)
    targets = tf.cast(tf.equal(labels, tf.transpose(labels)), tf.float32)
    targets /= tf.reduce_sum(targets, 1, keepdims=True)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(logits=similarity, labels=targets), name="xentropy")
    if print_losses:
        loss = tf.Print(loss, ["cross entropy:", loss, "l2loss:", reg])
    return reg + loss
