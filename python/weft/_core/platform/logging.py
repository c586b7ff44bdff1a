"""tf.logging: Python's logging under the name "tensorflow", in TensorFlow's form: INFO:tensorflow:message."""
import logging as _logging
import sys as _sys

from weft import _weft

DEBUG, INFO, WARN, ERROR, FATAL = _logging.DEBUG, _logging.INFO, _logging.WARN, _logging.ERROR, _logging.FATAL
WARNING = WARN

_logger = _logging.getLogger("tensorflow")
if not _logger.handlers and not _logging.getLogger().handlers:
    class _Stderr(_logging.StreamHandler):
        """stderr as it is now, also when a test has put something else there."""

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
