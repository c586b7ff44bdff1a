"""Helpers of tf.contrib.seq2seq, which select the next input of a decoder."""
import abc

import weft as tf
from weft._core.contrib.seq2seq.parts import transpose_batch_time
from weft._core.framework import nest
from weft._core.framework.absent import Named
from weft._core.framework.graph import Tensor

_transpose_batch_time = transpose_batch_time  # Programs with their own helpers import it by this name.


class Helper(metaclass=Named):
    """The base of helpers, which sample ids from the outputs of a step and make the next inputs."""

    @property
    @abc.abstractmethod
    def batch_size(self):
        """The batch size, as a scalar tensor."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self):
        """The shape of the ids of one row."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self):
        """The type of the ids."""

    @abc.abstractmethod
    def initialize(self, name=None):
        """Returns (finished, inputs of the first step)."""

    @abc.abstractmethod
    def sample(self, time, outputs, state, name=None):
        """Returns the ids of a step."""

    @abc.abstractmethod
    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        """Returns (finished, inputs of the next step, state)."""


class CustomHelper(Helper):
    """A helper made from functions."""

    def __init__(self, initialize_fn, sample_fn, next_inputs_fn, sample_ids_shape=None, sample_ids_dtype=None):
        self._initialize_fn, self._sample_fn, self._next_inputs_fn = initialize_fn, sample_fn, next_inputs_fn
        self._batch_size = None
        self._sample_ids_shape = tf.TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or tf.int32

    @property
    def batch_size(self):
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    sample_ids_shape = property(lambda self: self._sample_ids_shape)
    sample_ids_dtype = property(lambda self: self._sample_ids_dtype)

    def initialize(self, name=None):
        with tf.name_scope(name, "%sInitialize" % type(self).__name__):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = tf.size(finished)
            return finished, inputs

    def sample(self, time, outputs, state, name=None):
        with tf.name_scope(name, "%sSample" % type(self).__name__, [time]):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with tf.name_scope(name, "%sNextInputs" % type(self).__name__, [time]):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class _Ids(Helper):
    """The base of helpers with one int32 id for each row."""

    batch_size = property(lambda self: self._batch_size)
    sample_ids_shape = property(lambda self: tf.TensorShape([]))
    sample_ids_dtype = property(lambda self: tf.int32)


def _unstack_ta(x):
    return tf.TensorArray(x.dtype, size=tf.shape(x)[0], element_shape=x.shape[1:]).unstack(x)


def _time_major(inputs, time_major):
    return inputs if time_major else nest.map_structure(transpose_batch_time, inputs)


class TrainingHelper(_Ids):
    """Reads the given inputs, independent of what was decoded."""

    def __init__(self, inputs, sequence_length, time_major=False, name=None):
        with tf.name_scope(name, "TrainingHelper", nest.flatten(inputs) + [sequence_length]):
            inputs = nest.map_structure(tf.convert_to_tensor, inputs)
            self._inputs = inputs
            inputs = _time_major(inputs, time_major)
            self._input_tas = nest.map_structure(_unstack_ta, inputs)
            self._sequence_length = tf.convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError("Expected sequence_length to be a vector, but received shape: %s" % self._sequence_length.shape)
            self._zero_inputs = nest.map_structure(lambda x: tf.zeros_like(x[0, :]), inputs)
            self._batch_size = tf.size(self._sequence_length)

    inputs = property(lambda self: self._inputs)
    sequence_length = property(lambda self: self._sequence_length)

    def _read(self, finished, time):
        """Returns the inputs of a step, or zeros once all rows have ended."""
        return tf.cond(tf.reduce_all(finished), lambda: self._zero_inputs,
                       lambda: nest.map_structure(lambda array: array.read(time), self._input_tas))

    def initialize(self, name=None):
        with tf.name_scope(name, "TrainingHelperInitialize"):
            finished = tf.equal(tf.zeros([], self._sequence_length.dtype), self._sequence_length)
            return finished, _shaped(self._read(finished, 0), self._zero_inputs)

    def sample(self, time, outputs, state=None, name=None):
        with tf.name_scope(name, "TrainingHelperSample", [time]):
            return tf.cast(tf.argmax(outputs, axis=-1), tf.int32)

    def next_inputs(self, time, outputs, state, sample_ids=None, name=None):
        with tf.name_scope(name, "TrainingHelperNextInputs", [time]):
            following = time + 1
            finished = tf.cast(following, self._sequence_length.dtype) >= self._sequence_length
            return finished, _shaped(self._read(finished, following), self._zero_inputs), state


