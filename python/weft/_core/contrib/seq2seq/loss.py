"""tf.contrib.seq2seq.sequence_loss: the weighted cross entropy of sequences of logits."""
import weft as tf
from weft._core.framework.absent import Named


def _check(logits, targets, weights, average_across_timesteps, average_across_batch, sum_over_timesteps, sum_over_batch):
    if len(logits.get_shape()) != 3:
        raise ValueError("Logits must be a [batch_size x sequence_length x logits] tensor")
    if len(targets.get_shape()) != 2:
        raise ValueError("Targets must be a [batch_size x sequence_length] tensor")
    if len(weights.get_shape()) != 2:
        raise ValueError("Weights must be a [batch_size x sequence_length] tensor")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError("average_across_timesteps and sum_over_timesteps cannot be set to True at same time.")
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot be set to True at same time.")


def _over_count(total, weights, axis=None):
    """Returns a sum divided by how many weights are not zero; zero where none is."""
    count = tf.cast(tf.count_nonzero(weights, axis=axis), total.dtype)
    return tf.div_no_nan(total, count)


def sequence_loss(logits, targets, weights, average_across_timesteps=True, average_across_batch=True, sum_over_timesteps=False,
                  sum_over_batch=False, softmax_loss_function=None, name=None):
    """Returns the cross entropy, averaged by the weights or summed over the number of weights that are not zero."""
    logits, targets, weights = (tf.convert_to_tensor(x) for x in (logits, targets, weights))
    _check(logits, targets, weights, average_across_timesteps, average_across_batch, sum_over_timesteps, sum_over_batch)
    with tf.name_scope(name, "sequence_loss", [logits, targets, weights]):
        flat, labels = tf.reshape(logits, [-1, tf.shape(logits)[2]]), tf.reshape(targets, [-1])
        if softmax_loss_function is None:
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=flat)
        else:
            loss = softmax_loss_function(labels=labels, logits=flat)
        loss *= tf.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return tf.reduce_sum(loss) / (tf.reduce_sum(weights) + 1e-12)
        if sum_over_timesteps and sum_over_batch:
            return _over_count(tf.reduce_sum(loss), weights)
        loss = tf.reshape(loss, tf.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            axis = 0 if average_across_batch else 1
            return tf.reduce_sum(loss, axis=axis) / (tf.reduce_sum(weights, axis=axis) + 1e-12)
        if sum_over_timesteps or sum_over_batch:
            axis = 0 if sum_over_batch else 1
            return _over_count(tf.reduce_sum(loss, axis=axis), weights, axis)
        return loss


class SequenceLoss(metaclass=Named):
    """The function sequence_loss as an object: loss(y_true, y_pred, sample_weight)."""

    def __init__(self, average_across_timesteps=False, average_across_batch=False, sum_over_timesteps=True, sum_over_batch=True,
                 softmax_loss_function=None, name=None):
        self.average_across_timesteps, self.average_across_batch = average_across_timesteps, average_across_batch
        self.sum_over_timesteps, self.sum_over_batch = sum_over_timesteps, sum_over_batch
        self.softmax_loss_function, self.name = softmax_loss_function, name

    def __call__(self, y_true, y_pred, sample_weight):
        return sequence_loss(y_pred, y_true, sample_weight, average_across_timesteps=self.average_across_timesteps,
                             average_across_batch=self.average_across_batch, sum_over_timesteps=self.sum_over_timesteps,
                             sum_over_batch=self.sum_over_batch, softmax_loss_function=self.softmax_loss_function, name=self.name)

    def call(self, y_true, y_pred):
        raise NotImplementedError("SequenceLoss needs weights: call it as loss(y_true, y_pred, sample_weight)")
