"""google.protobuf.message: the class Message."""
from weft._core.framework.proto import Message  # noqa: F401


class Error(Exception):
    pass


class DecodeError(Error):
    pass


class EncodeError(Error):
    pass
