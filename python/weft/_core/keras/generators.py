"""tf.keras.utils.Sequence and the enqueuers: batches that Python code makes, ahead of the loop that uses them."""
import queue
import random
import threading
from multiprocessing.pool import ThreadPool


class Sequence:
    """Batches by number; subclasses write __getitem__ and __len__."""

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def on_epoch_end(self):
        """Called after each pass over the data."""

    def __iter__(self):
        yield from (self[i] for i in range(len(self)))


def passes(sequence, shuffle):
    """The batches of a Sequence, pass after pass without an end."""
    while True:
        order = list(range(len(sequence)))
        if shuffle:
            random.shuffle(order)
        for i in order:
            yield sequence[i]
        sequence.on_epoch_end()


class SequenceEnqueuer:
    """Fills a queue with batches from threads; start(), get() and stop()."""

    def __init__(self, sequence, use_multiprocessing=False):
        self.sequence, self.use_multiprocessing = sequence, use_multiprocessing
        self.queue = self.run_thread = self._stop = None
        self.workers = 0

    def is_running(self):
        return self._stop is not None and not self._stop.is_set()

    def start(self, workers=1, max_queue_size=10):
        """Starts the thread that fills the queue; workers threads make batches."""
        self.workers, self.queue, self._stop = workers, queue.Queue(max_queue_size), threading.Event()
        self.run_thread = threading.Thread(target=self._guarded, daemon=True)
        self.run_thread.start()

    def _guarded(self):
        try:
            self._fill()
            self._put(StopIteration())
        except Exception as e:  # noqa: BLE001 - raised where the batch is asked for
            self._put(e)

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

    def get(self):
        """The batches, one after the other."""
        while self.is_running():
            item = self.queue.get()
            if isinstance(item, StopIteration):
                return
            if isinstance(item, Exception):
                self.stop()
                raise item
            yield item

    def _fill(self):
        raise NotImplementedError


class OrderedEnqueuer(SequenceEnqueuer):
    """The batches of a Sequence in their order, or in a random one."""

    def __init__(self, sequence, use_multiprocessing=False, shuffle=False):
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _fill(self):
        with ThreadPool(max(1, self.workers)) as pool:
            while not self._stop.is_set():
                order = list(range(len(self.sequence)))
                if self.shuffle:
                    random.shuffle(order)
                for item in pool.imap(self.sequence.__getitem__, order):
                    self._put(item)
                    if self._stop.is_set():
                        return
                self.sequence.on_epoch_end()


class GeneratorEnqueuer(SequenceEnqueuer):
    """The batches of a generator."""

    def __init__(self, generator, use_multiprocessing=False, random_seed=None):
        super().__init__(generator, use_multiprocessing)
        self.random_seed = random_seed

    def _fill(self):
        for item in self.sequence:
            self._put(item)
            if self._stop.is_set():
                return
