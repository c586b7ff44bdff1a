"""tf.contrib.crf: linear-chain conditional random fields, with scores for each tag and for each pair of neighbors."""
import numpy as np

import weft as tf
from weft._core.ops.control_flow import smart_cond

RNNCell = tf.nn.rnn_cell.RNNCell


def _one_step(inputs, single, several):
    """Returns single() for sequences of one step and several() otherwise; the graph decides if the length is unknown.
    """
    steps = inputs.shape.as_list()[1]
    return smart_cond(tf.equal(tf.shape(inputs)[1], 1) if steps is None else steps == 1, single, several)


def _zero_if_empty(lengths, scores):
    return tf.where(tf.less_equal(lengths, tf.zeros_like(lengths)), tf.zeros_like(scores), scores)


def _before_last(lengths):
    return tf.maximum(tf.zeros([], lengths.dtype), lengths - 1)


def _ready(inputs, sequence_lengths):
    return tf.convert_to_tensor(inputs), tf.convert_to_tensor(sequence_lengths)


def crf_unary_score(tag_indices, sequence_lengths, inputs):
    """Returns the sum of the scores of the tags by themselves."""
    tags, inputs = tf.convert_to_tensor(tag_indices), tf.convert_to_tensor(inputs)
    rows, steps, kinds = (tf.shape(inputs)[i] for i in range(3))
    offsets = tf.expand_dims(tf.range(rows) * steps * kinds, 1) + tf.expand_dims(tf.range(steps) * kinds, 0)
    offsets = tf.cast(offsets, tags.dtype)
    scores = tf.reshape(tf.gather(tf.reshape(inputs, [-1]), tf.reshape(offsets + tags, [-1])), tf.stack([rows, steps]))
    mask = tf.sequence_mask(sequence_lengths, maxlen=tf.shape(tags)[1], dtype=inputs.dtype)
    return tf.reduce_sum(scores * mask, 1)


def crf_binary_score(tag_indices, sequence_lengths, transition_params):
    """Returns the sum of the scores of neighboring tags."""
    tags, params = tf.convert_to_tensor(tag_indices), tf.convert_to_tensor(transition_params)
    kinds = params.shape.as_list()[0]
    pairs = tags[:, :-1] * kinds + tags[:, 1:]
    scores = tf.gather(tf.reshape(params, [-1]), pairs)
    lengths = tf.convert_to_tensor(sequence_lengths)
    mask = tf.sequence_mask(_before_last(lengths), maxlen=tf.shape(pairs)[1], dtype=params.dtype)
    return tf.reduce_sum(scores * mask, 1)


def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
    """Returns the score of each sequence of tags, not normalized."""
    inputs, lengths = _ready(inputs, sequence_lengths)
    tags = tf.convert_to_tensor(tag_indices)

    def single():
        rows = tf.reshape(tf.range(tf.cast(tf.shape(inputs)[0], tags.dtype)), [-1, 1])
        return _zero_if_empty(lengths, tf.gather_nd(tf.squeeze(inputs, [1]), tf.concat([rows, tags[:, :1]], 1)))

    def several():
        return crf_unary_score(tags, lengths, inputs) + crf_binary_score(tags, lengths, transition_params)
    return _one_step(inputs, single, several)


def _only(inputs, tag_bitmap):
    return tf.where(tag_bitmap, inputs, tf.fill(tf.shape(inputs), tf.constant(-float("inf"), inputs.dtype)))


def crf_multitag_sequence_score(inputs, tag_bitmap, sequence_lengths, transition_params):
    """Returns the sum, as logarithms, of the scores of all sequences of tags that the bitmap allows."""
    inputs, lengths = _ready(inputs, sequence_lengths)
    allowed = _only(inputs, tf.cast(tag_bitmap, tf.bool))
    return _one_step(inputs, lambda: tf.reduce_logsumexp(tf.squeeze(allowed, [1]), axis=1),
                     lambda: crf_log_norm(allowed, lengths, transition_params))


def crf_log_norm(inputs, sequence_lengths, transition_params):
    """Returns the sum, as logarithms, of the scores of all sequences of tags."""
    inputs, lengths = _ready(inputs, sequence_lengths)
    first = tf.squeeze(inputs[:, :1], [1])

    def single():
        return _zero_if_empty(lengths, tf.reduce_logsumexp(first, [1]))

    def several():
        _, alphas = tf.nn.dynamic_rnn(CrfForwardRnnCell(transition_params), inputs[:, 1:], _before_last(lengths),
                                      initial_state=first, dtype=inputs.dtype)
        return _zero_if_empty(lengths, tf.reduce_logsumexp(alphas, [1]))
    return _one_step(inputs, single, several)


