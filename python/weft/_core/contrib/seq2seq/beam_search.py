"""tf.contrib.seq2seq.BeamSearchDecoder: keeps the best partial sequences of each row and extends all of them."""
import collections

import weft as tf
from weft._core.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from weft._core.contrib.seq2seq.decoder import Decoder
from weft._core.contrib.seq2seq.parts import check_cell, check_layer, layer_output_size, size_of
from weft._core.framework import nest
from weft._core.framework.build import constant_value, op

BeamSearchDecoderState = collections.namedtuple("BeamSearchDecoderState", (
    "cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"))
BeamSearchDecoderOutput = collections.namedtuple("BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids"))
FinalBeamSearchDecoderOutput = collections.namedtuple("FinalBeamSearchDecoderOutput", (
    "predicted_ids", "beam_search_decoder_output"))


def gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token, name=None):
    """Returns the whole sequences of beams, by going back from each last id through its parents."""
    return op("GatherTree", name, step_ids=step_ids, parent_ids=parent_ids, max_sequence_lengths=max_sequence_lengths,
              end_token=end_token)


def gather_tree_from_array(t, parent_ids, sequence_length):
    """Returns the outputs of beams at each step (time, batch, beam, ...), reordered to the final sequences."""
    steps, rows, beams = (size_of(parent_ids, i) for i in range(3))
    ids = tf.tile(tf.reshape(tf.range(beams), [1, 1, -1]), [steps, rows, 1])
    longest = tf.cast(tf.reduce_max(sequence_length, axis=1), tf.int32)
    ordered = gather_tree(ids, parent_ids, longest, beams + 1)
    inside = tf.transpose(tf.sequence_mask(sequence_length, maxlen=steps), [2, 0, 1])
    ordered = tf.where(inside, ordered, ids)
    time = tf.tile(tf.reshape(tf.range(steps), [-1, 1, 1]), [1, rows, beams])
    row = tf.tile(tf.reshape(tf.range(rows), [1, -1, 1]), [steps, 1, beams])
    parts = tf.reshape(t, tf.stack([steps, rows, beams, -1]))
    made = tf.reshape(tf.gather_nd(parts, tf.stack([time, row, ordered], -1)), tf.shape(t))
    made.set_shape(t.shape)
    return made


def _tile(t, multiplier):
    t = tf.convert_to_tensor(t, name="t")
    if t.shape.ndims is None or t.shape.ndims < 1:
        raise ValueError("t must have statically known rank")
    shape, known = tf.shape(t), constant_value(tf.convert_to_tensor(multiplier))
    tiled = tf.tile(tf.expand_dims(t, 1), [1, multiplier] + [1] * (t.shape.ndims - 1))
    tiled = tf.reshape(tiled, tf.concat([tf.reshape(shape[0] * multiplier, [1]), shape[1:]], 0))
    rows = t.shape.as_list()[0]
    tiled.set_shape([None if rows is None or known is None else rows * int(known)] + t.shape.as_list()[1:])
    return tiled


def tile_batch(t, multiplier, name=None):
    """Returns each row `multiplier` times, one after the other."""
    with tf.name_scope(name, "tile_batch", nest.flatten(t) + [multiplier]):
        return nest.map_structure(lambda x: _tile(x, multiplier), t)


# ---- scoring ----

def _mask_probs(probs, end_token, finished):
    """Makes the end token the only possible continuation of finished beams."""
    size = tf.shape(probs)[2]
    row = tf.one_hot(end_token, size, dtype=probs.dtype, on_value=tf.constant(0.0, probs.dtype),
                     off_value=tf.constant(probs.dtype.min, probs.dtype))
    ended = tf.tile(tf.reshape(row, [1, 1, -1]), tf.concat([tf.shape(finished), [1]], 0))
    return tf.where(tf.tile(tf.expand_dims(finished, 2), tf.stack([1, 1, size])), ended, probs)


def _scalar(value, name):
    made = tf.convert_to_tensor(value, dtype=tf.float32, name=name)
    if made.shape.ndims != 0:
        raise ValueError("%s should be a scalar, but saw shape: %s" % (name, made.shape))
    return made


def _length_penalty(lengths, weight):
    weight = _scalar(weight, "length_penalty_weight")
    known = constant_value(weight)
    if known is not None and known == 0:
        return None
    return (5.0 + tf.cast(lengths, tf.float32)) ** weight / 6.0 ** weight


def _scores(log_probs, lengths, length_weight, coverage_weight, finished, attention):
    penalty = _length_penalty(lengths, length_weight)
    scores = log_probs if penalty is None else log_probs / tf.cast(penalty, log_probs.dtype)
    if attention is None:
        return scores
    # A position without attention adds nothing; it may be after the end of the memory.
    attention = tf.where(tf.equal(attention, 0.0), tf.ones_like(attention), attention)
    covered = tf.reduce_sum(tf.log(tf.minimum(attention, 1.0)), 2) * tf.cast(finished, attention.dtype)
    return scores + tf.expand_dims(covered * coverage_weight, 2)


