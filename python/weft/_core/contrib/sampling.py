"""tf.contrib.training's queues: batches of similar examples (buckets), and examples sampled by class or by weight."""
import weft as tf
from weft._core.train.batching import _flat, _like


def _as_list(value, n, name):
    found = list(value) if isinstance(value, (list, tuple)) else [value] * n
    if len(found) != n:
        raise ValueError("%s has %d elements; there are %d buckets" % (name, len(found), n))
    return found


def bucket(tensors, which_bucket, batch_size, num_buckets, num_threads=1, capacity=32, bucket_capacities=None, shapes=None,
           dynamic_pad=False, allow_smaller_final_batch=False, keep_input=True, shared_name=None, name=None):
    """Returns (bucket, batch): each batch has examples of one bucket only."""
    sizes = _as_list(batch_size, num_buckets, "batch_size")
    capacities = _as_list(bucket_capacities if bucket_capacities is not None else capacity, num_buckets, "bucket_capacities")
    flat = [tf.convert_to_tensor(t) for t in _flat(tensors)]
    with tf.name_scope(name, "bucket", flat) as scope:
        which = tf.cast(tf.convert_to_tensor(which_bucket), tf.int32)
        types = [t.dtype.base_dtype for t in flat]
        known = [tf.TensorShape(s) for s in shapes] if shapes is not None else [t.shape for t in flat]
        kind = tf.PaddingFIFOQueue if dynamic_pad else tf.FIFOQueue

        def shared(suffix):
            return shared_name and "%s_%s" % (shared_name, suffix)
        queues = [kind(capacity=capacities[i], dtypes=types, shapes=known, shared_name=shared("bucket_%d" % i), name="bucket_queue_%d" % i)
                  for i in range(num_buckets)]
        whole = all(n == sizes[0] for n in sizes) and not allow_smaller_final_batch
        tops = [[]] + [[sizes[0] if whole else None] + s.as_list() for s in known]
        fixed = whole and all(s.is_fully_defined() for s in known)
        top = (tf.FIFOQueue if fixed else tf.PaddingFIFOQueue)(
            capacity=capacity, dtypes=[tf.int32] + types, shapes=tops, shared_name=shared("top"), name="top_queue")
        _add_runners(queues, top, sizes, flat, which, keep_input, num_threads, allow_smaller_final_batch)
        for queue in queues:
            tf.summary.scalar("bucket/%s/size" % queue.name, tf.cast(queue.size(), tf.float32))
        tf.summary.scalar("fraction_of_%d_full" % capacity, tf.cast(top.size(), tf.float32) * (1. / capacity))
        found = top.dequeue(name=scope)
        return found[0], _like(tensors, list(found[1:]))


def _add_runners(queues, top, sizes, flat, which, keep_input, num_threads, smaller):
    """Adds threads that put examples into buckets, and batches of each bucket into one queue."""
    def put():
        branches = [(tf.equal(which, i), lambda q=q: tf.group(q.enqueue(flat))) for i, q in enumerate(queues)]
        said = tf.Assert(tf.logical_and(which >= 0, which < len(queues)), ["which_bucket is not a bucket", which])
        with tf.control_dependencies([said]):
            return tf.group(tf.case(branches, default=lambda: tf.group(queues[0].enqueue(flat)), exclusive=True))
    if keep_input is True:
        enqueue = put()
    else:
        enqueue = tf.cond(tf.convert_to_tensor(keep_input), lambda: tf.group(put()), tf.no_op)
        enqueue = getattr(enqueue, "op", enqueue)
    closed = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
    runner = tf.train.QueueRunner(queues[0], [enqueue] * num_threads, close_op=tf.group(*[q.close() for q in queues]),
                                  cancel_op=tf.group(*[q.close(cancel_pending_enqueues=True) for q in queues]),
                                  queue_closed_exception_types=closed)
    tf.train.add_queue_runner(runner)
    batches = []
    for i, (queue, size) in enumerate(zip(queues, sizes)):
        batch = queue.dequeue_up_to(size) if smaller else queue.dequeue_many(size)
        batch = batch if isinstance(batch, (list, tuple)) else [batch]
        batches.append(top.enqueue([tf.constant(i, tf.int32), *batch]))
    tf.train.add_queue_runner(tf.train.QueueRunner(top, batches, queue_closed_exception_types=closed))


