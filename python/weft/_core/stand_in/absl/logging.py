"""absl.logging: tf.logging, under the name absl."""
from weft._core.platform.logging import *  # noqa: F403
from weft._core.platform.logging import DEBUG, INFO, _logger, get_verbosity


def exception(msg, *args):
    _logger.exception(msg, *args)


def level_debug():
    return get_verbosity() <= DEBUG


def level_info():
    return get_verbosity() <= INFO


def set_stderrthreshold(s):
    pass  # Everything goes to stderr anyway.


def use_absl_handler():
    pass  # The handler is always installed.


def get_absl_logger():
    return _logger
