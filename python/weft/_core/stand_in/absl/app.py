"""absl.app: tf.app."""
from weft._core.platform.app import run  # noqa: F401


class UsageError(Exception):
    """The error for a wrong command line."""
