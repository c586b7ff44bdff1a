"""Coordinator and queue runners: threads that stop together, including threads of the C library."""
import contextlib
import sys
import threading
import time
import weakref

from weft import _weft
from weft._core.framework import errors, protos
from weft._core.framework.absent import Named
from weft._core.framework.graph import GraphKeys, get_default_graph


def _code_of(ex):
    return ex.error_code if isinstance(ex, errors.OpError) else errors.UNKNOWN


class Coordinator(metaclass=Named):
    def __init__(self, clean_stop_exception_types=None):
        self._clean = tuple(clean_stop_exception_types or (errors.OutOfRangeError,))
        codes = [code for code, kind in errors._CLASSES.items() if kind in self._clean]
        self._made = _weft.coordinator_create(codes)
        self._exc, self._lock, self._threads, self.joined = None, threading.Lock(), set(), False
        self._waiter = None  # the thread that joins the queue-runner threads for which the program gave no coordinator

    def request_stop(self, ex=None):
        if isinstance(ex, tuple):
            ex = ex[1]
        if self.joined and ex is not None:
            raise ex  # No join() will follow that could report the exception.
        with self._lock:
            first = not self.should_stop()
            if ex is not None and first and not isinstance(ex, self._clean):
                self._exc = ex
        clean = ex is None or isinstance(ex, self._clean)
        if ex is not None and first and not clean:
            from weft._core.platform import logging
            logging.info("Error reported to Coordinator: %s, %s", type(ex), ex)
        _weft.coordinator_request_stop(self._made, 0 if clean else _code_of(ex), "" if clean else str(ex))

    def should_stop(self):
        return _weft.coordinator_should_stop(self._made)

    def clear_stop(self):
        self._exc, self.joined = None, False
        _weft.coordinator_clear_stop(self._made)

    def wait_for_stop(self, timeout=None):
        return _weft.coordinator_wait(self._made, -1.0 if timeout is None else float(timeout))

    def register_thread(self, thread):
        with self._lock:
            self._threads.add(thread)

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except:  # noqa: E722 - any exception must stop the other threads
            self.request_stop(ex=sys.exc_info()[1])

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        mine = [t for t in set(threads or []) | self._threads if isinstance(t, threading.Thread)]
        while any(t.is_alive() for t in mine) and not self.wait_for_stop(0.05):
            pass
        end = time.time() + stop_grace_period_secs
        for t in mine:
            t.join(max(0.0, end - time.time()))
        alive = [t.name for t in mine if t.is_alive()]
        self.joined = True
        self._threads.clear()
        try:
            _weft.coordinator_join(self._made, max(0.001, end - time.time()), bool(ignore_live_threads))
        except errors.DeadlineExceededError as e:
            raise RuntimeError("Coordinator stopped with threads still running: %s" % e.message) from None
        except errors.OpError:
            if self._exc is None:
                raise
        if self._exc is not None:
            raise self._exc
        if alive and not ignore_live_threads:
            raise RuntimeError("Coordinator stopped with threads still running: %s" % " ".join(alive))

    def wait_for_threads(self, timeout, failed):
        """Waits at most timeout seconds (None: without limit) for the library's threads to end, and appends an error to
        `failed`.
        """
        def wait():
            try:
                _weft.coordinator_join(self._made, 120.0, True)
            except errors.OpError as e:
                failed.append(e)
            self.joined = True
        with self._lock:
            if self._waiter is None:
                self._waiter = threading.Thread(target=wait, daemon=True)
                self._waiter.start()
        self._waiter.join(timeout)

    def raise_requested_exception(self):
        if self._exc is not None:
            raise self._exc


class LooperThread(threading.Thread, metaclass=Named):
    """A thread that calls a function at regular intervals until the coordinator stops."""

    def __init__(self, coord, timer_interval_secs, target=None, args=None, kwargs=None):
        super().__init__(daemon=True)
        if not isinstance(coord, Coordinator):
            raise ValueError("'coord' argument must be a Coordinator: %s" % (coord,))
        self._coord, self._every, self._fn = coord, timer_interval_secs, target
        self._call_args, self._call_kwargs = args or (), kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(coord, timer_interval_secs, target, args=None, kwargs=None):
        made = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        made.start()
        return made

    def run(self):
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._every is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                at = time.time()
                while not self._coord.wait_for_stop(max(0.0, at - time.time())):
                    at += self._every
                    self.run_loop()
            self.stop_loop()

    def start_loop(self):
        pass

    def stop_loop(self):
        pass

    def run_loop(self):
        if self._fn is not None:
            self._fn(*self._call_args, **self._call_kwargs)