def _transitions(inputs, transition_params):
    if transition_params is not None:
        return transition_params
    kinds = tf.convert_to_tensor(inputs).shape.as_list()[2]
    return tf.get_variable("transitions", [kinds, kinds])


def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params=None):
    """Returns (log-likelihood of each sequence of tags, the transition scores)."""
    params = _transitions(inputs, transition_params)
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, params)
    return score - crf_log_norm(inputs, sequence_lengths, params), params


def crf_multitag_log_likelihood(inputs, tag_bitmap, sequence_lengths, transition_params=None):
    """Returns (log-likelihood of the sequences that the bitmap allows, the transition scores)."""
    params = _transitions(inputs, transition_params)
    score = crf_multitag_sequence_score(inputs, tag_bitmap, sequence_lengths, params)
    return score - crf_log_norm(inputs, sequence_lengths, params), params


class _TransitionCell(RNNCell):
    """The base of cells whose state and output have an element for each tag."""

    def __init__(self, transition_params):
        super().__init__()
        self._transition_params = tf.expand_dims(transition_params, 0)
        self._num_tags = tf.convert_to_tensor(transition_params).shape.as_list()[0]

    state_size = output_size = property(lambda self: self._num_tags)


class CrfForwardRnnCell(_TransitionCell):
    """Sums over all previous tags, in logarithms."""

    def __call__(self, inputs, state, scope=None):
        alphas = inputs + tf.reduce_logsumexp(tf.expand_dims(state, 2) + self._transition_params, [1])
        return alphas, alphas


class CrfDecodeForwardRnnCell(_TransitionCell):
    """Finds for each tag the best previous one, whose number is the output."""

    def __call__(self, inputs, state, scope=None):
        scores = tf.expand_dims(state, 2) + self._transition_params
        return tf.cast(tf.argmax(scores, 1), tf.int32), inputs + tf.reduce_max(scores, [1])


class CrfDecodeBackwardRnnCell(RNNCell):
    """Goes back from a tag to the best previous one."""

    def __init__(self, num_tags):
        super().__init__()
        self._num_tags = num_tags

    state_size = output_size = property(lambda self: 1)

    def __call__(self, inputs, state, scope=None):
        state = tf.squeeze(state, axis=[1])
        place = tf.stack([tf.range(tf.shape(inputs)[0]), state], axis=1)
        tags = tf.expand_dims(tf.gather_nd(inputs, place), axis=-1)
        return tags, tags


def crf_decode(potentials, transition_params, sequence_length):
    """Returns (best sequence of tags, its score)"""
    potentials, lengths = _ready(potentials, sequence_length)

    def single():
        scores = tf.squeeze(potentials, [1])
        return tf.expand_dims(tf.cast(tf.argmax(scores, axis=1), tf.int32), -1), tf.reduce_max(scores, axis=1)
    return _one_step(potentials, single, lambda: _viterbi(potentials, transition_params, lengths))


def _viterbi(potentials, transition_params, lengths):
    less = _before_last(lengths)
    pointers, last = tf.nn.dynamic_rnn(CrfDecodeForwardRnnCell(transition_params), potentials[:, 1:], less,
                                       initial_state=tf.squeeze(potentials[:, :1], [1]), dtype=tf.int32)
    pointers = tf.reverse_sequence(pointers, less, seq_dim=1)
    end = tf.expand_dims(tf.cast(tf.argmax(last, axis=1), tf.int32), axis=-1)
    tags, _ = tf.nn.dynamic_rnn(CrfDecodeBackwardRnnCell(potentials.shape.as_list()[2]), pointers, less, initial_state=end,
                                dtype=tf.int32)
    tags = tf.concat([end, tf.squeeze(tags, axis=[2])], axis=1)
    return tf.reverse_sequence(tags, lengths, seq_dim=1), tf.reduce_max(last, axis=1)


def crf_constrained_decode(potentials, tag_bitmap, transition_params, sequence_length):
    """Decodes as crf_decode does, among the sequences that the bitmap allows."""
    return crf_decode(_only(tf.convert_to_tensor(potentials), tf.cast(tag_bitmap, tf.bool)), transition_params, sequence_length)


def viterbi_decode(score, transition_params):
    """Returns (best sequence of tags, its score) of one sequence, in numpy."""
    score, params = np.asarray(score), np.asarray(transition_params)
    trellis, pointers = np.zeros_like(score), np.zeros_like(score, dtype=np.int32)
    trellis[0] = score[0]
    for step in range(1, score.shape[0]):
        before = np.expand_dims(trellis[step - 1], 1) + params
        trellis[step] = score[step] + np.max(before, 0)
        pointers[step] = np.argmax(before, 0)
    best = [np.argmax(trellis[-1])]
    for pointer in reversed(pointers[1:]):
        best.append(pointer[best[-1]])
    best.reverse()
    return best, np.max(trellis[-1])
