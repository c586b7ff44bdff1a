"""tf.contrib.seq2seq.AttentionWrapper: a cell that reads a memory in every step."""
import collections

import weft as tf
from weft._core.contrib.seq2seq.attention import (  # noqa: F401 - programs import mechanisms and their parts from here
    AttentionMechanism,
    BahdanauAttention,
    BahdanauMonotonicAttention,
    LuongAttention,
    LuongMonotonicAttention,
    _bahdanau_score,
    _BaseAttentionMechanism,
    _BaseMonotonicAttentionMechanism,
    _luong_score,
    _prepare_memory,
    hardmax,
    monotonic_attention,
    safe_cumprod,
    zero_rows,
)
from weft._core.contrib.seq2seq.parts import Projection, check_cell, check_layer, layer_output_size
from weft._core.framework import nest
from weft._core.framework.graph import Tensor

_FIELDS = ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state")


class AttentionWrapperState(collections.namedtuple("AttentionWrapperState", _FIELDS)):
    """The state of the wrapped cell, the last attention, and the alignments."""

    def clone(self, **kwargs):
        """Returns the same state with some parts replaced, by tensors of the same shapes."""
        def same_shape(old, new):
            if isinstance(old, Tensor) and isinstance(new, Tensor):
                if not old.shape.is_compatible_with(new.shape):
                    raise ValueError("AttentionWrapperState.clone: shape %s of %s does not fit %s of %s" % (
                        new.shape, new.name, old.shape, old.name))
                new.set_shape(old.shape)
            return new
        changed = self._replace(**kwargs)
        for field in kwargs:
            old, new = getattr(self, field), getattr(changed, field)
            nest.assert_same_structure(old, new)
            nest.map_structure(same_shape, old, new)
        return changed


def _compute_attention(mechanism, cell_output, attention_state, attention_layer):
    """Returns (the attention, the alignments, the state of the mechanism)."""
    alignments, next_state = mechanism(cell_output, state=attention_state)
    context = tf.squeeze(tf.matmul(tf.expand_dims(alignments, 1), mechanism.values), [1])
    attention = context if attention_layer is None else attention_layer(tf.concat([cell_output, context], 1))
    return attention, alignments, next_state


def _zero_state_tensors(state_size, batch_size, dtype):
    """Returns zeros for each size of a state."""
    return nest.map_structure(lambda size: zero_rows(batch_size, size, dtype), state_size)


def _listed(x):
    return tuple(x) if isinstance(x, (list, tuple)) else (x,)


