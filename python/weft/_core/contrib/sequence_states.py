"""tf.contrib.training's state savers: long sequences are divided into segments, and each segment starts with the last
state of the previous one.

A barrier holds the segments.  All components but the states are inserted when a sequence arrives; a segment is
complete, and can be taken, once the states at its start are known: the first one's at once, the others' when save_state
has run.
"""
import weft as tf
from weft._core.framework.absent import Named
from weft._core.ops.data_flow import Barrier

_CLOSED = (tf.errors.OutOfRangeError, tf.errors.CancelledError)


def _tensors(given, what):
    """Returns {name: tensor} of a dict, in the order of the names; sparse tensors stay."""
    if not isinstance(given or {}, dict):
        raise TypeError("%s must be a dict, not %r" % (what, given))
    return {k: given[k] if isinstance(given[k], tf.SparseTensor) else tf.convert_to_tensor(given[k]) for k in sorted(given or {})}


class _Component:
    """One component of the barrier: its values, and the information for reading serialized rows of a sparse one."""

    def __init__(self, value, inner, sparse=None):
        self.value, self.inner, self.sparse = value, inner, sparse

    def batch(self, taken):
        """Returns the value of a batch."""
        if self.sparse is None:
            return taken
        return tf.deserialize_many_sparse(taken, self.sparse.dtype, rank=self.sparse.dense_shape.shape[0].value)


def _serialized(sparse):
    made = tf.serialize_sparse(sparse)
    made.set_shape([3])
    return made


class NextQueuedSequenceBatch(metaclass=Named):
    """A batch of segments of different sequences, with the states at their starts."""

    def __init__(self, state_saver):
        self._saver = state_saver

    key = property(lambda self: self._saver._taken("key"), doc="The keys of the segments, such as b'00001_of_00003:name'.")
    next_key = property(lambda self: self._saver._taken("next_key"),
                        doc="The keys of the segments that follow; b'STOP:name' where a segment is the last one.")
    sequence = property(lambda self: self._saver._taken("sequence"), doc="The numbers of the segments in their sequences.")
    sequence_count = property(lambda self: self._saver._taken("sequence_count"), doc="How many segments the sequences have.")
    length = property(lambda self: self._saver._taken("length"), doc="How many steps of each segment are not padding.")
    total_length = property(lambda self: self._saver._taken("total_length"), doc="The lengths of the whole sequences.")
    insertion_index = property(lambda self: self._saver._indices, doc="When each segment came into the barrier, from -2**63 on.")
    batch_size = property(lambda self: tf.shape(self._saver._taken("length"))[0], doc="How many segments the batch has.")
    context = property(lambda self: self._saver._group("context"), doc="{name: value} of what holds for whole sequences.")
    sequences = property(lambda self: self._saver._group("sequences"), doc="{name: segments}, each [batch, num_unroll, ...].")

    def state(self, state_name):
        """Returns the states at the starts of the segments.

        Args:
          state_name: a key of initial_states.
        """
        return self._saver._state(state_name)

    def save_state(self, state_name, value, name=None):
        """Returns an op that gives the states at the ends of the segments to the segments that follow.

        Args:
          state_name: a key of initial_states.
          value: the states, one row for each segment.
          name: the name of the op.
        """
        return self._saver._save(state_name, value, name)