def _shaped(inputs, like):
    """Returns the inputs, with the shapes that every step has."""
    inputs = nest.pack_like(like, nest.flatten(inputs))
    for x, zero in zip(nest.flatten(inputs), nest.flatten(like)):
        x.set_shape(zero.shape)
    return inputs


def _embedding_fn(embedding):
    return embedding if callable(embedding) else lambda ids: tf.nn.embedding_lookup(embedding, ids)


def _draw(probability, rows, seed):
    """Returns for each row whether a random number in [0, 1) is less than the probability."""
    shape = tf.concat([tf.reshape(rows, [1]), tf.shape(probability)], 0)
    return tf.less(tf.random_uniform(shape, seed=seed, dtype=probability.dtype), probability)


def _draw_ids(logits, seed):
    """Returns one id for each row, drawn by the probabilities that the logits give."""
    return tf.reshape(tf.cast(tf.multinomial(logits, 1, seed=seed), tf.int32), [-1])


def _checked_probability(sampling_probability):
    made = tf.convert_to_tensor(sampling_probability, name="sampling_probability")
    if made.shape.ndims not in (0, 1):
        raise ValueError("sampling_probability must be either a scalar or a vector. saw shape: %s" % made.shape)
    return made


def _either(where_sampling, sampled, where_not, others, shape):
    """Merges rows of two kinds into one tensor."""
    return tf.scatter_nd(where_sampling, sampled, shape) + tf.scatter_nd(where_not, others, shape)


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Reads what was decoded with a given probability, and otherwise the given inputs."""

    def __init__(self, inputs, sequence_length, embedding, sampling_probability, time_major=False, seed=None,
                 scheduling_seed=None, name=None):
        with tf.name_scope(name, "ScheduledEmbeddingSamplingWrapper", [embedding, sampling_probability]):
            self._embedding_fn = _embedding_fn(embedding)
            self._sampling_probability = _checked_probability(sampling_probability)
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs=inputs, sequence_length=sequence_length, time_major=time_major, name=name)

    def initialize(self, name=None):
        return super().initialize(name=name)

    def sample(self, time, outputs, state, name=None):
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs]):
            chosen = _draw_rows(self._sampling_probability, self._batch_size, self._scheduling_seed)
            return tf.where(chosen, _draw_ids(outputs, self._seed), tf.fill(tf.reshape(self._batch_size, [1]), -1))

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs]):
            finished, given, state = super().next_inputs(time=time, outputs=outputs, state=state, sample_ids=sample_ids)

            def sampled():
                yes, no = tf.cast(tf.where(sample_ids > -1), tf.int32), tf.cast(tf.where(sample_ids <= -1), tf.int32)
                return _either(yes, self._embedding_fn(tf.gather_nd(sample_ids, yes)), no, tf.gather_nd(given, no), tf.shape(given))
            chosen = tf.cond(tf.reduce_all(finished), lambda: given, sampled)
            return finished, _shaped(chosen, given), state


def _draw_rows(probability, rows, seed):
    """Returns one draw for each row; a vector of probabilities has one for each row already."""
    if probability.shape.ndims == 0:
        return _draw(probability, rows, seed)
    return tf.less(tf.random_uniform(tf.shape(probability), seed=seed, dtype=probability.dtype), probability)


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Reads the outputs themselves with a given probability, and otherwise the given inputs."""

    def __init__(self, inputs, sequence_length, sampling_probability, time_major=False, seed=None, next_inputs_fn=None,
                 auxiliary_inputs=None, name=None):
        with tf.name_scope(name, "ScheduledOutputTrainingHelper", nest.flatten(inputs) + [sampling_probability]):
            self._sampling_probability, self._seed = _checked_probability(sampling_probability), seed
            self._auxiliary_input_tas = None
            if auxiliary_inputs is not None:
                inputs = nest.map_structure(lambda x, y: tf.concat([x, y], -1), inputs, auxiliary_inputs)
                auxiliary = nest.map_structure(tf.convert_to_tensor, auxiliary_inputs)
                self._auxiliary_input_tas = nest.map_structure(_unstack_ta, _time_major(auxiliary, time_major))
            self._next_inputs_fn = next_inputs_fn
            super().__init__(inputs=inputs, sequence_length=sequence_length, time_major=time_major, name=name)

    def initialize(self, name=None):
        return super().initialize(name=name)

    def sample(self, time, outputs, state, name=None):
        with tf.name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs]):
            return tf.cast(_draw_rows(self._sampling_probability, self._batch_size, self._seed), tf.int32)

    def _with_auxiliary(self, outputs, time, rows=None):
        if self._auxiliary_input_tas is None:
            return outputs
        more = nest.map_structure(lambda array: array.read(time + 1), self._auxiliary_input_tas)
        if rows is not None:
            more = nest.map_structure(lambda x: tf.gather_nd(x, rows), more)
        return nest.map_structure(lambda x, y: tf.concat([x, y], -1), outputs, more)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with tf.name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs]):
            finished, given, state = super().next_inputs(time=time, outputs=outputs, state=state, sample_ids=sample_ids)
            chosen = tf.cast(sample_ids, tf.bool)

            def sampled():
                if self._next_inputs_fn is None:
                    return tf.where(chosen, self._with_auxiliary(outputs, time), given)
                yes, no = tf.cast(tf.where(chosen), tf.int32), tf.cast(tf.where(tf.logical_not(chosen)), tf.int32)
                made = self._with_auxiliary(self._next_inputs_fn(tf.gather_nd(outputs, yes)), time, yes)
                return _either(yes, made, no, tf.gather_nd(given, no), tf.shape(given))
            none = tf.logical_or(tf.reduce_all(finished), tf.logical_not(tf.reduce_any(chosen)))
            return finished, _shaped(tf.cond(none, lambda: given, sampled), given), state


