"""Decoders of tf.contrib.seq2seq, and dynamic_decode, which runs steps until every row has ended."""
import abc
import collections

import weft as tf
from weft._core.contrib.seq2seq.helpers import Helper
from weft._core.contrib.seq2seq.parts import check_cell, check_layer, layer_output_size, transpose_batch_time
from weft._core.framework import nest
from weft._core.framework.absent import Named
from weft._core.framework.graph import Tensor

_transpose_batch_time = transpose_batch_time  # Programs with their own loops import it by this name.
BasicDecoderOutput = collections.namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))


class Decoder(metaclass=Named):
    """The base of decoders; a step gives the output, the state, the next inputs, and which rows have ended."""

    @property
    def batch_size(self):
        raise NotImplementedError("%s has no batch_size" % type(self).__name__)

    @property
    def output_size(self):
        raise NotImplementedError("%s has no output_size" % type(self).__name__)

    @property
    def output_dtype(self):
        raise NotImplementedError("%s has no output_dtype" % type(self).__name__)

    @abc.abstractmethod
    def initialize(self, name=None):
        """Returns (finished, inputs of the first step, state)."""

    @abc.abstractmethod
    def step(self, time, inputs, state, name=None):
        """Returns (outputs, state, inputs of the next step, finished)."""

    def finalize(self, outputs, final_state, sequence_lengths):
        raise NotImplementedError("%s has no finalize" % type(self).__name__)

    @property
    def tracks_own_finished(self):
        """Whether a finished row may become unfinished, as with beams that are reordered."""
        return False


class BasicDecoder(Decoder):
    """Decodes with a cell; a helper selects the next inputs. output_layer is applied to the cell's outputs first."""

    def __init__(self, cell, helper, initial_state, output_layer=None):
        check_cell(cell)
        if not isinstance(helper, Helper):
            raise TypeError("helper must be a Helper, received: %s" % type(helper))
        if output_layer is not None:
            check_layer(output_layer, "output_layer")
        self._cell, self._helper, self._initial_state, self._output_layer = cell, helper, initial_state, output_layer

    batch_size = property(lambda self: self._helper.batch_size)

    def _rnn_output_size(self):
        size = self._cell.output_size
        if self._output_layer is None:
            return size
        return nest.map_structure(lambda width: layer_output_size(self._output_layer, width), size)

    @property
    def output_size(self):
        return BasicDecoderOutput(rnn_output=self._rnn_output_size(), sample_id=self._helper.sample_ids_shape)

    @property
    def output_dtype(self):
        dtype = nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(nest.map_structure(lambda _: dtype, self._rnn_output_size()), self._helper.sample_ids_dtype)

    def initialize(self, name=None):
        return self._helper.initialize() + (self._initial_state,)

    def step(self, time, inputs, state, name=None):
        with tf.name_scope(name, "BasicDecoderStep", [time] + nest.flatten(inputs)):
            outputs, cell_state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            ids = self._helper.sample(time=time, outputs=outputs, state=cell_state)
            finished, following, state = self._helper.next_inputs(time=time, outputs=outputs, state=cell_state, sample_ids=ids)
        return BasicDecoderOutput(outputs, ids), state, following, finished


def _static_rows(decoder):
    """Returns the number of rows, or None where it is known only when the graph runs."""
    found = decoder.batch_size
    if not isinstance(found, Tensor):
        return found
    from weft._core.framework.build import constant_value
    known = constant_value(found)
    return None if known is None else int(known)


def _create_zero_outputs(size, dtype, batch_size):
    """Returns zeros with the structure of an output, for rows that have ended."""
    def zeros(size, dtype):
        rows = tf.expand_dims(tf.convert_to_tensor(batch_size, tf.int32), 0)
        width = tf.constant(tf.TensorShape(size).as_list(), tf.int32)
        return tf.zeros(tf.concat([rows, width], 0), dtype)
    return nest.map_structure(zeros, size, dtype)


