"""tensorflow.python.pywrap_tensorflow.EventsWriter: a file of events, whose name begins as the program says."""
import os
import socket
import time

from weft._core.files.python_io import TFRecordWriter
from weft._core.framework.protos import Event
from weft._core.platform.compat import as_str_any


class EventsWriter:
    """Writes events to FILE_PREFIX.out.tfevents.SECONDS.HOST; the file is made at the first event, flush or question for its name."""

    def __init__(self, file_prefix):
        self._prefix, self._suffix, self._path, self._file = as_str_any(file_prefix), "", None, None

    def Init(self):
        """Makes the file, if it is not there."""
        self._open()

    def InitWithSuffix(self, suffix):
        """Makes the file, whose name ends in suffix."""
        self._suffix = as_str_any(suffix)
        self._open()

    def _open(self):
        if self._file is None:
            now = time.time()
            self._path = "%s.out.tfevents.%010d.%s%s" % (self._prefix, now, socket.gethostname(), self._suffix)
            os.makedirs(os.path.dirname(self._path) or ".", exist_ok=True)
            self._file = TFRecordWriter(self._path)
            self._file.write(Event(wall_time=now, file_version="brain.Event:2").SerializeToString())
        return self._file

    def FileName(self):
        """Returns the path of the file."""
        self._open()
        return self._path

    def WriteEvent(self, event):
        """Adds an event."""
        self._open().write(event.SerializeToString())

    def Flush(self):
        """Writes all events to the file."""
        self._open().flush()

    def Close(self):
        """Flushes and closes the file. A later event starts another."""
        if self._file is not None:
            self._file.close()
            self._file = None


class EventFileWriter:
    """Writes events to a file in a folder; the file is made at the first event."""

    def __init__(self, logdir, max_queue=10, flush_secs=120, filename_suffix=None):
        self._logdir, self._flush_secs, self._max_queue = os.fspath(logdir), flush_secs, max_queue
        self._writer = EventsWriter(os.path.join(self._logdir, "events"))
        self._waiting, self._last, self._closed = 0, time.time(), False
        if filename_suffix:
            self._writer._suffix = as_str_any(filename_suffix)

    def get_logdir(self):
        """Returns the folder."""
        return self._logdir

    def reopen(self):
        """Lets a closed writer write again, to another file."""
        self._closed = False

    def add_event(self, event):
        """Adds an event, and flushes after max_queue of them or flush_secs; a closed writer drops it."""
        if self._closed:
            return
        self._writer.WriteEvent(event)
        self._waiting += 1
        if self._waiting >= self._max_queue or time.time() - self._last >= self._flush_secs:
            self.flush()

    def flush(self):
        """Writes all events to the file."""
        self._writer.Flush()
        self._waiting, self._last = 0, time.time()

    def close(self):
        """Flushes and closes the file."""
        self._writer.Close()
        self._closed = True