def bucket_by_sequence_length(input_length, tensors, batch_size, bucket_boundaries, num_threads=1, capacity=32, bucket_capacities=None,
                              shapes=None, dynamic_pad=False, allow_smaller_final_batch=False, keep_input=True, shared_name=None,
                              name=None):
    """Returns (lengths, batch): each batch has sequences of similar length; the boundaries are increasing lengths."""
    if not isinstance(bucket_boundaries, (list, tuple)) or not bucket_boundaries:
        raise ValueError("bucket_boundaries must be a non-empty list, not %r" % (bucket_boundaries,))
    for a, b in zip(bucket_boundaries, bucket_boundaries[1:]):
        if b <= a:
            raise ValueError("Buckets must contain sequential increasing lengths, but saw: %s before %s" % (a, b))
    with tf.name_scope(name, "bucket_by_sequence_length", [input_length]) as scope:
        length = tf.cast(tf.convert_to_tensor(input_length), tf.int32)
        which = tf.reduce_sum(tf.cast(tf.greater_equal(length, tf.constant(list(bucket_boundaries), tf.int32)), tf.int32))
        flat = _flat(tensors)
        _, found = bucket([length] + flat, which, batch_size, len(bucket_boundaries) + 1, num_threads, capacity, bucket_capacities,
                          None if shapes is None else [[]] + list(shapes), dynamic_pad, allow_smaller_final_batch, keep_input,
                          shared_name, scope)
        return found[0], _like(tensors, list(found[1:]))


def rejection_sample(tensors, accept_prob_fn, batch_size, queue_threads=1, enqueue_many=False, prebatch_capacity=16,
                     prebatch_threads=1, runtime_checks=False, name=None):
    """Returns a batch of examples that are kept with the probability accept_prob_fn(tensors)."""
    with tf.variable_scope(name, "rejection_sample", tensors):
        tensors = [tf.convert_to_tensor(t) for t in tensors]
        if enqueue_many:
            tensors = _one_at_a_time(tensors, prebatch_capacity, prebatch_threads)
        probability = accept_prob_fn(tensors)
        if runtime_checks:
            checks = [tf.assert_less_equal(probability, 1.0), tf.assert_greater_equal(probability, 0.0)]
            with tf.control_dependencies(checks):
                probability = tf.identity(probability, name="prob_with_checks")
        keep = tf.less(tf.random_uniform([]), probability)
        return tf.train.maybe_batch(tensors, keep_input=keep, batch_size=batch_size, num_threads=queue_threads)


def _one_at_a_time(tensors, capacity, threads):
    queue = tf.FIFOQueue(capacity, [t.dtype.base_dtype for t in tensors], [t.shape[1:] for t in tensors])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue_many(tensors)] * threads))
    found = queue.dequeue()
    return found if isinstance(found, list) else [found]


def _distribution(given, name):
    return tf.convert_to_tensor(given, tf.float32, name=name)


def _acceptance(target, initial):
    """Returns the probability of keeping an example of each class, so that classes occur with the target frequencies.
    """
    ratio = tf.div_no_nan(target, initial)
    return ratio / tf.reduce_max(ratio)


def _estimated(labels, classes, smoothing=10):
    """Returns how often each class occurred, with some of each at first."""
    seen = tf.Variable([float(smoothing)] * classes, trainable=False, name="class_count", dtype=tf.float32,
                       collections=[tf.GraphKeys.LOCAL_VARIABLES])
    more = tf.reduce_sum(tf.one_hot(tf.reshape(labels, [-1]), classes), 0)
    updated = tf.assign_add(seen, more)
    return updated / tf.reduce_sum(updated)