class GreedyEmbeddingHelper(_Ids):
    """Reads the embedding of the most probable id."""

    def __init__(self, embedding, start_tokens, end_token):
        self._embedding_fn = _embedding_fn(embedding)
        self._start_tokens = tf.convert_to_tensor(start_tokens, dtype=tf.int32, name="start_tokens")
        self._end_token = tf.convert_to_tensor(end_token, dtype=tf.int32, name="end_token")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = tf.size(self._start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name=None):
        return tf.tile([False], tf.reshape(self._batch_size, [1])), self._start_inputs

    def sample(self, time, outputs, state, name=None):
        return tf.argmax(_single(outputs), axis=-1, output_type=tf.int32)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        finished = tf.equal(sample_ids, self._end_token)
        following = tf.cond(tf.reduce_all(finished), lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids))
        return finished, following, state


def _single(outputs):
    if not isinstance(outputs, Tensor):
        raise TypeError("Expected outputs to be a single Tensor, got: %s" % type(outputs))
    return outputs


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Reads the embedding of an id that is sampled by its probability."""

    def __init__(self, embedding, start_tokens, end_token, softmax_temperature=None, seed=None):
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature, self._seed = softmax_temperature, seed

    def sample(self, time, outputs, state, name=None):
        logits = _single(outputs)
        return _draw_ids(logits if self._softmax_temperature is None else logits / self._softmax_temperature, self._seed)


class InferenceHelper(Helper):
    """Reads the result of a function that samples from the outputs."""

    def __init__(self, sample_fn, sample_shape, sample_dtype, start_inputs, end_fn, next_inputs_fn=None):
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self._sample_shape, self._sample_dtype = tf.TensorShape(sample_shape), sample_dtype
        self._start_inputs = tf.convert_to_tensor(start_inputs, name="start_inputs")
        self._batch_size = tf.shape(self._start_inputs)[0]

    batch_size = property(lambda self: self._batch_size)
    sample_ids_shape = property(lambda self: self._sample_shape)
    sample_ids_dtype = property(lambda self: self._sample_dtype)

    def initialize(self, name=None):
        return tf.tile([False], tf.reshape(self._batch_size, [1])), self._start_inputs

    def sample(self, time, outputs, state, name=None):
        return self._sample_fn(outputs)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        following = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), following, state