def _mean_alignments(state):
    found = state.alignments if isinstance(state.alignments, (list, tuple)) else [state.alignments]
    return found[0] if len(found) == 1 else tf.add_n(list(found)) / len(found)


def attention_probabilities(cell_state, coverage_penalty_weight):
    """Returns the mean of the alignments in a state, or None where they do not count."""
    if not isinstance(coverage_penalty_weight, tf.Tensor) and coverage_penalty_weight == 0.0:
        return None
    states = [cell_state] if isinstance(cell_state, AttentionWrapperState) else cell_state
    states = states if isinstance(states, (list, tuple)) else [states]
    found = [_mean_alignments(s) for s in states if isinstance(s, AttentionWrapperState)]
    if not found:
        raise ValueError("coverage_penalty_weight must be 0.0 if the cell is not an AttentionWrapper: the state has no alignments")
    return found[0] if len(found) == 1 else tf.add_n(found) / len(found)


def _gather_beams(x, beams, rows, width):
    """Selects beams by number for each row. Scalars and arrays have no beams."""
    if isinstance(x, tf.TensorArray) or x.shape.ndims is not None and x.shape.ndims < 2:
        return x
    places = tf.reshape(beams + tf.expand_dims(tf.range(rows) * width, 1), [-1])
    flat = tf.reshape(x, tf.concat([tf.reshape(rows * width, [1]), tf.shape(x)[2:]], 0))
    made = tf.reshape(tf.gather(flat, places), tf.shape(x))
    made.set_shape(x.shape)
    return made