class AttentionWrapper(tf.nn.rnn_cell.RNNCell):
    """Wraps a cell: its inputs are joined with the last attention, and its output is the new attention."""

    def __init__(self, cell, attention_mechanism, attention_layer_size=None, alignment_history=False, cell_input_fn=None,
                 output_attention=True, initial_cell_state=None, name=None, attention_layer=None, attention_fn=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self._cell = check_cell(cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._attention_mechanisms = _listed(attention_mechanism)
        for m in self._attention_mechanisms:
            if not isinstance(m, AttentionMechanism):
                raise TypeError("attention_mechanism must %s AttentionMechanism, saw type: %s" % (
                    "contain only instances of" if self._is_multi else "be an", type(m).__name__))
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError("cell_input_fn must be callable, saw type: %s" % type(cell_input_fn).__name__)
        self._cell_input_fn = cell_input_fn or (lambda inputs, attention: tf.concat([inputs, attention], -1))
        self._set_layers(attention_layer_size, attention_layer)
        self._attention_fn = attention_fn or _compute_attention
        self._output_attention, self._alignment_history = output_attention, alignment_history
        with tf.name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                rows = nest.flatten(initial_cell_state)[-1]
                checks = self._batch_size_checks(tf.shape(rows)[0], self._batch_message("initial_cell_state"))
                self._initial_cell_state = self._checked(checks, initial_cell_state, "check_initial_cell_state")

    def _set_layers(self, attention_layer_size, attention_layer):
        """Sets the layers that combine the output of the cell with what was read from the memory."""
        mechanisms = self._attention_mechanisms
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        given = attention_layer_size if attention_layer is None else attention_layer
        what = "attention_layer_size" if attention_layer is None else "attention_layer"
        if given is None:
            self._attention_layers = None
            self._attention_layer_size = sum(m.values.shape.as_list()[-1] for m in mechanisms)
            return
        if len(_listed(given)) != len(mechanisms):
            raise ValueError("If provided, %s must contain exactly one %s per attention_mechanism, saw: %d vs %d" % (
                what, "layer" if attention_layer is not None else "integer", len(_listed(given)), len(mechanisms)))
        if attention_layer is None:
            self._attention_layers = tuple(Projection(n, "attention_layer", m.dtype) for n, m in zip(_listed(given), mechanisms))
            self._attention_layer_size = sum(_listed(given))
            return
        self._attention_layers = tuple(check_layer(layer, "attention_layer") for layer in _listed(given))
        self._attention_layer_size = sum(
            layer_output_size(layer, self._cell.output_size + m.values.shape.as_list()[-1]).as_list()[-1]
            for layer, m in zip(self._attention_layers, mechanisms))

    def _batch_message(self, what):
        return ("When %s AttentionWrapper %s: Non-matching batch sizes between the memory (encoder output) and %s.  Are you using "
                "the BeamSearchDecoder?  You may need to tile your initial state via the tf.contrib.seq2seq.tile_batch function "
                "with argument multiple=beam_width." % ("constructing" if what == "initial_cell_state" else "calling", self.name, what))

    def _batch_size_checks(self, batch_size, message):
        return [tf.assert_equal(batch_size, m.batch_size, message=message) for m in self._attention_mechanisms]

    @staticmethod
    def _checked(checks, state, name):
        """Returns the state, once the checks are done."""
        with tf.control_dependencies(checks):
            return nest.map_structure(lambda s: tf.identity(s, name=name), state)

    def _item_or_tuple(self, parts):
        parts = tuple(parts)
        return parts if self._is_multi else parts[0]

    @property
    def output_size(self):
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self):
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size, time=tf.TensorShape([]), attention=self._attention_layer_size,
            alignments=self._item_or_tuple(m.alignments_size for m in mechanisms),
            attention_state=self._item_or_tuple(m.state_size for m in mechanisms),
            alignment_history=self._item_or_tuple(m.alignments_size if self._alignment_history else () for m in mechanisms))

    def _history(self, alignments, dtype):
        if not self._alignment_history:
            return ()
        return tf.TensorArray(dtype=dtype, size=0, dynamic_size=True, element_shape=alignments.shape)

    def zero_state(self, batch_size, dtype):
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            state = self._cell.zero_state(batch_size, dtype) if self._initial_cell_state is None else self._initial_cell_state
            checks = self._batch_size_checks(batch_size, self._batch_message("the requested batch size"))
            state = self._checked(checks, state, "checked_cell_state")
            alignments = [m.initial_alignments(batch_size, dtype) for m in self._attention_mechanisms]
            return AttentionWrapperState(
                cell_state=state, time=tf.zeros([], tf.int32), attention=zero_rows(batch_size, self._attention_layer_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(m.initial_state(batch_size, dtype) for m in self._attention_mechanisms),
                alignment_history=self._item_or_tuple(self._history(a, dtype) for a in alignments))

    def call(self, inputs, state):
        if not isinstance(state, AttentionWrapperState):
            raise TypeError("Expected state to be instance of AttentionWrapperState. Received type %s instead." % type(state))
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        checks = self._batch_size_checks(tf.shape(output)[0], self._batch_message("the query (decoder output)"))
        output = self._checked(checks, output, "checked_cell_output")
        before, history = state.attention_state, state.alignment_history
        before, history = (before, history) if self._is_multi else ([before], [history])
        read, places, states, histories = [], [], [], []
        for i, mechanism in enumerate(self._attention_mechanisms):
            layer = self._attention_layers[i] if self._attention_layers else None
            attention, alignments, after = self._attention_fn(mechanism, output, before[i], layer)
            read.append(attention)
            places.append(alignments)
            states.append(after)
            histories.append(history[i].write(state.time, alignments) if self._alignment_history else ())
        attention = tf.concat(read, 1)
        following = AttentionWrapperState(
            time=state.time + 1, cell_state=cell_state, attention=attention, attention_state=self._item_or_tuple(states),
            alignments=self._item_or_tuple(places), alignment_history=self._item_or_tuple(histories))
        return (attention if self._output_attention else output), following
