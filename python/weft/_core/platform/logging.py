"""tf.logging: Python's logging under the name "tensorflow", in TensorFlow's form: INFO:tensorflow:message."""
import atexit as _atexit
import logging as _logging
import os as _os
import sys as _sys
import threading as _threading

from weft import _weft

DEBUG, INFO, WARN, ERROR, FATAL = _logging.DEBUG, _logging.INFO, _logging.WARN, _logging.ERROR, _logging.FATAL
WARNING = WARN

_logger = _logging.getLogger("tensorflow")
_handler = _pump = None
if not _logger.handlers and not _logging.getLogger().handlers:
    class _Stderr(_logging.StreamHandler):
        """Writes to the current sys.stderr, which a test may have replaced."""

        @property
        def stream(self):
            return _sys.stderr

        @stream.setter
        def stream(self, _):
            pass

    _handler = _Stderr()
    _handler.setFormatter(_logging.Formatter(_logging.BASIC_FORMAT))
    _logger.addHandler(_handler)
    _logger.propagate = False
    _logger.setLevel(WARN)


def get_verbosity():
    return _logger.getEffectiveLevel()


def set_verbosity(v):
    _logger.setLevel(v if not isinstance(v, str) else v.upper())
    _weft.log_verbosity(_logger.level)


# ---- the lines of the library's sessions and hooks ----

def _read_lines(fd):
    """Passes lines that the library writes to the logger, until the other end is closed."""
    rest = b""
    while True:
        data = _os.read(fd, 65536)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\0")
        for line in lines:
            level, _, message = line.decode(errors="replace").partition(" ")
            _logger.log(int(level), "%s", message)


def _start_pump():
    global _pump
    source, sink = _os.pipe()
    _os.set_blocking(sink, False)
    thread = _threading.Thread(target=_read_lines, args=(source,), daemon=True, name="weft-log")
    thread.start()
    _pump = thread, sink
    _weft.log_to_fd(sink)
    pid = _os.getpid()

    def finish():
        """Waits at exit until the last lines have reached the handlers."""
        if _os.getpid() == pid:
            _weft.log_to_fd(-1)
            _os.close(sink)
            thread.join(5)
    _atexit.register(finish)


def follow_handlers():
    """Makes the library's lines follow the logger's level, and passes them to the program's own handlers.

    They go through a pipe, because a thread of the library that holds a lock must not wait for Python.
    """
    _weft.log_verbosity(_logger.getEffectiveLevel())
    if _pump is None and (_logger.handlers != [_handler] or _logger.propagate or _logger.filters):
        _start_pump()


def log(level, msg, *args, **kwargs):
    _logger.log(level, msg, *args, **kwargs)


def debug(msg, *args, **kwargs):
    _logger.debug(msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    _logger.info(msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    _logger.warning(msg, *args, **kwargs)


warn = warning


def error(msg, *args, **kwargs):
    _logger.error(msg, *args, **kwargs)


def fatal(msg, *args, **kwargs):
    _logger.fatal(msg, *args, **kwargs)


def vlog(level, msg, *args, **kwargs):
    _logger.debug(msg, *args, **kwargs)


def flush():
    for handler in _logger.handlers:
        handler.flush()


_counts = {}


def log_every_n(level, msg, n, *args):
    count = _counts[msg] = _counts.get(msg, -1) + 1
    if count % n == 0:
        log(level, msg, *args)


def log_first_n(level, msg, n, *args):
    count = _counts[msg] = _counts.get(msg, -1) + 1
    if count < n:
        log(level, msg, *args)


def log_if(level, msg, condition, *args):
    if condition:
        log(level, msg, *args)


def get_logger():
    return _logger


def TaskLevelStatusMessage(msg):
    error(msg)
