"""tf.keras.utils.Sequence and the enqueuers, which make batches in Python ahead of the training loop."""
import multiprocessing
import queue
import random
import threading
from multiprocessing.pool import ThreadPool

from weft._core.framework.absent import Named

_shared = {}  # number of an enqueuer -> its Sequence or generator, which forked processes inherit
_numbers = iter(range(1 << 62))


class Sequence(metaclass=Named):
    """Batches by number. Subclasses define __getitem__ and __len__."""

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def on_epoch_end(self):
        """Is called after each pass over the data."""

    def __iter__(self):
        yield from (self[i] for i in range(len(self)))


def passes(sequence):
    """Yields the batches of a Sequence in order, one pass after the other without end.

    This is used without workers.  As in TensorFlow only an enqueuer shuffles and calls on_epoch_end.
    """
    while True:
        yield from (sequence[i] for i in range(len(sequence)))


class _End:
    """Marks the end of a generator in another process."""


def _item(asked):
    number, i = asked
    return _shared[number][i]


def _next(number):
    return next(_shared[number], _End())


class SequenceEnqueuer(metaclass=Named):
    """Fills a queue with batches from threads. Its methods are start(), get() and stop()."""

    def __init__(self, sequence, use_multiprocessing=False):
        self.sequence, self.use_multiprocessing = sequence, use_multiprocessing
        self.queue = self.run_thread = self._stop = None
        self.workers, self._number = 0, next(_numbers)

    def is_running(self):
        return self._stop is not None and not self._stop.is_set()

    def start(self, workers=1, max_queue_size=10):
        """Starts the thread that fills the queue; `workers` threads make batches."""
        self.workers, self.queue, self._stop = workers, queue.Queue(max_queue_size), threading.Event()
        _shared[self._number] = self.sequence
        self.run_thread = threading.Thread(target=self._guarded, daemon=True)
        self.run_thread.start()

    def _guarded(self):
        try:
            self._fill()
            self._put(StopIteration())
        except Exception as e:  # noqa: BLE001 - get() raises it
            self._put(e)

    def _pool(self):
        """Returns a pool of threads, or of processes that are forked with the source of the batches."""
        count = max(1, self.workers)
        return multiprocessing.get_context("fork").Pool(count) if self.use_multiprocessing else ThreadPool(count)

    def _put(self, item):
        while not self._stop.is_set():
            try:
                self.queue.put(item, timeout=0.1)
                return
            except queue.Full:
                continue

    def stop(self, timeout=None):
        self._stop.set()
        self.run_thread.join(timeout)
        _shared.pop(self._number, None)

    def get(self):
        """Yields the batches one after the other."""
        while self.is_running():
            item = self.queue.get()
            if isinstance(item, StopIteration):
                return
            if isinstance(item, Exception):
                self.stop()
                raise item
            yield item
            self.queue.task_done()  # The caller asks for the next batch.

    def _fill(self):
        raise NotImplementedError


class OrderedEnqueuer(SequenceEnqueuer):
    """Yields the batches of a Sequence in order, or in random order."""

    def __init__(self, sequence, use_multiprocessing=False, shuffle=False):
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _fill(self):
        order = list(range(len(self.sequence)))  # Each pass shuffles the order of the previous pass.
        while not self._stop.is_set():
            if self.shuffle:
                random.shuffle(order)
            with self._pool() as pool:  # Each pass uses new processes, which see the changes of on_epoch_end.
                for item in pool.imap(_item, [(self._number, i) for i in order]):
                    self._put(item)
                    if self._stop.is_set():
                        return
            if self._all_used():
                self.sequence.on_epoch_end()

    def _all_used(self):
        """Waits until the caller asks for a batch of the next pass; returns False if it stopped instead."""
        with self.queue.all_tasks_done:
            while self.queue.unfinished_tasks and not self._stop.is_set():
                self.queue.all_tasks_done.wait(0.1)
        return not self._stop.is_set()


class GeneratorEnqueuer(SequenceEnqueuer):
    """Yields the batches of a generator."""

    def __init__(self, generator, use_multiprocessing=False, random_seed=None):
        super().__init__(generator, use_multiprocessing)
        self.random_seed = random_seed

    def _fill(self):
        if self.use_multiprocessing:
            return self._fill_from_processes()
        for item in self.sequence:
            self._put(item)
            if self._stop.is_set():
                return None
        return None

    def _fill_from_processes(self):
        """Fills the queue from processes, each of which has a copy of the generator, as in TensorFlow."""
        with self._pool() as pool:
            waiting = [pool.apply_async(_next, (self._number,)) for _ in range(max(1, self.workers))]
            while not self._stop.is_set():
                item = waiting.pop(0).get()
                if isinstance(item, _End):
                    return
                self._put(item)
                waiting.append(pool.apply_async(_next, (self._number,)))
