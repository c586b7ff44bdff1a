"""Updates masks: Pruning keeps the largest weights, as many as the sparsity of the step allows."""
import math
import re

import weft as tf
from weft._core.contrib import learning
from weft._core.contrib.pruning.layers import MASKED, MASKS, THRESHOLDS, WEIGHTS, only_weight
from weft._core.contrib.training import HParams
from weft._core.framework.absent import Named


def get_masks():
    """Returns the masks of the graph."""
    return tf.get_collection(MASKS)


def get_masked_weights():
    """Returns the products of weights and masks of the graph."""
    return tf.get_collection(MASKED)


def get_thresholds():
    """Returns the thresholds of the graph: a weight of a smaller size has been masked."""
    return tf.get_collection(THRESHOLDS)


def get_weights():
    """Returns the weights of the graph that have masks."""
    return tf.get_collection(WEIGHTS)


def get_weight_sparsity():
    """Returns the fractions of zeros in the masks of the graph, a list of tensors."""
    return [tf.nn.zero_fraction(mask) for mask in get_masks()]


def get_pruning_hparams():
    """Returns an HParams with what Pruning reads, at its defaults."""
    return HParams(
        name="model_pruning", begin_pruning_step=0, end_pruning_step=-1, weight_sparsity_map=[""], block_dims_map=[""], do_not_prune=[""],
        threshold_decay=0.0, pruning_frequency=10, nbins=256, block_height=1, block_width=1, block_pooling_function="AVG",
        initial_sparsity=0.0, target_sparsity=0.5, sparsity_function_begin_step=0, sparsity_function_end_step=100,
        sparsity_function_exponent=3.0, use_tpu=False, gradient_decay_rate=0.99, prune_option="weight")


def _map(texts, read):
    """Returns {pattern: value} of texts such as "conv1:0.5"."""
    found = {}
    for text in filter(None, texts):
        name, colon, value = text.rpartition(":")
        if not colon:
            raise ValueError("%r is not of the form NAME:VALUE" % text)
        found[name] = read(value)
    return found


def _sparsity(text):
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError("sparsity %g is not between 0 and 1" % value)
    return value


def _block(text):
    height, _, width = text.partition("x")
    return int(height), int(width)