def _output_arrays(decoder):
    rows = _static_rows(decoder)

    def array(size, dtype):
        return tf.TensorArray(dtype=dtype, size=0, dynamic_size=True, element_shape=tf.TensorShape([rows]).concatenate(size))
    return nest.map_structure(array, decoder.output_size, decoder.output_dtype)


def _kept(finished, new, old):
    """Returns the state of a row that has ended stays; arrays and scalars have no rows."""
    if isinstance(old, tf.TensorArray):
        return new
    new = tf.convert_to_tensor(new)
    new.set_shape(old.shape)
    return new if new.shape.ndims == 0 else tf.where(finished, old, new)


def _checked_limit(maximum_iterations):
    if maximum_iterations is None:
        return None
    limit = tf.convert_to_tensor(maximum_iterations, dtype=tf.int32, name="maximum_iterations")
    if limit.shape.ndims != 0:
        raise ValueError("maximum_iterations must be a scalar")
    return limit


def _loop_body(decoder, impute_finished, zeros):
    """Returns the body of the loop: one step of the decoder, its output written, and the lengths of the rows so far."""
    def body(time, arrays, state, inputs, finished, lengths):
        outputs, new_state, following, ended = decoder.step(time, inputs, state)
        own_lengths = getattr(new_state, "lengths", None) if decoder.tracks_own_finished else None
        if not decoder.tracks_own_finished:
            ended = tf.logical_or(ended, finished)
        if own_lengths is not None:
            new_lengths = tf.cast(own_lengths, tf.int32)
        else:
            new_lengths = tf.where(tf.logical_not(finished), tf.fill(tf.shape(lengths), time + 1), lengths)
        nest.assert_same_structure(state, new_state)
        nest.assert_same_structure(arrays, outputs)
        nest.assert_same_structure(inputs, following)
        if impute_finished:
            outputs = nest.map_structure(lambda out, zero: tf.where(finished, zero, out), outputs, zeros)
            new_state = nest.map_structure(lambda new, old: _kept(finished, new, old), new_state, state)
        arrays = nest.map_structure(lambda array, out: array.write(time, out), arrays, outputs)
        return time + 1, arrays, new_state, following, ended, new_lengths
    return body


def dynamic_decode(decoder, output_time_major=False, impute_finished=False, maximum_iterations=None, parallel_iterations=32,
                   swap_memory=False, scope=None, **kwargs):
    """Returns (outputs, final state, lengths) of a decoder that runs until all rows have ended."""
    if not isinstance(decoder, Decoder):
        raise TypeError("Expected decoder to be type Decoder, but saw: %s" % type(decoder))
    if kwargs:
        raise TypeError("dynamic_decode got unexpected keyword arguments: %s" % ", ".join(sorted(kwargs)))
    with tf.variable_scope(scope, "decoder"):
        limit = _checked_limit(maximum_iterations)
        finished, inputs, state = decoder.initialize()
        zeros = _create_zero_outputs(decoder.output_size, decoder.output_dtype, decoder.batch_size) if impute_finished else None
        if limit is not None:
            finished = tf.logical_or(finished, 0 >= limit)
        lengths = tf.zeros_like(finished, dtype=tf.int32)
        loop = tf.while_loop(
            lambda time, arrays, state, inputs, ended, lengths: tf.logical_not(tf.reduce_all(ended)),
            _loop_body(decoder, impute_finished, zeros),
            (tf.constant(0, tf.int32), _output_arrays(decoder), state, inputs, finished, lengths),
            parallel_iterations=parallel_iterations, maximum_iterations=limit, swap_memory=swap_memory)
        outputs, final_state, final_lengths = nest.map_structure(lambda array: array.stack(), loop[1]), loop[2], loop[5]
        try:
            outputs, final_state = decoder.finalize(outputs, final_state, final_lengths)
        except NotImplementedError:
            pass
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, final_state, final_lengths