class BeamSearchDecoder(Decoder):
    """Decodes with beam_width partial sequences for each row. The cell's state must come from tile_batch."""

    def __init__(self, cell, embedding, start_tokens, end_token, initial_state, beam_width, output_layer=None,
                 length_penalty_weight=0.0, coverage_penalty_weight=0.0, reorder_tensor_arrays=True):
        self._cell = check_cell(cell)
        if output_layer is not None:
            check_layer(output_layer, "output_layer")
        self._output_layer, self._reorder_tensor_arrays = output_layer, reorder_tensor_arrays
        self._embedding_fn = embedding if callable(embedding) else lambda ids: tf.nn.embedding_lookup(embedding, ids)
        self._start_tokens = tf.convert_to_tensor(start_tokens, dtype=tf.int32, name="start_tokens")
        self._end_token = tf.convert_to_tensor(end_token, dtype=tf.int32, name="end_token")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size, self._rows = tf.size(self._start_tokens), self._start_tokens.shape.as_list()[0]
        self._beam_width, self._length_weight, self._coverage_weight = beam_width, length_penalty_weight, coverage_penalty_weight
        self._initial_cell_state = nest.map_structure(self._maybe_split, initial_state)
        tokens = tf.tile(tf.expand_dims(self._start_tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(tokens)
        self._finished = tf.one_hot(tf.zeros(tf.reshape(self._batch_size, [1]), tf.int32), depth=beam_width, on_value=False,
                                    off_value=True, dtype=tf.bool)

    batch_size = property(lambda self: self._batch_size)
    tracks_own_finished = property(lambda self: True)

    def _rnn_output_size(self):
        size = self._cell.output_size
        return size if self._output_layer is None else nest.map_structure(lambda w: layer_output_size(self._output_layer, w), size)

    @property
    def output_size(self):
        return BeamSearchDecoderOutput(*[tf.TensorShape([self._beam_width])] * 3)

    @property
    def output_dtype(self):
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        return BeamSearchDecoderOutput(scores=dtype, predicted_ids=tf.int32, parent_ids=tf.int32)

    # ---- conversion between (batch * beam, ...) and (batch, beam, ...) ----

    def _split(self, x):
        shape = tf.concat([tf.stack([self._batch_size, self._beam_width]), tf.shape(x)[1:]], 0)
        made = tf.reshape(x, shape)
        made.set_shape([self._rows, self._beam_width] + x.shape.as_list()[1:])
        return made

    def _merge(self, x):
        made = tf.reshape(x, tf.concat([tf.reshape(self._batch_size * self._beam_width, [1]), tf.shape(x)[2:]], 0))
        made.set_shape([None if self._rows is None else self._rows * self._beam_width] + x.shape.as_list()[2:])
        return made

    def _maybe_split(self, x):
        if isinstance(x, tf.TensorArray):
            return x
        x = tf.convert_to_tensor(x)
        if x.shape.ndims is None:
            raise ValueError("Expected tensor (%s) to have known rank, but ndims == None." % x)
        return self._split(x) if x.shape.ndims >= 1 else x

    def _maybe_merge(self, x):
        return x if isinstance(x, tf.TensorArray) or x.shape.ndims < 2 else self._merge(x)

    # ---- decoding ----

    def initialize(self, name=None):
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        shape = tf.reshape(self._batch_size, [1])
        probs = tf.one_hot(tf.zeros(shape, tf.int32), depth=self._beam_width, on_value=tf.constant(0.0, dtype),
                           off_value=tf.constant(-float("inf"), dtype), dtype=dtype)
        attention = attention_probabilities(self._initial_cell_state, self._coverage_weight)
        lengths = tf.zeros(tf.stack([self._batch_size, self._beam_width]), tf.int64)
        lengths.set_shape([self._rows, self._beam_width])
        return self._finished, self._start_inputs, BeamSearchDecoderState(
            cell_state=self._initial_cell_state, log_probs=probs, finished=self._finished, lengths=lengths,
            accumulated_attention_probs=() if attention is None else attention)

    def finalize(self, outputs, final_state, sequence_lengths):
        longest = tf.cast(tf.reduce_max(final_state.lengths, axis=1), tf.int32)
        ids = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorder_tensor_arrays:
            cell_state = nest.map_structure(lambda x: self._ordered(x, outputs.parent_ids, final_state.lengths), final_state.cell_state)
            final_state = final_state._replace(cell_state=cell_state)
        return FinalBeamSearchDecoderOutput(beam_search_decoder_output=outputs, predicted_ids=ids), final_state

    def _ordered(self, x, parent_ids, lengths):
        """Returns an array that beams wrote, as a tensor whose beams are those of the end; an array without beams
        stays.
        """
        if not isinstance(x, tf.TensorArray) or x.element_shape.ndims in (None, 0):
            return x
        first, rows = x.element_shape.as_list()[0], self._rows
        if first is not None and rows is not None and first not in (rows * self._beam_width, rows):
            return x
        return gather_tree_from_array(x.stack(), parent_ids, lengths)

    def step(self, time, inputs, state, name=None):
        with tf.name_scope(name, "BeamSearchDecoderStep", [time] + nest.flatten(inputs)):
            inputs = nest.map_structure(self._merge, inputs)
            outputs, cell_state = self._cell(inputs, nest.map_structure(self._maybe_merge, state.cell_state))
            logits = self._split(outputs)
            cell_state = nest.map_structure(self._maybe_split, cell_state)
            if self._output_layer is not None:
                logits = self._output_layer(logits)
            made, following = self._advance(logits, cell_state, state)
            ids = made.predicted_ids
            inputs = tf.cond(tf.reduce_all(following.finished), lambda: self._start_inputs, lambda: self._embedding_fn(ids))
        return made, following, inputs, following.finished

    def _best(self, scores, total, size):
        """Returns (scores, log probabilities, ids, parents) of the best beams of each row."""
        rows, width = self._batch_size, self._beam_width
        best, places = tf.nn.top_k(tf.reshape(scores, tf.stack([rows, -1])), k=width)
        flat = tf.reshape(total, [-1])
        probs = tf.gather(flat, places + tf.expand_dims(tf.range(rows) * (width * size), 1))
        ids, parents = tf.mod(places, size), tf.floordiv(places, size)
        for x in (best, probs, ids, parents):
            x.set_shape([self._rows, width])
        return best, probs, ids, parents

    def _advance(self, logits, cell_state, state):
        """Returns the output and the state of one step."""
        rows, width, finished = self._batch_size, self._beam_width, state.finished
        going, size = tf.logical_not(finished), size_of(logits, -1)
        total = tf.expand_dims(state.log_probs, 2) + _mask_probs(tf.nn.log_softmax(logits), self._end_token, finished)
        one, zero = tf.constant(1, tf.int64), tf.constant(0, tf.int64)
        longer = tf.one_hot(tf.fill(tf.stack([rows, width]), self._end_token), depth=size, on_value=zero, off_value=one,
                            dtype=tf.int64) * tf.expand_dims(tf.cast(going, tf.int64), 2)
        attention = attention_probabilities(cell_state, self._coverage_weight)
        if attention is not None:
            attention = state.accumulated_attention_probs + attention * tf.expand_dims(tf.cast(going, attention.dtype), 2)
        scores = _scores(total, longer + tf.expand_dims(state.lengths, 2), self._length_weight, self._coverage_weight, finished,
                         attention)
        best, probs, ids, parents = self._best(scores, total, size)
        was = _gather_beams(finished, parents, rows, width)
        lengths = _gather_beams(state.lengths, parents, rows, width) + tf.cast(tf.logical_not(was), tf.int64)
        following = BeamSearchDecoderState(
            cell_state=nest.map_structure(lambda x: _gather_beams(x, parents, rows, width), cell_state), log_probs=probs,
            lengths=lengths, finished=tf.logical_or(was, tf.equal(ids, self._end_token)),
            accumulated_attention_probs=() if attention is None else _gather_beams(attention, parents, rows, width))
        return BeamSearchDecoderOutput(scores=best, predicted_ids=ids, parent_ids=parents), following