class LibraryThread:
    """A thread of the C library, as start_queue_runners lists it; the coordinator joins it."""

    def __init__(self, name, coord, begin=None, failed=None):
        """Args: begin starts all threads of a queue runner at once, or is None if they are running already.

        failed is the list for errors of threads without a coordinator from the program; join() then waits until all
        threads of the queue runner have ended.
        """
        self.name, self.daemon, self._coord, self._begin, self._failed = name, True, coord, begin, failed
        self._started = begin is None

    def start(self):
        if self._started:
            raise RuntimeError("threads can only be started once")
        self._started = True
        self._begin()

    def join(self, timeout=None):
        """Waits for the threads, unless a coordinator does so already."""
        if self._failed is not None and self._started:
            self._coord.wait_for_threads(timeout, self._failed)

    def is_alive(self):
        if self._failed is not None and self._started:
            self._coord.wait_for_threads(0.001, self._failed)
        return self._started and not self._coord.joined


def _checked_types(types):
    if not isinstance(types, tuple) or not types or not all(
            isinstance(t, type) and issubclass(t, errors.OpError) for t in types):
        raise TypeError("queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: %s" % (types,))
    return types


class QueueRunner(metaclass=Named):
    """The ops that fill a queue; each runs on a thread of its own."""

    def __init__(self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None, queue_closed_exception_types=None,
                 queue_runner_def=None, import_scope=None):
        graph = get_default_graph()
        if queue_runner_def is not None:
            d = queue_runner_def
            self._queue_name = d.queue_name
            self._enqueue_ops = [graph.as_graph_element(n) for n in d.enqueue_op_name]
            self._close_op = graph.as_graph_element(d.close_op_name) if d.close_op_name else None
            self._cancel_op = graph.as_graph_element(d.cancel_op_name) if d.cancel_op_name else None
            self._queue = None
        else:
            if queue is None or not enqueue_ops:
                raise ValueError("Must provide queue and enqueue_ops.")
            self._queue, self._enqueue_ops, self._queue_name = queue, list(enqueue_ops), queue.name
            self._close_op = queue.close() if close_op is None else close_op
            self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self.exceptions_raised, self._closed_types = [], (errors.OutOfRangeError,)
        if queue_runner_def is not None and queue_runner_def.queue_closed_exception_types:
            self._closed_types = tuple(errors.exception_type_from_error_code(c) for c in queue_runner_def.queue_closed_exception_types)
        if queue_closed_exception_types is not None:
            self._closed_types = _checked_types(queue_closed_exception_types)

    queue = property(lambda self: self._queue)
    enqueue_ops = property(lambda self: self._enqueue_ops)
    close_op = property(lambda self: self._close_op)
    cancel_op = property(lambda self: self._cancel_op)
    queue_closed_exception_types = property(lambda self: self._closed_types)

    @property
    def name(self):
        return self._queue_name

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        from weft._core.train.saver import _plain
        failed = None if coord else self.exceptions_raised
        coord = coord or _own_coordinator(sess)
        began = []

        def begin():
            if not began:
                made = self.to_proto()
                if failed is not None:
                    # Nothing stops these threads, so no thread is started to run cancel_op at a stop.
                    made.cancel_op_name = ""
                began.append(_weft.queue_runner_start(_plain(sess)._c, coord._made, made.SerializeToString()))
            return began[0]
        count = begin() if start else len(self._enqueue_ops)
        names = ["QueueRunnerThread-%s-%s" % (self.name, self._enqueue_ops[i % len(self._enqueue_ops)].name) for i in range(count)]
        return [LibraryThread(name, coord, None if start else begin, failed) for name in names]

    def to_proto(self, export_scope=None):
        return protos.QueueRunnerDef(
            queue_name=self._queue_name, enqueue_op_name=[getattr(o, "op", o).name for o in self._enqueue_ops],
            close_op_name=self._close_op.name if self._close_op is not None else "",
            cancel_op_name=self._cancel_op.name if self._cancel_op is not None else "",
            queue_closed_exception_types=[errors.error_code_from_exception_type(t) for t in self._closed_types])

    @staticmethod
    def from_proto(queue_runner_def, import_scope=None):
        return QueueRunner(queue_runner_def=queue_runner_def)


_own = weakref.WeakKeyDictionary()  # session -> coordinators of the queue runners for which the program gave none


def _own_coordinator(sess):
    """Returns a new coordinator for a queue runner that was started without one.

    Each gets its own, because a queue runner that fails must not stop the others.
    """
    made = Coordinator()
    _own.setdefault(sess, []).append(made)
    return made


def add_queue_runner(qr, collection=GraphKeys.QUEUE_RUNNERS):
    get_default_graph().add_to_collection(collection, qr)


def start_queue_runners(sess=None, coord=None, daemon=True, start=True, collection=GraphKeys.QUEUE_RUNNERS):
    from weft._core.session.client import get_default_session
    sess = sess or get_default_session()
    if sess is not None and not hasattr(sess, "graph"):
        raise TypeError("sess must be a `tf.Session` object. Given class: %s" % type(sess))
    if sess is None:
        raise ValueError("Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or "
                         "pass an explicit session to tf.start_queue_runners(sess=sess)")
    return [t for qr in sess.graph.get_collection(collection) for t in qr.create_threads(sess, coord, daemon, start)]