class SequenceQueueingStateSaver(metaclass=Named):
    """Divides sequences into segments, and batches segments of different sequences.

    States pass from one segment to the next.
    """

    def __init__(self, batch_size, num_unroll, input_length, input_key, input_sequences, input_context, initial_states, capacity=None,
                 allow_small_batch=False, name=None):
        """Describes the sequences. prefetch_op inserts one, and next_batch takes segments.

        Args:
          batch_size: how many segments a batch has.
          num_unroll: how many steps a segment has.
          input_length: the number of steps of the sequence that are not padding, a scalar.
          input_key: a text that no other sequence has while this one is held.
          input_sequences: {name: tensor} whose first dimension is the steps; it must be a multiple of num_unroll.
          input_context: {name: tensor} that every segment has.
          initial_states: {name: tensor} of the states at the start of a sequence, without a batch dimension.
          capacity: how many sequences are held at once; None: any number.
          allow_small_batch: whether the last batches may be smaller, once the saver is closed.
          name: the name of the ops.
        """
        if not isinstance(num_unroll, int) or num_unroll < 1:
            raise ValueError("num_unroll must be a positive Python integer, not %r" % (num_unroll,))
        with tf.name_scope(name, "SequenceQueueingStateSaver") as scope:
            self._name, self._num_unroll, self._small = scope, num_unroll, allow_small_batch
            self._batch_size = tf.convert_to_tensor(batch_size, tf.int32, name="batch_size")
            self._input = _Input(num_unroll, input_length, input_key, input_sequences, input_context, initial_states)
            self._parts = self._input.components()
            self._order = sorted(self._parts)
            kinds = [self._parts[k].value.dtype.base_dtype for k in self._order]
            self._barrier = Barrier(kinds, [self._parts[k].inner for k in self._order], name="barrier")
            self._room = None
            if capacity is not None:
                limit = tf.get_static_value(tf.convert_to_tensor(capacity))
                least = tf.get_static_value(self._batch_size)
                if limit is None:
                    raise ValueError("capacity must be known when the graph is built, not %s" % (capacity,))
                if least is not None and limit < least:
                    raise ValueError("capacity %d is less than batch_size %d" % (limit, least))
                self._room = tf.FIFOQueue(int(limit), [tf.bool], [[]], name="capacity_queue")
            self._prefetch, self._next, self._got = None, None, None

    name = property(lambda self: self._name, doc="The name scope of the ops.")
    barrier = property(lambda self: self._barrier, doc="What holds the segments.")
    batch_size = property(lambda self: self._batch_size, doc="How many segments a batch has, a tensor.")
    num_unroll = property(lambda self: tf.constant(self._num_unroll, tf.int32), doc="How many steps a segment has, a tensor.")

    @property
    def prefetch_op(self):
        """An op that inserts the segments of one sequence; it waits while capacity sequences are held."""
        if self._prefetch is None:
            with tf.name_scope(self._name + "prefetch/"), tf.control_dependencies(self._input.checks):
                wait = [] if self._room is None else [self._room.enqueue(True)]
                with tf.control_dependencies(wait):
                    keys = tf.identity(self._input.keys)
                made = []
                for i, name in enumerate(self._order):
                    made.append(self._barrier.insert_many(i, keys[:1] if name[0] == "state" else keys, self._parts[name].value))
                self._prefetch = tf.group(*made)
        return self._prefetch

    @property
    def next_batch(self):
        """A NextQueuedSequenceBatch: it must be used at most once in a step, and all its states saved."""
        if self._next is None:
            with tf.name_scope(self._name + "next_batch/"):
                count = tf.get_static_value(self._batch_size)
                indices, keys, values = self._barrier.take_many(
                    self._batch_size if count is None else int(count), allow_small_batch=self._small)
                found = dict(zip(self._order, values))
                release = []
                if self._room is not None:
                    last = tf.equal(found["own", "sequence"] + 1, found["own", "sequence_count"])
                    release = [self._room.dequeue_many(tf.reduce_sum(tf.cast(last, tf.int32)))]
                with tf.control_dependencies(release):
                    self._indices, self._got = tf.identity(indices), {k: self._parts[k].batch(v) for k, v in found.items()}
                    self._got["own", "key"] = tf.identity(keys)
                self._next = NextQueuedSequenceBatch(self)
        return self._next

    def close(self, cancel_pending_enqueues=False, name=None):
        """Returns an op after which no sequence can be inserted; segments that are held can be taken until they are
        used up.

        Args:
          cancel_pending_enqueues: whether states cannot be saved any more either, so that unfinished sequences are lost.
          name: the name of the op.
        """
        with tf.name_scope(name, "SQSSClose", [self._prefetch]):
            made = [self._barrier.close(cancel_pending_enqueues, "BarrierClose")]
            if self._room is not None:
                made.append(self._room.close(cancel_pending_enqueues))
            return tf.group(*made)

    def _taken(self, name):
        return self._got["own", name]

    def _group(self, group):
        return {k[1]: v for k, v in self._got.items() if k[0] == group}

    def _checked(self, name):
        if ("state", name) not in self._parts:
            raise KeyError("state was not declared: %s" % (name,))
        return self._parts["state", name]

    def _state(self, name):
        self._checked(name)
        return self._got["state", name]

    def _save(self, state, value, name):
        part = self._checked(state)
        with tf.name_scope(name, "InsertSaveState", [value]) as scope:
            value = tf.convert_to_tensor(value)
            if value.dtype.base_dtype != part.value.dtype.base_dtype:
                raise TypeError("the state %s has the type %s, not %s" % (state, part.value.dtype.name, value.dtype.name))
            value.shape.assert_is_compatible_with(tf.TensorShape([None]).concatenate(part.inner))
            more = tf.less(self._taken("sequence") + 1, self._taken("sequence_count"))
            rows = tf.reshape(tf.where(more), [-1])
            return self._barrier.insert_many(self._order.index(("state", state)), tf.gather(self._taken("next_key"), rows),
                                             tf.gather(value, rows), name=scope)