def stratified_sample(tensors, labels, target_probs, batch_size, init_probs=None, enqueue_many=False, queue_capacity=16,
                      threads_per_queue=1, name=None):
    """Returns (batch of tensors, labels) in which the classes occur with the target probabilities."""
    with tf.name_scope(name, "stratified_sample", list(tensors) + [labels]):
        tensors, labels = [tf.convert_to_tensor(t) for t in tensors], tf.cast(tf.convert_to_tensor(labels), tf.int32)
        target = _distribution(target_probs, "target_probs")
        classes = target.shape[0].value
        if not enqueue_many:
            tensors, labels = [tf.expand_dims(t, 0) for t in tensors], tf.expand_dims(labels, 0)
        initial = _estimated(labels, classes) if init_probs is None else _distribution(init_probs, "init_probs")
        accept = _acceptance(target, initial)
        chosen = tf.gather(accept, labels)
        keep = tf.less(tf.random_uniform(tf.shape(labels)), chosen)
        kept = tf.train.maybe_batch(tensors + [labels], keep_input=keep, batch_size=batch_size, num_threads=threads_per_queue,
                                    capacity=queue_capacity, enqueue_many=True)
        return list(kept[:-1]), kept[-1]


def weighted_resample(inputs, weights, overall_rate, scope=None, mean_decay=0.999, seed=None):
    """Returns (resampled tensors, rates): rows occur in proportion to their weights, overall_rate times on average."""
    with tf.name_scope(scope, "weighted_resample", list(inputs) + [weights, overall_rate]):
        weights = tf.convert_to_tensor(weights, name="weights")
        rate = tf.convert_to_tensor(overall_rate, name="resampling_rate")
        estimate = tf.Variable(1.0, trainable=False, name="mean", collections=[tf.GraphKeys.LOCAL_VARIABLES])
        count = tf.Variable(0.0, trainable=False, name="count", collections=[tf.GraphKeys.LOCAL_VARIABLES])
        seen = tf.assign_add(count, 1.0)
        decay = tf.minimum(mean_decay, (seen - 1.0) / seen)
        mean = tf.assign(estimate, estimate * decay + tf.reduce_mean(weights) * (1.0 - decay))
        rates = rate * weights / mean
        found = resample_at_rate(inputs, rates, seed=seed)
        return found, rates


def resample_at_rate(inputs, rates, scope=None, seed=None, back_prop=False):
    """Returns rows repeated by their rates: a rate of 2.3 means twice, and once more with probability 0.3."""
    with tf.name_scope(scope, "resample_at_rate", list(inputs) + [rates]):
        rates = tf.convert_to_tensor(rates, name="rates")
        counts = tf.cast(tf.floor(rates + tf.random_uniform(tf.shape(rates), dtype=rates.dtype, seed=seed)), tf.int32)
        ends = tf.cumsum(counts)
        total = tf.where(tf.greater(tf.size(ends), 0), tf.reduce_sum(counts), 0)
        rows = tf.reduce_sum(tf.cast(tf.greater_equal(tf.range(total)[:, None], ends[None, :]), tf.int32), 1)
        made = [tf.gather(x, rows) for x in inputs]
        return made if back_prop else [tf.stop_gradient(x) for x in made]


class FeedingQueueRunner(tf.train.QueueRunner):
    """A queue runner with a feed function for each enqueue op."""

    def __init__(self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None, feed_fns=None, queue_closed_exception_types=None):
        super().__init__(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types)
        self._feed_fns = [None] * len(enqueue_ops) if feed_fns is None else list(feed_fns)
        if len(self._feed_fns) != len(enqueue_ops):
            raise ValueError("If feed_fns is not None, it must have the same length as enqueue_ops: %d, %d"
                             % (len(self._feed_fns), len(enqueue_ops)))

    def _fill(self, sess, op, feed_fn, coord):
        try:
            while coord is None or not coord.should_stop():
                try:
                    sess.run(op, None if feed_fn is None else feed_fn())
                except (*self.queue_closed_exception_types, StopIteration):
                    sess.run(self.close_op)
                    return
        except Exception as e:  # noqa: BLE001 - it is passed to the coordinator
            if coord is None:
                self.exceptions_raised.append(e)
                raise
            coord.request_stop(e)

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """Returns the threads, one for each op, and one that closes the queue when the coordinator stops."""
        import threading

        def close():
            coord.wait_for_stop()
            sess.run(self.cancel_op)
        made = [threading.Thread(target=self._fill, args=(sess, op, fn, coord)) for op, fn in zip(self.enqueue_ops, self._feed_fns)]
        made += [threading.Thread(target=close)] if coord is not None else []
        for thread in made:
            thread.daemon = daemon
            if coord is not None:
                coord.register_thread(thread)
            if start:
                thread.start()
        return made
