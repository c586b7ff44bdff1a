"""tf.errors: an exception class for each code."""
import enum

from weft._core.framework.absent import Named

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED = range(8)
RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE = range(8, 15)
DATA_LOSS, UNAUTHENTICATED = 15, 16


class Fact(enum.IntFlag):
    """What the library knows of an error beside its code (weft_error_fact in weft/core.h)."""

    JOB_OVER = 1 << 3
    NO_CHECKPOINT = 1 << 5
    NO_SAVED_MODEL = 1 << 6
    NO_SUCH_TAGS = 1 << 7
    MODEL_NOT_READY = 1 << 8
    NO_GRADIENT = 1 << 9
    LOOP_GRADIENT = 1 << 10
    TYPE_NOT_ALLOWED = 1 << 11


class OpError(Exception, metaclass=Named):
    """A failure of the runtime: its code, the op that failed and the message."""

    error_code_default = UNKNOWN
    _facts = 0  # bits of Fact

    def __init__(self, node_def, op, message, error_code=None):
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = self.error_code_default if error_code is None else error_code

    @property
    def message(self):
        return self._message

    @property
    def op(self):
        return self._op

    @property
    def node_def(self):
        return self._node_def if self._node_def is not None or self._op is None else self._op.node_def

    @property
    def experimental_payloads(self):
        """Additional data of the error as {text: text}, which is always empty."""
        return {}

    @property
    def error_code(self):
        return self._error_code

    def __str__(self):
        text, op, how = self._message, self._op, "\n\nCaused by op '%s', defined at:\n%s"
        while op is not None:
            where = getattr(op, "_made_at", None)
            if where:
                text += how % (op.name, where)
                how = "\n\n...which was originally created as op '%s', defined at:\n%s"
            op = getattr(op, "_original_op", None)
        return text

    def __reduce__(self):
        return type(self), (None, None, self._message)


class OperatorNotAllowedInGraphError(TypeError):
    """A Python operator was used on a tensor whose value is known only when the graph runs."""


class UnknownError(OpError):
    def __init__(self, node_def, op, message, error_code=UNKNOWN):
        super().__init__(node_def, op, message, error_code)


_CLASSES = {UNKNOWN: UnknownError}


def _define(name, code):
    made = type(name, (OpError,), {"error_code_default": code, "__module__": __name__,
                                   "__doc__": "The runtime answered %s." % name[:-5]})
    _CLASSES[code] = made
    return made


CancelledError = _define("CancelledError", CANCELLED)
InvalidArgumentError = _define("InvalidArgumentError", INVALID_ARGUMENT)
DeadlineExceededError = _define("DeadlineExceededError", DEADLINE_EXCEEDED)
NotFoundError = _define("NotFoundError", NOT_FOUND)
AlreadyExistsError = _define("AlreadyExistsError", ALREADY_EXISTS)
PermissionDeniedError = _define("PermissionDeniedError", PERMISSION_DENIED)
ResourceExhaustedError = _define("ResourceExhaustedError", RESOURCE_EXHAUSTED)
FailedPreconditionError = _define("FailedPreconditionError", FAILED_PRECONDITION)
AbortedError = _define("AbortedError", ABORTED)
OutOfRangeError = _define("OutOfRangeError", OUT_OF_RANGE)
UnimplementedError = _define("UnimplementedError", UNIMPLEMENTED)
InternalError = _define("InternalError", INTERNAL)
UnavailableError = _define("UnavailableError", UNAVAILABLE)
DataLossError = _define("DataLossError", DATA_LOSS)
UnauthenticatedError = _define("UnauthenticatedError", UNAUTHENTICATED)


class JobOverError(OutOfRangeError, SystemExit):
    """Ends a worker that is not the chief when the chief has finished and left.

    Code that catches the end of the input catches it too. A program that does not catch it exits with code 0.
    """

    code = 0


def make(code, message, facts):
    """Returns the exception for an error code of the library; the caller adds the op that the message names."""
    if code == OUT_OF_RANGE and facts & Fact.JOB_OVER:
        return JobOverError(None, None, message)
    if facts & Fact.NO_GRADIENT:
        return LookupError(message)
    made = _CLASSES.get(code, UnknownError)(None, None, message)
    made._facts = facts
    return made


def exception_type_from_error_code(error_code):
    return _CLASSES[error_code]


def error_code_from_exception_type(cls):
    return next(code for code, c in _CLASSES.items() if c is cls)


class raise_exception_on_not_ok_status(metaclass=Named):
    """Does nothing. It exists for programs that import it; errors here are exceptions already."""

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        return False