class _Input:
    """A sequence at its arrival: its segments, their keys, and checks."""

    def __init__(self, num_unroll, length, key, sequences, context, states):
        self.unroll = num_unroll
        self.length, self.key = tf.convert_to_tensor(length, tf.int32), tf.convert_to_tensor(key, tf.string)
        self.length.shape.assert_has_rank(0)
        self.key.shape.assert_has_rank(0)
        self.sequences, self.context = _tensors(sequences, "input_sequences"), _tensors(context, "input_context")
        self.states = _tensors(states, "initial_states")
        if not self.sequences:
            raise ValueError("input_sequences must have at least one sequence")
        if any(isinstance(v, tf.SparseTensor) for v in self.states.values()):
            raise TypeError("initial_states must be dense")
        for name, value in [*self.states.items(), *self.context.items()]:
            if not isinstance(value, tf.SparseTensor) and not value.shape.is_fully_defined():
                raise ValueError("the shape of %s must be known, not %s" % (name, value.shape))
        for name, value in self.sequences.items():
            known = None if isinstance(value, tf.SparseTensor) or value.shape.ndims is None else value.shape.as_list()[0]
            if known is not None and isinstance(num_unroll, int) and known % num_unroll:
                raise ValueError("input_sequences: %s has %d steps, which is no multiple of num_unroll=%d (pad=True pads them)" % (
                    name, known, num_unroll))
        steps = [v.dense_shape[0] if isinstance(v, tf.SparseTensor) else tf.shape(v, out_type=tf.int64)[0] for v in self.sequences.values()]
        self.steps = tf.cast(steps[0], tf.int32)
        self.checks = [
            tf.assert_less_equal(self.length, self.steps, message="input_length is more than the steps of input_sequences"),
            tf.assert_equal(self.steps % num_unroll, 0,
                            message="the steps of input_sequences are no multiple of num_unroll (pad=True pads them)"),
            *(tf.assert_equal(s, steps[0], message="input_sequences have different numbers of steps") for s in steps[1:])]
        with tf.control_dependencies(self.checks):
            self.count = self.steps // num_unroll
        self.numbers = tf.range(self.count)
        each = tf.fill([self.count], self.key)
        of = tf.string_join([tf.as_string(tf.fill([self.count], self.count), width=5, fill="0"), each], ":")
        self.keys = tf.string_join([tf.as_string(self.numbers, width=5, fill="0"), of], "_of_")
        self.next = tf.concat([self.keys[1:], [tf.string_join(["STOP:", self.key])]], 0)

    def each(self, value):
        """Returns the same value for every segment."""
        return tf.tile(value[None], tf.concat([[self.count], tf.ones([value.shape.ndims], tf.int32)], 0))

    def segment(self, value, i):
        """Returns one segment of a sparse sequence."""
        shape, at = value.dense_shape, tf.cast(i * self.unroll, tf.int64)
        rest = tf.zeros_like(shape[1:])
        found = tf.sparse_slice(value, tf.concat([[at], rest], 0), tf.concat([[self.unroll], shape[1:]], 0))
        return _serialized(found)

    def components(self):
        """Returns {(group, name): _Component}"""
        n = self.unroll
        own = {"next_key": self.next, "sequence": self.numbers, "sequence_count": self.each(self.count),
               "length": tf.clip_by_value(self.length - self.numbers * n, 0, n), "total_length": self.each(self.length)}
        found = {("own", k): _Component(v, []) for k, v in own.items()}
        for k, v in self.states.items():
            found["state", k] = _Component(v[None], v.shape)
        for k, v in self.context.items():
            if isinstance(v, tf.SparseTensor):
                found["context", k] = _Component(self.each(_serialized(v)), [3], v)
            else:
                found["context", k] = _Component(self.each(v), v.shape)
        for k, v in self.sequences.items():
            if isinstance(v, tf.SparseTensor):
                rows = tf.map_fn(lambda i, v=v: self.segment(v, i), self.numbers, tf.string)
                found["sequences", k] = _Component(tf.reshape(rows, [-1, 3]), [3], v)
            else:
                if not v.shape[1:].is_fully_defined():
                    raise ValueError("the shape of %s must be known but for its steps, not %s" % (k, v.shape))
                rest = v.shape[1:].as_list()
                found["sequences", k] = _Component(tf.reshape(v, [-1, n, *rest]), [n, *rest])
        return found