class Pruning(metaclass=Named):
    """The ops that update the masks of the graph's layers during training."""

    def __init__(self, spec=None, global_step=None, sparsity=None):
        """Reads the pruning parameters.

        Args:
          spec: an HParams, as get_pruning_hparams() returns it.
          global_step: the variable that counts the steps; by default that of the graph.
          sparsity: a tensor in place of the sparsity that spec computes from the step.
        """
        self._spec = spec or get_pruning_hparams()
        only_weight(self._spec.prune_option, "Pruning")
        self._check()
        step = tf.train.get_or_create_global_step() if global_step is None else global_step
        self._step = tf.cast(step, tf.int32)
        self._sparsity = self._setup_sparsity() if sparsity is None else sparsity
        self._by_weight = _map(self._spec.weight_sparsity_map, _sparsity)
        self._blocks = _map(self._spec.block_dims_map, _block)
        with tf.variable_scope(self._spec.name, use_resource=self._spec.use_tpu):
            self._last = tf.get_variable("last_mask_update_step", [], tf.int32, tf.zeros_initializer(), trainable=False)
        self._updates = None

    def _check(self):
        s = self._spec
        if s.pruning_frequency < 1:
            raise ValueError("pruning_frequency must be at least 1, not %d" % s.pruning_frequency)
        if s.block_pooling_function not in ("AVG", "MAX"):
            raise ValueError("Unknown pooling function for block sparsity: %s" % s.block_pooling_function)
        if s.sparsity_function_begin_step >= s.sparsity_function_end_step:
            raise ValueError("Pruning must begin before it can end. begin_step=%d, end_step=%d" % (
                s.sparsity_function_begin_step, s.sparsity_function_end_step))

    def _setup_sparsity(self):
        """Returns the sparsity, which goes from initial_sparsity to target_sparsity by a polynomial of the step."""
        s = self._spec
        with tf.name_scope(s.name):
            begin, end = s.sparsity_function_begin_step, s.sparsity_function_end_step
            part = tf.clip_by_value((tf.cast(self._step, tf.float32) - begin) / (end - begin), 0.0, 1.0)
            rest = tf.pow(1.0 - part, s.sparsity_function_exponent)
            return tf.add((s.initial_sparsity - s.target_sparsity) * rest, s.target_sparsity, name="sparsity")

    def _one(self, table, name, default, what):
        found = [value for pattern, value in table.items() if re.match(pattern, name)]
        if len(found) > 1:
            raise ValueError("Multiple matches in %s for weight %s" % (what, name))
        return found[0] if found else default

    def _sparsity_of(self, name):
        """Returns the sparsity of a variable: its own target is reached when the others' is."""
        target = self._one(self._by_weight, name, None, "weight_sparsity_map")
        return self._sparsity if target is None else self._sparsity * (target / self._spec.target_sparsity)

    def _smoothed(self, sizes, threshold, sparsity):
        """Returns the threshold that masks so many of the sizes, mixed with the one before."""
        count = tf.size(sizes)
        kept = tf.cast(tf.round(tf.cast(count, tf.float32) * (1.0 - sparsity)), tf.int32)
        ordered, _ = tf.nn.top_k(tf.reshape(sizes, [-1]), count)
        now = tf.gather(ordered, tf.maximum(kept - 1, 0))
        decay = self._spec.threshold_decay
        return now * (1 - decay) + threshold * decay

    def _new_mask(self, weights, threshold):
        name = weights.op.name
        if self._sparsity is None:
            raise ValueError("Sparsity variable undefined")
        with tf.name_scope(name + "_pruning_ops"):
            value, sparsity = tf.convert_to_tensor(weights), self._sparsity_of(name)
            dims = [d for d in value.shape.as_list() if d != 1]
            block = self._one(self._blocks, name, (self._spec.block_height, self._spec.block_width), "block_dims_map")
            sizes = tf.abs(value)
            if len(dims) != 2 or block == (1, 1):
                new = self._smoothed(sizes, threshold, sparsity)
                return tf.cast(sizes >= new, value.dtype), new
            sizes = tf.reshape(sizes, dims)
            pooled = tf.nn.pool(sizes[None, :, :, None], list(block), self._spec.block_pooling_function, "SAME", strides=list(block),
                                name=name + "_pooled")[0, :, :, 0]
            new = self._smoothed(pooled, threshold, sparsity)
            small = tf.cast(pooled >= new, value.dtype)
            rows, columns = (math.ceil(d / b) for d, b in zip(dims, block))
            whole = tf.reshape(tf.tile(small[:, None, :, None], [1, block[0], 1, block[1]]), [rows * block[0], columns * block[1]])
            return tf.reshape(whole[:dims[0], :dims[1]], value.shape), new

    def _skipped(self, name):
        return any(re.search(pattern, name) for pattern in filter(None, self._spec.do_not_prune))

    def mask_update_op(self):
        """Returns an op that computes all masks again from the weights and the sparsity of the step."""
        if self._updates is None:
            made = []
            for mask, threshold, weights in zip(get_masks(), get_thresholds(), get_weights(), strict=True):
                if self._skipped(weights.op.name):
                    continue
                new, limit = self._new_mask(weights, threshold)
                made += [tf.assign(threshold, limit, name=threshold.op.name.rpartition("/")[2] + "_assign").op,
                         tf.assign(mask, new, name=mask.op.name.rpartition("/")[2] + "_assign").op]
            with tf.name_scope(self._spec.name):
                self._updates = tf.group(*made, name="mask_update")
        return self._updates

    def conditional_mask_update_op(self):
        """Returns an op that updates the masks if the step is between the first and the last, and pruning_frequency
        after the last update.
        """
        s = self._spec

        def update():
            with tf.control_dependencies([self.mask_update_op()]):
                return tf.group(tf.assign(self._last, self._step, name="last_mask_update_step_assign"))
        with tf.name_scope(s.name):
            due = tf.logical_and(self._step >= s.begin_pruning_step, self._last + s.pruning_frequency <= self._step)
            if s.end_pruning_step >= 0:
                due = tf.logical_and(due, self._step <= s.end_pruning_step)
        self._updates, before = None, self._updates  # The ops of an update must be inside of the conditional.
        made = tf.cond(due, update, lambda: tf.group(tf.no_op()))
        self._updates = before
        return made.op if isinstance(made, tf.Tensor) else made

    def add_pruning_summaries(self):
        """Adds summaries of the sparsity, the step of the last update, and each mask and threshold."""
        with tf.name_scope(self._spec.name + "_summaries"):
            tf.summary.scalar("sparsity", self._sparsity)
            tf.summary.scalar("last_mask_update_step", self._last)
            for mask, threshold in zip(get_masks(), get_thresholds()):
                tf.summary.scalar(mask.op.name + "/sparsity", tf.nn.zero_fraction(mask))
                tf.summary.scalar(threshold.op.name + "/threshold", threshold)

    def print_hparams(self):
        """Logs the hyperparameters as JSON."""
        tf.logging.info(self._spec.to_json())


def train(train_op, logdir, mask_update_op, train_step_fn=learning.train_step, **given):
    """Runs slim.learning.train(), with an op for the masks after each step.

    Args:
      train_op: the op of a step, whose value is the loss.
      logdir: the folder of checkpoints and summaries, or None.
      mask_update_op: what conditional_mask_update_op() returned.
      train_step_fn: a function that runs one step; see slim.learning.train.
      **given: the other parameters of slim.learning.train.
    """
    def step(sess, *args):
        found = train_step_fn(sess, *args)
        sess.run(mask_update_op)
        return found
    return learning.train(train_op, logdir, step, **given)