def _padded(value, num_unroll):
    """Returns a sequence with zeros (empty texts) after it, up to a multiple of num_unroll."""
    if isinstance(value, tf.SparseTensor):
        shape = value.dense_shape
        steps = (shape[0] + num_unroll - 1) // num_unroll * num_unroll
        return tf.SparseTensor(value.indices, value.values, tf.concat([[steps], shape[1:]], 0))
    value = tf.convert_to_tensor(value)
    shape = tf.shape(value)
    more = tf.concat([[-shape[0] % num_unroll], shape[1:]], 0)
    blank = tf.fill(more, "") if value.dtype == tf.string else tf.zeros(more, value.dtype)
    made = tf.concat([value, blank], 0)
    made.set_shape([None, *value.shape.as_list()[1:]])
    return made


def batch_sequences_with_states(input_key, input_sequences, input_context, input_length, initial_states, num_unroll, batch_size,
                                num_threads=3, capacity=1000, allow_small_batch=True, pad=True, make_keys_unique=False,
                                make_keys_unique_seed=None, name=None):
    """Returns batches of segments of sequences; threads of a queue runner read the sequences.

    Args:
      input_key: a text that no other sequence has while this one is held.
      input_sequences: {name: tensor} whose first dimension is the steps.
      input_context: {name: tensor} that every segment has.
      input_length: how many steps the sequence has, or None: those of the sequences.
      initial_states: {name: tensor} of the states at the start of a sequence, without a batch dimension.
      num_unroll: how many steps a segment has.
      batch_size: how many segments a batch has.
      num_threads: how many threads read.
      capacity: how many sequences are held at once.
      allow_small_batch: whether the last batches may be smaller.
      pad: whether sequences are padded to a multiple of num_unroll; else they must have such a length.
      make_keys_unique: whether a random number is put behind each key.
      make_keys_unique_seed: the seed of that number.
      name: the name of the ops.

    Returns a NextQueuedSequenceBatch.
    """
    flat = [v for group in (input_sequences, input_context or {}) for v in group.values()]
    with tf.name_scope(name, "batch_sequences_with_states", [v for v in flat if isinstance(v, tf.Tensor)] + [input_key, input_length]):
        if make_keys_unique:
            drawn = tf.random_uniform([], maxval=2**63 - 1, dtype=tf.int64, seed=make_keys_unique_seed)
            input_key = tf.string_join([input_key, tf.as_string(drawn)], "__")
        if input_length is None:
            first = next(iter(_tensors(input_sequences, "input_sequences").values()))
            input_length = tf.cast(first.dense_shape[0] if isinstance(first, tf.SparseTensor) else tf.shape(first)[0], tf.int32)
        if pad:
            input_sequences = {k: _padded(v, num_unroll) for k, v in input_sequences.items()}
        saver = SequenceQueueingStateSaver(batch_size, num_unroll, input_length, input_key, input_sequences, input_context,
                                           initial_states, capacity, allow_small_batch)
        room = saver._room
        tf.train.add_queue_runner(tf.train.QueueRunner(
            room, [saver.prefetch_op] * num_threads, close_op=saver.close(), cancel_op=saver.close(cancel_pending_enqueues=True),
            queue_closed_exception_types=_CLOSED))
        tf.summary.scalar("queue/%s/ready_segments_" % saver.barrier.name, tf.cast(saver.barrier.ready_size(), tf.float32))
        return saver.next_batch
